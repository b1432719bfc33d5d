"""`cron: "*/30 8-20 * * mon-fri"`: the five fields that users know, with the meaning that cron gives them.

APScheduler finds the next match; three of its habits are not cron's and are mended here: it counts weekdays from
Monday, it wants both the day of the month and the weekday to match where cron takes either, and on the night the clocks
go back it runs a job of 02:30 twice (so it is asked about wall times only, and `wall` makes moments of them).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import ClassVar
from zoneinfo import ZoneInfo

from apscheduler.triggers.cron import CronTrigger

from daemon.heartbeat import fields
from daemon.heartbeat.cron_fields import FIELDS, numbers
from daemon.heartbeat.front import Value
from daemon.heartbeat.wall import SECOND, next_moment
from daemon.types import Schedule

_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LAST = datetime(9000, 1, 1, tzinfo=UTC)


class Cron:
    """Due whenever the five fields match the wall clock."""

    example: ClassVar[str] = "*/30 8-20 * * 1-5"

    def __init__(self, schedule: Schedule) -> None:
        assert schedule.cron is not None
        self._zone = schedule.timezone
        texts = schedule.cron.split()
        self._evenly = texts[1].startswith("*")
        self._matches = [_matching(texts)]
        if not texts[2].startswith("*") and not texts[4].startswith("*"):
            self._matches = [_matching([*texts[:4], "*"]), _matching([*texts[:2], "*", *texts[3:]])]

    @staticmethod
    def read(value: Value, zone: ZoneInfo) -> str:
        """Return the five fields.  Raises ValueError with the first that is wrong."""
        expected = f"five fields ({', '.join(field.name for field in FIELDS)}) such as {Cron.example!r}"
        word = fields.text(value, expected)
        texts = word.split()
        if word.startswith("@"):
            raise ValueError(f"expected {expected}; {fields.shown(word)} has no short form here, write its five fields")
        if len(texts) != len(FIELDS):
            seconds = "; there is no field for seconds" if len(texts) == len(FIELDS) + 1 else ""
            raise ValueError(f"expected {expected}, not {len(texts)} fields{seconds}")
        for text, field in zip(texts, FIELDS, strict=True):
            numbers(text, field)
        return " ".join(texts)

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first match after `moment`; a job of every hour stays even where the clocks change."""
        return next_moment(moment, self._zone, self._next_wall, evenly=self._evenly)

    def _next_wall(self, wall: datetime) -> datetime | None:
        after = wall.replace(tzinfo=UTC) + SECOND
        found = [match.get_next_fire_time(None, after) for match in self._matches]
        return min((each.replace(tzinfo=None) for each in found if each is not None), default=None)


def _matching(texts: list[str]) -> CronTrigger:
    """Return APScheduler's trigger with every field spelled out, so that only numbers and weekday names reach it."""
    minute, hour, day, month, weekday = (
        "*" if text == "*" else ",".join(map(str, numbers(text, field)))
        for text, field in zip(texts, FIELDS, strict=True)
    )
    if weekday != "*":
        weekday = ",".join(_WEEKDAYS[int(number)] for number in weekday.split(","))
    return CronTrigger(
        minute=minute, hour=hour, day=day, month=month, day_of_week=weekday, timezone=UTC, end_date=_LAST
    )
