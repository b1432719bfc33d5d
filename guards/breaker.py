"""The breaker of one (thread, guard): closed, open after a trip, half-open for a probe when it has rested.

It knows no clock: every call brings the time in seconds since the epoch.  A clock that jumps back can cost one more
whole rest and never more than that; one that jumps ahead ends the rest.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping

from guards.base import Json
from guards.memory import check_version, integer, number

DAY = 86_400.0


class Position(enum.IntEnum):
    """Where a breaker stands; the number is what the metric shows."""

    CLOSED = 0
    HALF_OPEN = 1
    OPEN = 2


class Breaker:
    """Keeps a thread resting after a trip, longer after each probe that failed.

    >>> breaker = Breaker(cool_down=1800)
    >>> breaker.trip(1000.0)
    >>> breaker.allows(1001.0), breaker.allows(2800.0), breaker.code
    (False, True, 1)
    >>> breaker.trip(2801.0)                   # the probe failed: twice as long
    >>> breaker.wait(2801.0)
    3600.0
    >>> breaker.allows(6401.0), breaker.passed(6402.0), breaker.code
    (True, None, 0)
    """

    VERSION = 1

    def __init__(self, cool_down: float = 1800.0, longest: float = DAY) -> None:
        if not (0 < cool_down <= longest and math.isfinite(longest)):
            raise ValueError("a breaker's cool-down should be more than 0 seconds and at most its longest rest")
        self._cool_down = float(cool_down)
        self._longest = float(longest)
        self.reset()

    def reset(self) -> None:
        """Close it, as new."""
        self._position = Position.CLOSED
        self._since = 0.0
        self._failed = 0

    @property
    def position(self) -> Position:
        """Closed, half-open or open."""
        return self._position

    @property
    def code(self) -> int:
        """0 closed, 1 half-open, 2 open."""
        return int(self._position)

    @property
    def rest(self) -> float:
        """How many seconds the present opening lasts: the cool-down, doubled for each failed probe, a day at most."""
        return min(self._cool_down * 2.0 ** min(self._failed, 60), self._longest)

    def trip(self, at: float) -> None:
        """A guard tripped and nothing helped: open.  A trip of the probe makes the next rest twice as long."""
        if self._position is Position.HALF_OPEN:
            self._failed += 1
        self._position = Position.OPEN
        self._since = at

    def passed(self, at: float) -> None:
        """An output passed.  That closes a half-open breaker; an open one stays open, as nothing was to run."""
        self._settle(at)
        if self._position is Position.HALF_OPEN:
            self.reset()

    def allows(self, at: float) -> bool:
        """Return whether a run may start now; after the rest the breaker is half-open, and the run its probe."""
        self._settle(at)
        return self._position is not Position.OPEN

    def wait(self, at: float) -> float:
        """Return the seconds until `allows` says yes, 0.0 when it does."""
        if self._position is not Position.OPEN:
            return 0.0
        self._since = min(self._since, at)
        return max(0.0, self._since + self.rest - at)

    def state(self) -> dict[str, Json]:
        """Return what to keep between runs."""
        return {"version": self.VERSION, "position": self.code, "since": self._since, "failed": self._failed}

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError, and stays as it was, on anything else."""
        check_version(state, self.VERSION)
        position, since = Position(integer(state, "position", 2)), number(state, "since")
        failed = integer(state, "failed")
        self._position, self._since, self._failed = position, since, min(failed, 60)

    def _settle(self, at: float) -> None:
        if self._position is not Position.OPEN:
            return
        if self.wait(at) <= 0:
            self._position = Position.HALF_OPEN
