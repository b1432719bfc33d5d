"""What is known of an agent at this moment, from its files, its database and its lock; it needs no daemon."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from daemon.errors import ConfigError, StorageError
from daemon.heartbeat.explain import schedule_text
from daemon.heartbeat.folder import Folder, Found
from daemon.heartbeat.trigger import trigger_of
from daemon.home import Home
from daemon.recovery import breakers
from daemon.settings import Settings
from daemon.settings import load as load_settings
from daemon.tools import TOOLS
from daemon.trajectories import queries
from daemon.trajectories.packing import moment, stamp
from daemon.trajectories.reading import reading
from daemon.types import Heartbeat

Answer = dict[str, Any]
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Overview:
    """One agent: `heartbeats` and `breakers` as listings show them, `spent` since midnight UTC.

    `running` says whether a process holds the directory now, `holder` which one, if it said so.
    """

    settings: Settings
    running: bool
    holder: int | None
    paused: str | None
    heartbeats: list[Answer]
    breakers: list[Answer]
    spent: Answer


def overview(home: Home) -> Overview:
    """Look at an agent directory.  Raises ConfigError or StorageError."""
    settings = load_settings(home.path)
    folder = folder_of(home, settings)
    folder.look()
    if folder.problem is not None:
        raise StorageError(str(folder.problem))
    running, now = home.running(), datetime.now(UTC)
    known, resting, spent = _Known(), list[Answer](), {"usd": 0.0, "tokens": 0, "steps": 0}
    if home.database.exists():
        with reading(home.database) as connection:
            known = _known(connection, folder, now)
            resting = _breakers(connection, settings.breaker.cooldown_seconds)
            spent = queries.spend(connection, now.replace(hour=0, minute=0, second=0, microsecond=0))
    rows = [_row(name, found, known, running, now) for name, found in folder.found.items()]
    return Overview(settings, running, home.holder() if running else None, home.paused(), rows, resting, spent)


def folder_of(home: Home, settings: Settings) -> Folder:
    """Return the heartbeats of an agent, not looked at yet; they may name its models and its tools."""
    return Folder(home.heartbeats, settings.zone, list(settings.models), {*TOOLS, *settings.tools})


def still_open(running: bool) -> str:
    """Return what to call a run without an end: it goes on only while somebody holds the directory."""
    return "running" if running else "interrupted?"


@dataclass(frozen=True, slots=True)
class _Known:
    """What the database says, by heartbeat: the planned due time, the last run, the outcomes of the last day."""

    due: Mapping[str, str | None] = field(default_factory=dict)
    last: Mapping[str, Answer] = field(default_factory=dict)
    counts: Mapping[str, Counter[str]] = field(default_factory=dict)


def _known(connection: sqlite3.Connection, folder: Folder, now: datetime) -> _Known:
    counts: dict[str, Counter[str]] = {}
    for row in queries.outcome_counts(connection, now - _DAY):
        counts.setdefault(row["heartbeat"], Counter())[row["outcome"]] += row["count"]
    last = {name: queries.runs(connection, 1, heartbeat=name) for name in folder.found}
    return _Known(queries.next_due(connection), {name: rows[0] for name, rows in last.items() if rows}, counts)


def _row(name: str, found: Found, known: _Known, running: bool, now: datetime) -> Answer:
    """Return a heartbeat as every listing shows it; what is not known of it is None."""
    last, counts = known.last.get(name, Answer()), known.counts.get(name, Counter[str]())
    row: Answer = {"name": name, "schedule": None, "thread": None, "paused": None, "next_due": None}
    if not isinstance(found, ConfigError):
        due = _next_due(found, known.due.get(name), running, now)
        row |= {"schedule": schedule_text(found.schedule), "thread": found.thread, "paused": found.paused}
        row["next_due"] = due
    return row | {
        "last_outcome": (last["outcome"] or still_open(running)) if last else None,
        "last_started": last.get("started_at"),
        "last_reason": last.get("reason") or None,
        "last_day": {still_open(running) if each == "running" else each: n for each, n in counts.items()},
        "problem": str(found) if isinstance(found, ConfigError) else None,
    }


def _next_due(heartbeat: Heartbeat, planned: str | None, running: bool, now: datetime) -> str | None:
    """Return when a heartbeat is due: as planned, otherwise as its file says.

    Of what a daemon that is gone had planned only the past counts (the next one judges that first), because the file
    may have changed since.
    """
    if heartbeat.paused:
        return None
    if planned is not None and (running or moment(planned) <= now):
        return planned
    due = trigger_of(heartbeat.schedule).next_after(now)
    return stamp(due) if due else None


def _breakers(connection: sqlite3.Connection, cooldown: float) -> list[Answer]:
    at, rows = time.time(), []
    for row in queries.breaker_states(connection):
        for breaker in breakers({f"breaker:{row['guard']}": row["state"]}, cooldown).values():
            wait = breaker.wait(at)
            rows.append(
                {
                    "thread": row["thread"],
                    "guard": row["guard"],
                    "state": breaker.position.name.lower(),
                    "wait_seconds": wait,
                }
            )
    return rows
