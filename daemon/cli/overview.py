"""What is known of an agent at this moment, from its files, its database and its lock; it needs no daemon."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from daemon.errors import ConfigError
from daemon.heartbeat.explain import schedule_text
from daemon.heartbeat.folder import Folder
from daemon.home import Home
from daemon.recovery import breakers
from daemon.settings import Settings
from daemon.settings import load as load_settings
from daemon.trajectories import queries
from daemon.trajectories.reading import reading

Answer = dict[str, Any]
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Overview:
    """One agent: `heartbeats` and `breakers` as listings show them, `spent` since midnight UTC."""

    settings: Settings
    running: int | None
    paused: str | None
    heartbeats: list[Answer]
    breakers: list[Answer]
    spent: Answer


def overview(home: Home) -> Overview:
    """Look at an agent directory.  Raises ConfigError or StorageError."""
    settings = load_settings(home.path)
    folder = Folder(home.heartbeats, settings.zone)
    folder.look()
    if not home.database.exists():
        known = _Known({}, {}, {})
        return Overview(
            settings, None, home.paused(), _heartbeats(folder, known), [], {"usd": 0.0, "tokens": 0, "steps": 0}
        )
    with reading(home.database) as connection:
        known = _known(connection)
        resting = _breakers(connection, settings.breaker.cooldown_seconds)
        midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        spent = queries.spend(connection, midnight)
    running = home.holder() if home.running() else None
    return Overview(settings, running, home.paused(), _heartbeats(folder, known), resting, spent)


@dataclass(frozen=True, slots=True)
class _Known:
    due: Mapping[str, str | None]
    last: Mapping[str, Answer]
    counts: Mapping[str, Counter[str]]


def _known(connection: sqlite3.Connection) -> _Known:
    counts: dict[str, Counter[str]] = {}
    for row in queries.outcome_counts(connection, datetime.now(UTC) - _DAY):
        counts.setdefault(row["heartbeat"], Counter())[row["outcome"]] += row["count"]
    last = {
        name: queries.runs(connection, 1, heartbeat=name)
        for name in counts.keys() | queries.next_due(connection).keys()
    }
    return _Known(queries.next_due(connection), {name: rows[0] for name, rows in last.items() if rows}, counts)


def _heartbeats(folder: Folder, known: _Known) -> list[Answer]:
    rows = []
    for name, found in folder.found.items():
        last = known.last.get(name, {})
        bad = isinstance(found, ConfigError)
        rows.append(
            {
                "name": name,
                "schedule": "" if isinstance(found, ConfigError) else schedule_text(found.schedule),
                "thread": None if isinstance(found, ConfigError) else found.thread,
                "paused": not isinstance(found, ConfigError) and found.paused,
                "next": None if bad else known.due.get(name),
                "last_started": last.get("started_at"),
                "last_outcome": last.get("outcome"),
                "last_reason": last.get("reason") or "",
                "last_day": dict(known.counts.get(name, {})),
                "problem": str(found) if isinstance(found, ConfigError) else "",
            }
        )
    return rows


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
