"""Turns a pattern of wall-clock times into moments, across the days on which the clocks change.

A wall time that the clocks skip is due at the first moment after the gap; one that comes twice is due the first time.
A pattern that repeats within the hour goes on evenly instead: what is skipped is dropped, what comes twice is due
twice.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

Pattern = Callable[[datetime], datetime | None]
"""Given a naive wall time, the first naive wall time of the pattern after it."""
SECOND = timedelta(seconds=1)


def next_moment(moment: datetime, zone: ZoneInfo, pattern: Pattern, *, evenly: bool) -> datetime | None:
    """Return the first moment of `pattern` in `zone` after `moment`: aware, in UTC, to the second."""
    offset = _offset(moment.astimezone(UTC), zone)
    wall = (moment.astimezone(UTC) + offset).replace(tzinfo=None, microsecond=0)
    while True:
        found = pattern(wall)
        if found is None:
            return None
        here, there = _moment(wall, offset), _moment(found, offset)
        if _offset(there, zone) == offset:
            if evenly or not there.astimezone(zone).fold:
                return there
            wall = found
            continue
        turn = _turn(here, there, offset, zone)
        skipped_until = (turn + _offset(turn, zone)).replace(tzinfo=None)
        if found < skipped_until and not evenly:
            return turn
        offset = _offset(turn, zone)
        wall = skipped_until - SECOND


def _offset(moment: datetime, zone: ZoneInfo) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta(0)


def _moment(wall: datetime, offset: timedelta) -> datetime:
    return wall.replace(tzinfo=UTC) - offset


def _turn(before: datetime, after: datetime, offset: timedelta, zone: ZoneInfo) -> datetime:
    """Return the first second after `before` and up to `after` from which `offset` no longer holds."""
    low, high = 0, int((after - before).total_seconds())
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(before + middle * SECOND, zone) == offset:
            low = middle
        else:
            high = middle
    return before + high * SECOND
