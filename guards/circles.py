"""Circles in a sequence of tool calls: a call or a short cycle that comes back with the same result, and a long stretch
with little in it.  It knows fingerprints only, and no tool by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from guards.base import CallResult
from guards.calls import brings_nothing, changes_nothing, is_empty, result_key, shape_key

PENDING = 0
"""Stands for a result that is not known: it may be any."""
LONGEST = 5
PATIENCE = (1.0, 1.5, 2.5)
"""How many times as many rounds a call has by its words, from `guards.calls.patience`."""
NOTICE = 0.8
"""A warning: one equal call before the limit, also where results are unknown."""
LONG_ANSWER = 80
"""Characters of an answer that says more than "done"."""
STRETCHES = (24, 32, 48)
"""Calls of which three in four repeat another one with its result, in whatever order: the rate of a reported loop over
eight commands.  In nine healthy recorded runs of 24 calls and more, at most one in six did."""


class Seen(NamedTuple):
    """One call as it is remembered: fingerprints, and 0 or 1 (patient: up to 2) for what matters about it."""

    call: int
    result: int
    name: int
    shape: int = 0
    failed: int = 0
    nothing: int = 0
    long: int = 0
    unchanged: int = 0
    patient: int = 0
    command: int = 0
    acts: int = 0
    spoken: int = 0
    """1: it came with words; 2: with words that were not those of the output before."""
    usual: int = 0
    """The stream made this call in its first turns."""

    def answered(self, result: CallResult) -> Seen:
        """Return it with what came back."""
        asks = not (self.acts or self.command)
        nothing = brings_nothing(result) or (asks and is_empty(result))
        return self._replace(
            result=result_key(result) + 1,
            shape=shape_key(result) if nothing else 0,
            failed=int(not result.ok),
            nothing=int(nothing),
            long=int(len(result.text) >= LONG_ANSWER),
            unchanged=int(bool(self.acts) and changes_nothing(result)),
        )

    def same(self, other: Seen) -> bool:
        """Whether both are the same call with, as far as is known, the same result."""
        return self.call == other.call and (self.result == other.result or PENDING in (self.result, other.result))

    @property
    def vouched(self) -> bool:
        """Whether only its words are known, and they were new: what it brought may have been new too."""
        return self.result == PENDING and self.spoken > 1


@dataclass(frozen=True, slots=True)
class Circle:
    """What goes round, and how far beyond its limit."""

    score: float
    why: str


def cycle(seen: Sequence[Seen], same: int) -> Circle | None:
    """Return the shortest cycle in which the sequence ends, from two rounds on.

    One call has `same` rounds with the same result.  A longer cycle has one round less: three rounds of it are more
    calls that brought nothing new than four of one.  One more where results are unknown, which may differ, or where a
    call came with new words: who says what the next try is for may not be stuck yet (measured on recorded runs).
    """
    best: Circle | None = None
    for period in range(1, LONGEST + 1):
        length = period
        while length < len(seen) and seen[-1 - length].same(seen[-1 - length + period]):
            length += 1
        rounds = length / period
        if rounds < 2:
            continue
        limit = _rounds(seen[-length:], period, same)
        what = "the same call" if period == 1 else f"a cycle of {period} calls"
        score = rounds / limit
        if period == 1 and rounds >= same - 1 and limit <= same + 1:
            score = max(score, NOTICE)
        found = Circle(score, f"{what} with the same result {rounds:.0f} times in a row")
        best = found if best is None or found.score > best.score else best
    return best


def _rounds(run: Sequence[Seen], period: int, same: int) -> float:
    """Return how many rounds this run of a cycle may have."""
    part = run[-period:]
    if all(one.vouched and one.usual for one in run):
        return float("inf")  # such was the stream from its start, and each time it had something new to say
    retried = len({one.failed for one in run if one.result != PENDING}) > 1  # an action between two tries may help
    slow = 2 if retried or all(one.vouched for one in part) else max(one.patient for one in part)
    unsure = any(one.result == PENDING for one in run)
    worded = any(one.spoken > 1 for one in run[period:])
    return (max(2, same - (period > 1 and not slow)) + max(unsure, worded)) * PATIENCE[slow]


def stubborn(seen: Sequence[Seen], same: int) -> Circle | None:
    """Return the run of one call that fails each time, whatever the error, with nothing else tried in between."""
    last = seen[-1]
    if not last.failed:
        return None
    times, worded, new = 0, False, False
    for one in reversed(seen):
        if one.call != last.call or not one.failed:
            break
        times, worded, new = times + 1, worded or new, one.spoken > 1
    if times < 2:
        return None
    return Circle(times / ((same + worded) * PATIENCE[last.patient]), f"the same call failed {times} times in a row")


def little(seen: Sequence[Seen]) -> Circle | None:
    """Return a long stretch that holds few different calls and results."""
    pair = (seen[-1].call, seen[-1].result)
    for window in STRETCHES:
        recent = seen[-window:]
        if len(recent) < window or all(one.patient or (one.vouched and one.usual) for one in recent):
            continue
        pairs = [(one.call, one.result) for one in recent]
        distinct = len(set(pairs))
        if 4 * distinct <= window and pair in pairs[:-1]:
            return Circle(window / (4 * distinct), f"only {distinct} different calls and results in the last {window}")
    return None
