"""What a trigger promises, and how a schedule becomes one.

A trigger is a pure function of time: it knows no clock, no history and no start-up, so that the due times of a
heartbeat are the same after a restart as before it.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol
from zoneinfo import ZoneInfo

from daemon.heartbeat import TRIGGERS
from daemon.heartbeat.active_hours import ActiveHours
from daemon.heartbeat.due import Due
from daemon.heartbeat.front import Value
from daemon.registry import load
from daemon.types import Schedule


class Trigger(Due, Protocol):
    """One way to say when, registered under the key that it reads, which is also the field it fills in Schedule."""

    example: ClassVar[str]

    def __init__(self, schedule: Schedule) -> None:
        """Take what `read` gave and the time zone from the schedule."""

    @staticmethod
    def read(value: Value, zone: ZoneInfo) -> Any:
        """Return what the key says.  Raises ValueError with what was expected."""


def trigger_of(schedule: Schedule) -> Due:
    """Return the due times of a schedule, those outside its active hours left out."""
    name = next(key for key in TRIGGERS if getattr(schedule, key) is not None)
    trigger: Due = load("trigger", TRIGGERS, name)(schedule)
    if schedule.active_hours is None:
        return trigger
    return ActiveHours(trigger, schedule.active_hours, schedule.timezone)
