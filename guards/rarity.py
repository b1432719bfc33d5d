"""The rate of a thing that healthy streams hardly ever show: does it come by more often than at the stream's start?

A Bernoulli e-detector that knows how little forty outputs tell of something rare.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from guards.base import Json
from guards.memory import integer, nested, number
from guards.sequential import LIMIT, Climb, Margin

FIRST, LATER = 8, 300
"""Outputs before any test bets: they tell whether a class was there from the start. Outputs after which all of them
tell how rare it is: what comes by once in a hundred outputs may well be absent from the first forty."""
RECENT = 20
FORGIVEN = 1000
"""After so many outputs without a class, whatever its test had gathered is gone."""
RARE, RARE_LATER = 0.002, 0.004
"""How often a class may come by in a healthy stream that started without it: while 300 outputs run, and for years."""


@dataclass(frozen=True, slots=True)
class Custom:
    """How normal a class can be: at most `ceiling`, and `early` while the start is short.

    `part` of the warm-up is its start: the less a class belongs in any text, the less of one is needed.
    """

    ceiling: float
    early: float
    part: float = 1.0


class Rarity:
    """Whether the thing was there in the first outputs, how often lately, and the test of its rate.

    It says nothing for the first outputs; then it compares with the early rate until `warm_up` outputs have told what
    is normal.
    """

    def __init__(self, custom: Custom, warm_up: int, limit: float = LIMIT) -> None:
        self._custom, self._warm_up, self._limit = custom, max(FIRST, round(custom.part * warm_up)), limit
        self._n = self._hits = self._without = self._recent = 0
        self.at_start = False
        self._later: float | None = None
        self._test = self._fresh()

    def _fresh(self) -> Climb:
        ceiling, early = self._custom.ceiling, self._custom.early
        if self._later is not None:
            settled = Margin(floor=self._later, early=self._later, ceiling=self._later, first=1, slack=0.0)
            return Climb(settled, 1, self._limit)
        if self.at_start:  # what was there in the first outputs waits until the whole start has told how often it comes
            early = min(ceiling, 0.9)
        margin = Margin(floor=RARE, early=early, ceiling=ceiling, first=FIRST, slack=0.0)
        return Climb(margin, self._warm_up, self._limit)

    @property
    def starting(self) -> bool:
        """Whether the next output still tells if the thing was there from the start."""
        return self._n < FIRST

    @property
    def lately(self) -> int:
        """How many of the last 20 outputs had it."""
        return self._recent.bit_count()

    def update(self, here: bool) -> float:
        """Take whether the next output has it; return the statistic, 0 for an output that has not.

        The test hears of outputs without it when the next one with it comes: most classes never come.
        """
        self._recent = ((self._recent << 1) | here) % (1 << RECENT)
        if self._n < LATER:
            self._n, self._hits = self._n + 1, self._hits + here
            if here and self._n < FIRST and not self.at_start:
                self.at_start = True
                self._test = self._fresh()
        score = self._hear(here)
        if self._n == LATER and self._later is None and self._warm_up <= LATER:
            self._settle()
        return score

    def _hear(self, here: bool) -> float:
        if not here:
            self._without = min(self._without + 1, FORGIVEN)
            return 0.0
        self._catch_up()
        return self._test.update(1.0)

    def _catch_up(self) -> None:
        self._test.take_zeros(self._without)
        self._without = 0

    def _settle(self) -> None:
        """Set once and for all how often the class may come by, unless it is just under suspicion."""
        self._catch_up()
        if self._test.score > 0.5:
            return
        rate = self._hits / LATER
        rate += 4.0 * math.sqrt(rate * (1.0 - rate) / LATER)
        self._later = min(max(rate, self._test.normal, RARE_LATER), self._custom.ceiling)
        self._test = self._fresh()

    def state(self) -> dict[str, Json]:
        """Return the memory, at most 1 kB with a warm-up of 40."""
        return {
            "n": self._n,
            "hits": self._hits,
            "without": self._without,
            "recent": self._recent,
            "at_start": int(self.at_start),
            "later": self._later,
            "test": self._test.state(),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        self._n, self._hits = integer(state, "n", LATER), integer(state, "hits", LATER)
        self._without, self._recent = integer(state, "without", FORGIVEN), integer(state, "recent", (1 << RECENT) - 1)
        self.at_start = bool(integer(state, "at_start", 1))
        self._later = None if state.get("later") is None else min(max(number(state, "later"), RARE), 1.0)
        self._test = self._fresh()
        self._test.load(nested(state, "test"))
