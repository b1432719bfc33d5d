"""Due times as a pure function of time, and the due times of a stretch of it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

from daemon.heartbeat.wall import SECOND


class Due(Protocol):
    """Something that has due times."""

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first due time after `moment`, aware, in UTC, to the second; None if there is none any more."""


def between(due: Due, first: datetime, last: datetime, most: int) -> tuple[list[datetime], bool]:
    """Return the newest due times from `first` to `last`, at most `most`, oldest first, and whether those are all.

    The stretch is looked through from its end in growing windows, because after years without a clock it may hold
    billions of due times.
    """
    window = timedelta(hours=1)
    while True:
        start = max(first, last - window) if window < last - first else first
        times: list[datetime] = []
        moment = due.next_after(start - SECOND)
        while moment is not None and moment <= last:
            times.append(moment)
            moment = due.next_after(moment)
        if start == first or len(times) > most:
            return times[-most:], start == first and len(times) <= most
        window *= 2
