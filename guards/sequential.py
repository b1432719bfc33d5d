"""The shared sequential test: has the mean of a score climbed above the stream's own start?

An e-detector of Shiryaev-Roberts type (Shin, Ramdas and Rinaldo 2022) over a grid of bets: the statistic is a sum of
products of 1 + f (x / m0 - 1), and crosses e^limit on average no earlier than after e^limit outputs, as long as the
score's mean, given the past, stays at most m0.  That is its promise and its limit: m0 comes from the start, so a
healthy stream that truly changes by more than the margin below is outside the promise.  Textbook bets on single
autocorrelated scores break it, so a start that is autocorrelated is bet on by means of blocks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from guards.base import Json
from guards.memory import integer, nested, number, numbers, shares
from guards.promise import limit

LIMIT = limit()
BETS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95)
BATCH = 4
LONGEST_START = 10_000
LEAST_NORMAL = 1e-6
LOWEST = -30.0
"""No logarithm of a bet falls lower."""


@dataclass(frozen=True, slots=True)
class Margin:
    """How far up a score may lie: at least `floor`, at most `ceiling`; `early` before the start is known.

    `slack` is added to what the start says; for the rate of something rare, 0.
    """

    floor: float
    early: float
    ceiling: float = 0.9
    first: int = 16
    slack: float = 0.05


class Climb:
    """Bets that scores in [0, 1] climb above where the stream started.

    Silent for the first `margin.first` scores; then it compares with `margin.early` until `warm_up` scores have told
    what is normal here: their mean, three standard errors of it (from means of four, which correlation between
    neighbours widens) and the slack.  The start never follows the stream.  `limit` is the logarithm at which it trips.
    """

    def __init__(self, margin: Margin, warm_up: int, limit: float = LIMIT) -> None:
        self._margin, self._limit = margin, limit
        self._warm_up = max(warm_up, margin.first)
        self._n = 0
        self._start: list[float] = []
        self._normal: float | None = None
        self._block = 1
        self._part: list[float] = []
        self._logs = [0.0] * len(BETS)
        self._score: float | None = None  # of these logs, once it was asked for

    @property
    def normal(self) -> float:
        """The mean that a healthy stream stays under."""
        return self._margin.early if self._normal is None else self._normal

    @property
    def score(self) -> float:
        """The statistic in units of its limit: 1.0 is a trip."""
        if self._score is None:
            top = max(self._logs)
            mean = top + math.log(math.fsum([math.exp(value - top) for value in self._logs]) / len(BETS))
            self._score = max(0.0, mean / self._limit)
        return self._score

    def update(self, x: float) -> float:
        """Take the next score and return the statistic in units of its limit."""
        self.take(x)
        return 0.0 if self._n <= self._margin.first else self.score

    def take(self, x: float) -> None:
        """Take the next score; what it comes to is only worked out when it is asked for."""
        self._n += 1
        if self._normal is None:
            self._start.append(round(x, 4))
            if len(self._start) >= self._warm_up:
                self._settle()
        if self._n <= self._margin.first:
            return
        if self._block == 1 and not self._part:
            self._bet(x)
            return
        self._part.append(x)
        if len(self._part) >= self._block:
            self._bet(math.fsum(self._part) / len(self._part))
            self._part.clear()

    def take_zeros(self, n: int) -> None:
        """Take n scores of 0, at once where they only lose: log((R + 1) * e) n times over is a geometric sum."""
        while n and (self._normal is None or self._n < self._margin.first or self._part):
            self.take(0.0)
            n -= 1
        bets, left = divmod(n, self._block)
        if bets:
            self._n += bets * self._block
            lost = [_lost(log, gain, bets) for log, gain in zip(self._logs, _gains(-1.0), strict=True)]
            self._logs, self._score = [max(log, LOWEST) for log in lost], None
        for _ in range(left):
            self.take(0.0)

    def _bet(self, x: float) -> None:
        most, gains = 1.5 * self._limit, _gains(x / self.normal - 1.0)
        # log((R + 1) * e), R kept as its logarithm; capped, so that a stream which recovers is soon forgiven
        grown = [log + math.log1p(math.exp(-log)) + gain for log, gain in zip(self._logs, gains, strict=True)]
        if min(grown) < LOWEST or max(grown) > most:
            grown = [min(max(log, LOWEST), most) for log in grown]
        self._logs, self._score = grown, None

    def _settle(self) -> None:
        n = len(self._start)
        mean = math.fsum(self._start) / n
        batches = [math.fsum(self._start[i : i + BATCH]) / BATCH for i in range(0, n - BATCH + 1, BATCH)]
        spread = math.fsum((b - mean) ** 2 for b in batches) / max(1, len(batches) - 1)
        normal = mean + 3.0 * math.sqrt(spread / max(1, len(batches))) + self._margin.slack
        self._normal = min(max(normal, self._margin.floor), self._margin.ceiling)
        if self._normal > self._margin.early:
            self._logs, self._score = [0.0] * len(BETS), None  # what was found against too low a normal is no evidence
        self._block = _block(self._start, mean)
        self._start = []

    def state(self) -> dict[str, Json]:
        """Return the memory; its size has a bound that the warm-up sets."""
        return {
            "n": min(self._n, 2**40),
            "start": list(self._start),
            "normal": self._normal,
            "block": self._block,
            "part": list(self._part),
            "logs": list(self._logs),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        self._n = integer(state, "n")
        self._start = shares(state, "start", LONGEST_START)
        self._normal = None if state.get("normal") is None else min(max(number(state, "normal"), LEAST_NORMAL), 1.0)
        self._block = max(1, integer(state, "block", 32))
        self._part = shares(state, "part", 32)
        logs = numbers(state, "logs", len(BETS))
        if len(logs) != len(BETS):
            raise ValueError(f"'logs' should hold {len(BETS)} numbers")
        self._logs, self._score = [min(max(value, LOWEST), 1.5 * self._limit) for value in logs], None


@lru_cache(maxsize=256)
def _gains(odds: float) -> tuple[float, ...]:
    """Return what each bet wins at these odds, as a logarithm; few scores are not 0 or 1."""
    return tuple(math.log1p(bet * odds) for bet in BETS)


def _lost(log: float, gain: float, bets: int) -> float:
    """Return log(e^n R + e (1 - e^n) / (1 - e)) for a loss of log(e) = `gain` in each of n bets."""
    kept, stakes = log + bets * gain, gain + math.log(math.expm1(bets * gain) / math.expm1(gain))
    return max(kept, stakes) + math.log1p(math.exp(-abs(kept - stakes)))


def load_climb(climb: Climb, state: Mapping[str, Json], key: str) -> None:
    """Load a test that a guard keeps under `key`."""
    climb.load(nested(state, key))


def _block(start: list[float], mean: float) -> int:
    """Return how many scores to bet on at once: more, the more a score tells of the next."""
    variance = math.fsum((x - mean) ** 2 for x in start)
    if variance <= 1e-9:
        return 1
    lag = math.fsum((a - mean) * (b - mean) for a, b in pairwise(start)) / variance
    return 1 if lag < 0.35 else 4 if lag < 0.6 else 16
