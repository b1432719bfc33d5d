"""Whole and broken numbers between two bounds, as alternatives of a llama.cpp grammar, which knows only characters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

_LARGEST = 10**15


def bounded(schema: Mapping[str, Any], *, fraction: bool = False) -> str | None:
    """The numbers between the schema's bounds, None when it has none that a number could keep."""
    low, high = _bound(schema, "inimum", math.ceil, 1), _bound(schema, "aximum", math.floor, -1)
    if low is None and high is None:
        return None
    low, high = -_LARGEST if low is None else low, _LARGEST if high is None else high
    if low > high:
        return None
    below = [f'"-" ({one})' for one in between(max(1, -high), -low)] if low < 0 else []
    above = between(max(0, low), high) if high >= 0 else []
    part = between(max(0, low), high - 1) if fraction and high > max(0, low) else []
    return " | ".join([*below, *above, *(f'({one}) "." [0-9]{{1,15}}' for one in part)])


def _bound(schema: Mapping[str, Any], key: str, to_int: Callable[[float], int], step: int) -> int | None:
    """The inclusive whole bound that `minimum`/`exclusiveMinimum` (or the maxima) come to."""
    found = []
    for name, exclusive in ((f"m{key}", False), (f"exclusiveM{key}", True)):
        value = schema.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf:
            value = max(-_LARGEST, min(_LARGEST, value))
            whole = to_int(value)
            found.append(whole + step if exclusive and whole == value else whole)
    if not found:
        return None
    return max(found) if step > 0 else min(found)


def between(low: int, high: int) -> list[str]:
    """Return alternatives that match exactly the decimal numbers from `low` to `high` (0 <= low <= high)."""
    if low > high:
        return []
    a, b = str(low), str(high)
    if len(a) < len(b):
        return _same_length(a, "9" * len(a)) + between(10 ** len(a), high)
    return _same_length(a, b)


def _same_length(a: str, b: str) -> list[str]:
    if not a:
        return [""]
    if a[0] == b[0]:
        return [f'"{a[0]}" {rest}' for rest in _same_length(a[1:], b[1:])]
    n, low, high = len(a) - 1, int(a[0]), int(b[0])
    out = []
    if a[1:] != "0" * n:
        out += [f'"{a[0]}" {rest}' for rest in _same_length(a[1:], "9" * n)]
        low += 1
    if b[1:] != "9" * n:
        out += [f'"{b[0]}" {rest}' for rest in _same_length("0" * n, b[1:])]
        high -= 1
    if low <= high:
        out.append(f"[{low}-{high}]" + (f" [0-9]{{{n}}}" if n else ""))
    return out
