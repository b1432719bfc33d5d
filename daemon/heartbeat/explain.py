"""Why a heartbeat ran or did not: the facts, and the one sentence that they come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from daemon.types import Schedule


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is known of a heartbeat.  `stopped` is the reason of the kill switch; `hindrance` what it waits for."""

    name: str
    schedule: str
    next_due: datetime | None
    last: str
    problem: str = ""
    paused: bool = False
    stopped: str = ""
    running: bool = False
    hindrance: str = ""
    clock_unset: bool = False

    @property
    def why(self) -> str:
        """Return the one sentence."""
        checks = (
            (self.problem, f"it is not scheduled: {self.problem}"),
            (self.running, "it is running now"),
            (self.paused, f"it is paused in its file; `trimtab heartbeats resume {self.name}` ends that"),
            (self.stopped, f"everything is paused ({self.stopped})"),
            (self.clock_unset, "the machine's clock has not been set yet, so nothing is due"),
            (self.hindrance, f"it is due and waits: {self.hindrance}"),
        )
        for holds, sentence in checks:
            if holds:
                return sentence
        if self.next_due is None:
            return "it is not due any more"
        return f"it is next due at {self.next_due:%Y-%m-%dT%H:%M:%SZ}"

    def facts(self) -> Mapping[str, Any]:
        """Return everything as JSON-ready values, `why` included."""
        due = f"{self.next_due:%Y-%m-%dT%H:%M:%SZ}" if self.next_due else None
        return asdict(self) | {"next_due": due, "why": self.why}


def schedule_text(schedule: Schedule) -> str:
    """Return a schedule as a person would say it: "every 30m, 08:00-22:00, Europe/Berlin"."""
    if schedule.every is not None:
        parts = [f"every {_length(schedule.every)}"]
    elif schedule.cron is not None:
        parts = [f"cron {schedule.cron}"]
    else:
        assert schedule.at is not None
        parts = [f"at {schedule.at.astimezone(schedule.timezone):%Y-%m-%dT%H:%M:%S}"]
    if schedule.active_hours is not None:
        first, last = schedule.active_hours
        parts.append(f"{first:%H:%M}-{last:%H:%M}")
    return ", ".join([*parts, schedule.timezone.key])


def _length(length: timedelta) -> str:
    seconds = int(length.total_seconds())
    units = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
    text = ""
    for unit, size in units:
        count, seconds = divmod(seconds, size)
        text += f"{count}{unit}" if count else ""
    return text
