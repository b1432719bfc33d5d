"""`trimtab heartbeats`: what is scheduled, what is wrong with a file, and pausing a single one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from daemon import settings
from daemon.cli.overview import folder_of, overview
from daemon.cli.place import home
from daemon.cli.story import plain
from daemon.errors import StorageError, UsageError
from daemon.heartbeat import fields
from daemon.heartbeat.pausing import pause as set_paused

app = typer.Typer(no_args_is_help=True, help="The recurring jobs in vault/heartbeats/.")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON array.")]
Name = Annotated[str, typer.Argument(help="The heartbeat's name: its file name without .md.")]


@app.command("list")
def list_heartbeats(as_json: Json = False) -> None:
    """List the heartbeats: when each is due next, how it last ended, and what is wrong with a bad file."""
    place = home()
    rows = overview(place).heartbeats
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


def _line(row: Mapping[str, Any]) -> str:
    name = plain(row["name"])
    if row["problem"]:
        return f"{name:24}  BAD  {plain(row['problem'])}"
    due = "paused" if row["paused"] else (row["next_due"] or "never").replace(".000000Z", "Z")
    last, thread = plain(row["last_outcome"] or "-"), plain(row["thread"] or "none")
    return f"{name:24}  {due:20}  {last:22}  thread {thread}  {plain(row['schedule'])}"


def _set(name: str, value: bool) -> None:
    place = home()
    folder = folder_of(place, settings.load(place.path))
    folder.look()
    if folder.problem is not None:
        raise StorageError(str(folder.problem))
    found = folder.found
    if name not in found:
        raise UsageError(f"no heartbeat is called {name!r} in {place.heartbeats}{fields.near(name, found)}")
    changed = set_paused(place.heartbeats / f"{name}.md", value)
    word = "paused" if value else "resumed"
    typer.echo(f"{name}: {word}" if changed else f"{name}: was {'' if value else 'not '}paused already")
