"""Due times within a daily window of wall-clock time; those outside it are not due at all."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from daemon.heartbeat.due import Due
from daemon.heartbeat.wall import SECOND, next_moment

_TRIES = 4_000


class ActiveHours:
    """`window` includes its first time and excludes its second, and may cross midnight."""

    def __init__(self, inner: Due, window: tuple[time, time], zone: ZoneInfo) -> None:
        self._inner, self._zone = inner, zone
        self._opens, self._closes = window

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first due time after `moment` that lies in the window; None if there is none for years."""
        for _ in range(_TRIES):
            due = self._inner.next_after(moment)
            if due is None or self._active(due):
                return due
            opening = next_moment(due, self._zone, self._opening, evenly=False)
            if opening is None:
                return None
            moment = opening - SECOND
        return None

    def _active(self, due: datetime) -> bool:
        local = due.astimezone(self._zone).time()
        if self._opens < self._closes:
            return self._opens <= local < self._closes
        return local >= self._opens or local < self._closes

    def _opening(self, wall: datetime) -> datetime:
        """Return the first opening of the window after a wall time."""
        today = datetime.combine(wall.date(), self._opens)
        return today if today > wall else today + timedelta(days=1)
