"""`trimtab init DIR`: a new agent directory with its vault and a heartbeat that watches the host."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated
from zoneinfo import available_timezones

import typer

from daemon import telemetry
from daemon.errors import UsageError
from daemon.home import create, plant


def init(
    directory: Annotated[Path, typer.Argument(help="Where the agent shall live; made if it is not there.")],
    timezone: Annotated[str, typer.Option(help="IANA time zone of the agent, such as Europe/Berlin.")] = "UTC",
) -> None:
    """Make an agent directory: settings, a vault under git with the starter heartbeats, an empty database."""
    _check_zone(timezone)
    home, notes = create(directory.expanduser(), timezone)
    from daemon.trajectories.database import Database

    telemetry.setup("error")
    plant(home, notes)
    Database.open(home.database).close()
    typer.echo(f"{home.path} is an agent directory now:")
    typer.echo("  trimtab.toml                 what answers, and where it listens")
    typer.echo("  vault/AGENTS.md              who the agent is")
    typer.echo("  vault/heartbeats/*.md        what it does and when")
    typer.echo(f"Next: trimtab --dir {directory} run")


def _check_zone(name: str) -> None:
    """Raise a UsageError with the zones that come near, before anything is written."""
    zones = available_timezones()
    if name in zones:
        return
    cities = {zone.rpartition("/")[2].lower(): zone for zone in sorted(zones)}
    folded = cities | {zone.lower(): zone for zone in sorted(zones)}
    near = [folded[each] for each in difflib.get_close_matches(name.lower(), folded, n=3)]
    hint = f"; did you mean {' or '.join(dict.fromkeys(near))}?" if near else ""
    raise UsageError(f"--timezone: expected an IANA time zone such as Europe/Berlin, not {name!r}{hint}")
