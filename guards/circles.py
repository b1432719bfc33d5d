"""Circles in a sequence of tool calls: a call or a short cycle that comes back with the same result, arguments that
make no difference, and a long stretch with little in it.  It knows fingerprints only, and no tool by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from guards.base import CallResult
from guards.calls import brings_nothing, result_key

PENDING = 0
"""Stands for a result that is not known: it may be any."""
LONGEST = 5


class Seen(NamedTuple):
    """One call as it is remembered: fingerprints, and 0 or 1 for what matters about it."""

    call: int
    result: int
    name: int
    failed: int = 0
    nothing: int = 0
    bulky: int = 0
    patient: int = 0
    command: int = 0

    def answered(self, result: CallResult) -> Seen:
        """Return it with what came back."""
        return self._replace(
            result=result_key(result) + 1,
            failed=int(not result.ok),
            nothing=int(brings_nothing(result)),
            bulky=int(len(result.text) >= 40),
        )

    def same(self, other: Seen) -> bool:
        """Whether both are the same call with, as far as is known, the same result."""
        return self.call == other.call and (self.result == other.result or PENDING in (self.result, other.result))


@dataclass(frozen=True, slots=True)
class Circle:
    """What goes round, and how far beyond its limit."""

    score: float
    why: str


def cycle(seen: Sequence[Seen], same: int) -> Circle | None:
    """Return the shortest cycle in which the sequence ends, from two rounds on."""
    best: Circle | None = None
    for period in range(1, LONGEST + 1):
        length = period
        while length < len(seen) and seen[-1 - length].same(seen[-1 - length + period]):
            length += 1
        rounds = length / period
        if rounds < 2:
            continue
        part = seen[-period:]
        unsure = any(one.result == PENDING for one in seen[-length:])
        limit = (same + unsure) * (2.5 if all(one.patient for one in part) else 1)
        what = "the same call" if period == 1 else f"a cycle of {period} calls"
        best = _worse(best, Circle(rounds / limit, f"{what} with the same result {rounds:.0f} times in a row"))
    return best


def churn(seen: Sequence[Seen]) -> Circle | None:
    """Return the run of one tool's calls whose arguments change and whose result does not."""
    last = seen[-1]
    if last.result == PENDING or last.patient or not (last.nothing or last.bulky):
        return None
    tried: list[int] = []
    for one in reversed(seen):
        if one.name != last.name:
            continue
        if one.result != last.result:
            break
        tried.append(one.call)
    if len(set(tried)) < 3:
        return None
    limit = 16 if last.command else 5 if last.nothing else 12
    return Circle(len(tried) / limit, f"{len(set(tried))} different calls of one tool, always the same result")


def little(seen: Sequence[Seen], window: int) -> Circle | None:
    """Return a long stretch that holds few different calls and results."""
    if len(seen) < window:
        return None
    recent = seen[-window:]
    distinct = len({(one.call, one.result) for one in recent})
    if distinct > window // 4 or all(one.patient for one in recent):
        return None
    return Circle(window / 4 / distinct, f"only {distinct} different calls and results in the last {window}")


def _worse(a: Circle | None, b: Circle) -> Circle:
    return b if a is None or b.score > a.score else a
