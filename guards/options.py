"""Options of a guard: a frozen dataclass whose field types and bounds are checked once, with one clear sentence each.

It checks types and ranges only; whether two options make sense together is for the guard to say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, TypeVar

T = TypeVar("T")


def option(default: Any, low: float, high: float = math.inf) -> Any:
    """Return a dataclass field with a default and inclusive bounds."""
    return field(default=default, metadata={"low": low, "high": high})


@dataclass(frozen=True, slots=True)
class Sequential:
    """What every sequential guard knows: outputs of the start that are this stream's own; years for one false trip."""

    warm_up: int = option(40, 1, 10_000)
    caution: float = option(1.0, 0.01, 1e6)


def read(kind: type[T], guard: str, given: Mapping[str, object]) -> T:
    """Return `kind` made from `given`.

    Raises ValueError with one sentence that names the guard, the option and what was expected.
    """
    known: dict[str, Field[Any]] = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    for name in given:
        if name not in known:
            choices = ", ".join(known) or "none at all"
            raise ValueError(f"guard {guard!r} has no option {str(name)[:40]!r}; it knows {choices}")
    return kind(**{name: _checked(guard, known[name], value) for name, value in given.items()})


def _checked(guard: str, spec: Field[Any], value: object) -> object:
    if value is None and "None" in str(spec.type):
        return None
    low, high = spec.metadata["low"], spec.metadata["high"]
    whole = str(spec.type).startswith("int")
    expected = f"a {'whole ' if whole else ''}number of at least {low:g}" + (
        f" and at most {high:g}" if high < math.inf else ""
    )
    number = value if isinstance(value, int if whole else (int, float)) and not isinstance(value, bool) else math.nan
    if not (low <= number <= high) or math.isinf(number):
        raise ValueError(f"guard {guard!r}: option {spec.name!r} should be {expected}, not {str(value)[:40]!r}")
    return value
