"""Who wakes the scheduler when something is due.

An alarm is a hint: the scheduler looks at the wall clock itself whenever it is woken, and once a second anyway, so an
alarm that rings late, early or never (a clock that was set back, a machine that slept) costs a second and nothing else.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.date import DateTrigger

from daemon.clock import HeldClock

Ring = Callable[[], None]


def _nobody() -> None:
    """Stand in for whoever will be woken, until `start`."""


class Alarms(Protocol):
    """One alarm for each heartbeat."""

    def start(self, ring: Ring) -> None:
        """Call `ring` from now on, from the event loop, when an alarm goes off."""

    def set(self, name: str, at: datetime | None) -> None:
        """Set the alarm of a heartbeat, or take it away."""

    def stop(self) -> None:
        """Ring no more; safe to call twice."""


class ApschedulerAlarms:
    """APScheduler as the clock: one job for each heartbeat, run by the wall clock."""

    def __init__(self) -> None:
        self._scheduler = AsyncIOScheduler(timezone=UTC)
        self._ring: Ring = _nobody
        logging.getLogger("apscheduler").setLevel(logging.WARNING)

    def start(self, ring: Ring) -> None:
        """Call `ring` from now on, from the event loop, when an alarm goes off."""
        self._ring = ring
        self._scheduler.start()

    def set(self, name: str, at: datetime | None) -> None:
        """Set the alarm of a heartbeat, or take it away."""
        job = self._scheduler.get_job(name)
        if at is None:
            if job is not None:
                job.remove()
        elif job is None or job.next_run_time != at:
            trigger = DateTrigger(at, timezone=UTC)
            self._scheduler.add_job(
                self._rung, trigger, id=name, replace_existing=True, misfire_grace_time=None, coalesce=True
            )

    def stop(self) -> None:
        """Ring no more; safe to call twice."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    async def _rung(self) -> None:
        self._ring()


class HeldAlarms:
    """The alarms of a clock that stands still until a test moves it."""

    def __init__(self, clock: HeldClock) -> None:
        self._clock = clock
        self._ring: Ring = _nobody
        self._names: set[str] = set()

    def start(self, ring: Ring) -> None:
        """Call `ring` from now on when an alarm goes off."""
        self._ring = ring

    def set(self, name: str, at: datetime | None) -> None:
        """Set the alarm of a heartbeat, or take it away."""
        self._names.add(name)
        self._clock.alarm(name, at, self._ring)

    def stop(self) -> None:
        """Ring no more; safe to call twice."""
        for name in self._names:
            self._clock.alarm(name, None, self._ring)
        self._names.clear()
