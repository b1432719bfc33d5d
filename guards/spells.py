"""Spells of one kind of turn in a stream: how long they last here, and when one goes on for too long to be another.

A spell without memory outlasts t times the mean with a chance of e^-t (Feller 1968).  So the mean of the spells that
have ended, and how often they come, say which length comes by chance once in e^limit turns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from guards.base import Json
from guards.memory import integer, integers

WORTH = 3
"""Turns of a spell that one other turn takes back: a word now and then does not end it."""
ENDED = 8
"""Other turns in a row that prove that the spells before them have ended; the onset of a collapse stutters."""
GROSS = 16
"""Turns that a spell may last in any stream: what the rule comes to, where it lasts a turn or so."""
MOST = 2**40


class Spells:
    """The present spell, and what is known of those before it.

    >>> spells = Spells(limit=13.9)
    >>> for turn in [1, 0, 0, 0, 0, 0, 0, 0, 0, 0] * 4 + [1] * 16:
    ...     spells.update(bool(turn))
    >>> spells.length, spells.mean, spells.too_long
    (16, 1.0, 1.0)
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self.length = 0
        self._turns = self._others = self._peak = self._told = 0
        self._count = self._lasted = self._new_count = self._new_lasted = 0

    @property
    def mean(self) -> float:
        """The mean length of the spells that have ended, a standard error above what was seen; 1 of none."""
        if not self._count:
            return 1.0
        mean = self._lasted / self._count
        return mean + math.sqrt(mean * (mean - 1) / self._count)

    @property
    def share(self) -> float:
        """The share of the turns before the present spell that belonged to spells that have ended, 0 to 1."""
        return min(1.0, self._lasted / max(1, self._turns - self.length))

    @property
    def too_long(self) -> float:
        """The length of the present spell in units of what comes by chance once in e^limit turns, GROSS at least."""
        return self.beyond(GROSS)

    def beyond(self, least: int) -> float:
        """Return the same with another least length."""
        seldom = self._limit + math.log(max(1, self._count) / max(1, self._turns))
        return self.length / max(least, seldom * self.mean)

    def update(self, belongs: bool) -> None:
        """Take the next turn."""
        self._turns += 1
        self.length = self.length + 1 if belongs else max(0, self.length - WORTH)
        self._others = 0 if belongs else self._others + 1
        self._peak = max(self._peak, self.length)
        if not self.length:
            self._end()
        if self._others >= ENDED:
            self._count, self._lasted = self._count + self._new_count, self._lasted + self._new_lasted
            self._new_count = self._new_lasted = 0

    def _end(self) -> None:
        if self._peak and not self._told:
            self._new_count, self._new_lasted = self._new_count + 1, self._new_lasted + self._peak
        self._peak = self._told = 0

    def tell(self) -> None:
        """Say that the present spell is a collapse: it teaches nothing, nor do those just before it."""
        self._told, self._new_count, self._new_lasted = 1, 0, 0

    def state(self) -> dict[str, Json]:
        """Return the memory: a few numbers."""
        past = (self._count, self._lasted, self._new_count, self._new_lasted)
        here = (self._turns, self.length, self._others, self._peak)
        return {"told": self._told, "past": [min(n, MOST) for n in past], "here": [min(n, MOST) for n in here]}

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        self._told = integer(state, "told", 1)
        past, here = integers(state, "past", 4), integers(state, "here", 4)
        if len(past) != 4 or len(here) != 4 or past[1] < past[0] or past[3] < past[2]:
            raise ValueError("'past' and 'here' should hold four numbers each")
        self._count, self._lasted, self._new_count, self._new_lasted = past
        self._turns, self.length, self._others, self._peak = here
