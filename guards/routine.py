"""What a stream's calls were at its start, and named turns that hold nothing but what earlier turns did already.

A heartbeat that asks the same each time is a routine, not a loop, so only calls count that the start did not make.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from guards.base import Json
from guards.circles import Circle, Seen
from guards.memory import integer, integers
from guards.sequential import LIMIT, Climb, Margin, load_climb
from guards.text import fingerprint

KEPT = 64
"""Usual calls, turns, and calls of the present turn that are remembered."""
START = 16
"""Turns that say what is usual."""
MARGIN = Margin(floor=0.6, early=1.0, ceiling=1.0)
"""The start may be all routine, and stay so for ever: there is no envelope here."""


class Routine:
    """The usual calls, and the share of turns that repeat earlier ones with unusual calls."""

    def __init__(self, warm_up: int, limit: float = LIMIT) -> None:
        self._warm_up, self._limit = warm_up, limit
        self._whose = 0
        self._clear()

    def _clear(self) -> None:
        self._turns = 0
        self._usual: dict[int, None] = {}
        self._before: deque[int] = deque(maxlen=KEPT)
        self._now: list[int] = []
        self._fresh = self._repeats = 0
        self._share = Climb(MARGIN, self._warm_up, self._limit)

    def turn(self, model: str, prompt: str, named: bool) -> None:
        """Close a turn and begin another; another model or prompt is another start."""
        whose = fingerprint(f"{model}\n{prompt}") + 1
        if whose != self._whose:
            self._clear()
            self._whose = whose
        if self._fresh + self._repeats and named:
            self._share.update(float(self._fresh == 0))
        self._before.extend(self._now)
        self._now = []
        self._fresh = self._repeats = 0
        self._turns = min(self._turns + 1, 2**40)

    def usual(self, call: int) -> bool:
        """Return whether the start made this call; in the start itself, every call is usual."""
        if self._turns <= START and len(self._usual) < KEPT:
            self._usual[call] = None
        return call in self._usual

    def heard(self, seen: Seen) -> Circle | None:
        """Take the next answer; what is wrong, if this turn did nothing so far that earlier ones had not done."""
        pair = (31 * seen.call + seen.result) % 2**32
        self._now = [*self._now[-KEPT:], pair]
        if seen.patient:
            return None
        if seen.usual or pair not in self._before:
            self._fresh += 1
            return None
        self._repeats += 1
        if self._fresh:
            return None
        return Circle(self._share.score, "for many turns now, all calls and results have been those of earlier turns")

    def state(self) -> dict[str, Json]:
        """Return the memory, about 3 kB."""
        return {
            "whose": self._whose,
            "turns": self._turns,
            "usual": list(self._usual),
            "before": list(self._before),
            "now": list(self._now[-KEPT:]),
            "fresh": min(self._fresh, 2**40),
            "repeats": min(self._repeats, 2**40),
            "share": self._share.state(),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        self._whose, self._turns = integer(state, "whose"), integer(state, "turns")
        self._usual = dict.fromkeys(integers(state, "usual", KEPT))
        self._before = deque(integers(state, "before", KEPT), maxlen=KEPT)
        self._now = integers(state, "now", KEPT)
        self._fresh, self._repeats = integer(state, "fresh"), integer(state, "repeats")
        load_climb(self._share, state, "share")
