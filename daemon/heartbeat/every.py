"""`every: 30m`: a cadence that is anchored to the wall clock, never to start-up.

Counted from midnight of 1 January 1970 in the schedule's own zone, so a length that divides the day falls on the same
times each day (30m at :00 and :30, 2h at even hours), and any other length keeps its rhythm across days.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar
from zoneinfo import ZoneInfo

from daemon.heartbeat import fields
from daemon.heartbeat.front import Value
from daemon.heartbeat.wall import SECOND, next_moment
from daemon.types import Schedule

_ANCHOR = datetime.fromisoformat("1970-01-01")
_HOUR = timedelta(hours=1)


class Every:
    """Due at each whole multiple of a length of time."""

    example: ClassVar[str] = "1h30m"

    def __init__(self, schedule: Schedule) -> None:
        assert schedule.every is not None
        self._length, self._zone = schedule.every, schedule.timezone

    @staticmethod
    def read(value: Value, zone: ZoneInfo) -> timedelta:
        """Return the length.  Raises ValueError when it is none, or shorter than a second."""
        length = fields.duration(value)
        if length < SECOND:
            raise ValueError(f"expected at least 1s, not {fields.shown(value)}")
        return length

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first due time after `moment`; up to an hour's length it stays even where the clocks change."""
        return next_moment(moment, self._zone, self._next_wall, evenly=self._length <= _HOUR)

    def _next_wall(self, wall: datetime) -> datetime | None:
        try:
            return wall + self._length - (wall - _ANCHOR) % self._length
        except OverflowError:
            return None
