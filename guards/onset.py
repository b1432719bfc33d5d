"""Whether something that was rare in a stream has become common: a test against what lies before each possible onset.

An e-detector of Shiryaev-Roberts type (Shin, Ramdas and Rinaldo 2022): a sum, over the outputs at which a habit may
have begun, of the likelihood ratio of what came since then.  It needs no fixed warm-up, because the share before an
onset is known at that onset, so that it works on the sixth output as on the six thousandth.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence

from guards.base import Json
from guards.memory import integer, integers

RECENT = 96
"""Outputs over which the test looks back."""
MOST_START = 200
"""Outputs of the start that are kept at most."""
BEFORE = 5
"""Outputs that must come before an onset: what was there from the start is this stream's own way."""
COMMON = 0.2
"""What stood in more of the outputs than this before is nothing new."""
BETS = (0.5, 0.95)
"""Shares that the test bets on: in every second output, and in nearly all."""


def evidence(hits: Sequence[bool], start: Sequence[bool], outputs: int, rare: float) -> float:
    """Return the logarithm of the e-detector.

    `hits` are the last outputs, `start` the first ones, `outputs` counts all; `rare` is the share that a healthy
    stream may have in any case.

    >>> free = [False] * 20
    >>> round(evidence([*free, *[True] * 8], free, 28, 0.1), 1)
    17.4
    """
    before = [0]
    for hit in start:
        before.append(before[-1] + hit)
    oldest = outputs - len(hits)
    total, mine, others = 0.0, 0, 0
    for at in range(len(hits) - 1, -1, -1):
        mine, others = mine + hits[at], others + (not hits[at])
        n = min(oldest + at, len(start))
        if n < BEFORE:
            break
        usual = max(rare, (before[n] + math.sqrt(before[n]) + 1) / (n + 2))  # a standard error above what was seen
        if hits[at] and usual <= max(COMMON, rare):
            total += math.fsum(_ratio(mine, others, bet, usual) for bet in BETS) / len(BETS)
    return math.log(max(1.0, total))


def _ratio(hits: int, others: int, bet: float, usual: float) -> float:
    gain = hits * math.log(bet / usual) + others * math.log((1 - bet) / (1 - usual))
    return math.exp(min(gain, 100.0))


class Onset:
    """The test on one property of outputs."""

    def __init__(self, rare: float, warm_up: int, limit: float) -> None:
        self._rare, self._limit = rare, limit
        self._warm_up = min(max(warm_up, BEFORE), MOST_START)
        self._outputs = 0
        self._start: list[bool] = []
        self._recent: deque[bool] = deque(maxlen=RECENT)

    def update(self, hit: bool, nearly: bool = False) -> float:
        """Take the next output; return the score in units of the limit, 0 where it has not got the property.

        One that has it `nearly` is no hit, and in the start it says that hits are normal here.
        """
        self._recent.append(hit)
        self._outputs += 1
        score = evidence(self._recent, self._start, self._outputs, self._rare) / self._limit if hit else 0.0
        if score < 1.0 and len(self._start) < self._warm_up:
            self._start.append(hit or nearly)  # what tripped is no start
        return score

    def state(self) -> dict[str, Json]:
        """Return the memory, under 1 kB."""
        return {
            "outputs": min(self._outputs, 2**40),
            "start": [int(hit) for hit in self._start],
            "recent": [int(hit) for hit in self._recent],
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        self._outputs = integer(state, "outputs")
        self._start = [bool(hit) for hit in integers(state, "start", MOST_START, 1)]
        self._recent = deque(map(bool, integers(state, "recent", RECENT, 1)), maxlen=RECENT)
        if self._outputs < max(len(self._start), len(self._recent)):
            raise ValueError("'outputs' should not be less than the outputs that are kept")
