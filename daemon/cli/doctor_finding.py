"""What a check of `trimtab doctor` found: one line, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor; `fix` says what to do where something is not as it should be."""

    name: str
    level: Literal["ok", "warn", "fail"]
    text: str
    fix: str = ""


Check: TypeAlias = Callable[[], Finding]
