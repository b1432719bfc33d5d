"""Notices when time did not pass as it should: the clock was set, the machine slept, the process stood still."""

from __future__ import annotations

import enum
from datetime import UTC, datetime

IN_USE_FROM = datetime(2024, 1, 1, tzinfo=UTC)
"""A clock before this has not been set yet (a board without a battery wakes up in 1970): nothing is due by it."""
_STEP = 5.0
_STALL = 10.0


class Passage(enum.Enum):
    """How time passed since the last look."""

    EVEN = "even"
    GAP = "gap"
    BACK = "back"


class PassageOfTime:
    """Compares the wall clock with the monotonic one, look by look; looks should be `turn` seconds apart."""

    def __init__(self, turn: float) -> None:
        self._stall = _STALL + 3 * turn
        self._last: tuple[datetime, float] | None = None

    def look(self, now: datetime, monotonic: float) -> Passage:
        """Return how time passed; steps of the wall clock up to five seconds are nothing."""
        last, self._last = self._last, (now, monotonic)
        if last is None:
            return Passage.EVEN
        passed = monotonic - last[1]
        step = (now - last[0]).total_seconds() - passed
        if step < -_STEP:
            return Passage.BACK
        return Passage.GAP if step > _STEP or passed > self._stall else Passage.EVEN
