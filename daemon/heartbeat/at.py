"""`at: 2026-12-01T09:00`: one moment, once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import ClassVar
from zoneinfo import ZoneInfo

from daemon.heartbeat import fields
from daemon.heartbeat.front import Value
from daemon.types import Schedule


class At:
    """Due once."""

    example: ClassVar[str] = "2026-12-01T09:00"

    def __init__(self, schedule: Schedule) -> None:
        assert schedule.at is not None
        self._at = schedule.at

    @staticmethod
    def read(value: Value, zone: ZoneInfo) -> datetime:
        """Return the moment in UTC; a time without an offset is a wall time in `zone`.  Raises ValueError."""
        expected = "an ISO date and time such as 2026-12-01T09:00"
        word = fields.text(value, expected)
        try:
            at = datetime.fromisoformat(word)
        except ValueError:
            raise ValueError(f"expected {expected}, not {fields.shown(word)}") from None
        if len(word) <= len("2026-12-01"):
            raise ValueError(f"expected {expected}: the time of day is missing in {fields.shown(word)}")
        if not 1971 <= at.year <= 9000:
            raise ValueError(f"expected {expected}, not the year {at.year}")
        if at.tzinfo is None:
            at = at.replace(tzinfo=zone)
            if at.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != at.replace(tzinfo=None):
                raise ValueError(
                    f"expected a time that exists: {fields.shown(word)} is skipped in {zone.key} when the clocks change"
                )
        return at.astimezone(UTC).replace(microsecond=0)

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the moment while it has not come."""
        return self._at if moment < self._at else None
