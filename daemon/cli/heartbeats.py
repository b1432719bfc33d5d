"""`trimtab heartbeats`: what is scheduled, what is wrong with a file, and pausing a single one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import typer

from daemon import settings
from daemon.cli.place import home
from daemon.errors import ConfigError, StorageError, UsageError
from daemon.heartbeat import fields
from daemon.heartbeat.explain import schedule_text
from daemon.heartbeat.folder import Folder, Found
from daemon.heartbeat.pausing import pause as set_paused
from daemon.heartbeat.trigger import trigger_of
from daemon.trajectories import queries
from daemon.trajectories.reading import reading

app = typer.Typer(no_args_is_help=True, help="The recurring jobs in vault/heartbeats/.")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON array.")]
Name = Annotated[str, typer.Argument(help="The heartbeat's name: its file name without .md.")]


@app.command("list")
def list_heartbeats(as_json: Json = False) -> None:
    """List the heartbeats: when each is due next, how it last ended, and what is wrong with a bad file."""
    place = home()
    rows = listed(place.heartbeats, settings.load(place.path).zone, last_outcomes(place.database), datetime.now(UTC))
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False))
        return
    for row in rows:
        typer.echo(_line(row))
    if not rows:
        typer.echo(f"no heartbeats in {place.heartbeats}")


@app.command()
def pause(name: Name) -> None:
    """Write `paused: true` into the heartbeat's file; a running daemon sees it within two seconds."""
    _set(name, True)


@app.command()
def resume(name: Name) -> None:
    """Write `paused: false` into the heartbeat's file."""
    _set(name, False)


def listed(folder: Path, zone: ZoneInfo, last: Mapping[str, str], now: datetime) -> list[dict[str, Any]]:
    """Return a row for each file of the folder.  Raises StorageError when it cannot be listed."""
    found = _look(folder, zone)
    return [_row(name, each, last.get(name), now) for name, each in found.items()]


def last_outcomes(database: Path) -> dict[str, str]:
    """Return how the latest due time of each heartbeat ended: an outcome, "running", or why it did not run."""
    if not database.exists():
        return {}
    last: dict[str, str] = {}
    with reading(database) as view:
        for name in [row["heartbeat"] for row in queries.outcome_counts(view)]:
            if name not in last:
                row = queries.occurrences(view, 1, heartbeat=name)[0]
                last[name] = row["outcome"] or ("running" if row["status"] == "claimed" else row["reason"])
    return last


def _look(folder: Path, zone: ZoneInfo) -> Mapping[str, Found]:
    reader = Folder(folder, zone)
    reader.look()
    if reader.problem is not None:
        raise StorageError(str(reader.problem))
    return reader.found


def _row(name: str, found: Found, last: str | None, now: datetime) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name, "schedule": None, "next": None, "last_outcome": last}
    if isinstance(found, ConfigError):
        return row | {"paused": None, "thread": None, "problem": str(found)}
    due = None if found.paused else trigger_of(found.schedule).next_after(now)
    row |= {"schedule": schedule_text(found.schedule), "next": due.isoformat() if due else None}
    return row | {"paused": found.paused, "thread": found.thread, "problem": None}


def _line(row: Mapping[str, Any]) -> str:
    name = "".join(character if character.isprintable() else "?" for character in row["name"])
    if row["problem"]:
        return f"{name:24}  BAD  {row['problem']}"
    due = "paused" if row["paused"] else row["next"] or "never"
    last = "".join(character if character.isprintable() else "?" for character in row["last_outcome"] or "-")
    return f"{name:24}  {due:25}  {last:22}  thread {row['thread'] or 'none'}  {row['schedule']}"


def _set(name: str, value: bool) -> None:
    place = home()
    found = _look(place.heartbeats, settings.load(place.path).zone)
    if name not in found:
        raise UsageError(f"no heartbeat is called {name!r} in {place.heartbeats}{fields.near(name, found)}")
    changed = set_paused(place.heartbeats / f"{name}.md", value)
    word = "paused" if value else "resumed"
    typer.echo(f"{name}: {word}" if changed else f"{name}: was {'' if value else 'not '}paused already")
