"""Periodic stretches of a sequence: where it says again, item by item, what it said one period before.

It finds repetition; whether that is a collapse or a table is for the guard to judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

GRAIN = 3
"""Items that must recur before a period is taken up."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Items `start` to `end` of a sequence repeat with a period; the first copy is part of the stretch."""

    start: int
    end: int
    period: int

    @property
    def length(self) -> int:
        return self.end - self.start

    @property
    def copies(self) -> float:
        return self.length / self.period


def stretches(items: Sequence[str]) -> list[Stretch]:
    """Return the stretches of at least one and a half copies, in one pass over the items.

    A period is taken from the last place where the same three items stood, and kept until it fails: that follows a long
    unit through the small repetitions inside it, as a period of its own parts does not survive its end.
    """
    last: dict[tuple[str, ...], int] = {}
    found: list[Stretch] = []
    period = begin = 0
    for i, gram in enumerate(zip(items, items[1:], items[2:], strict=False), GRAIN - 1):
        if period:
            if items[i] == items[i - period]:
                last[gram] = i
                continue
            _keep(found, begin, i, period)
        before = last.get(gram)
        last[gram] = i
        if before is None:
            period = 0
        else:
            period, begin = i - before, before - GRAIN + 1
    _keep(found, begin, len(items), period)
    return found


def _keep(found: list[Stretch], begin: int, end: int, period: int) -> None:
    if period and end - begin >= 1.5 * period and end - begin >= 2 * GRAIN:
        found.append(Stretch(max(0, begin), end, period))


def tail_period(text: str, probe: int = 24) -> tuple[int, int]:
    """Return (period, length) of the exact repetition in which a text ends, in characters; (0, 0) when there is none.

    Costs a few string comparisons: cheap enough to ask while the text is still being written.
    """
    if len(text) < 2 * probe:
        return 0, 0
    at = text.rfind(text[-probe:], 0, -1)
    if at < 0:
        return 0, 0
    period = len(text) - probe - at
    low, high = probe, len(text) - period
    while low < high:
        middle = (low + high + 1) // 2
        if text[-middle:] == text[-middle - period : -period]:
            low = middle
        else:
            high = middle - 1
    return period, low + period
