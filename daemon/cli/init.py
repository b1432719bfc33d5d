"""`trimtab init DIR`: a new agent directory with its vault and a heartbeat that watches the host."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from daemon import telemetry
from daemon.home import create, plant


def init(
    directory: Annotated[Path, typer.Argument(help="Where the agent shall live; made if it is not there.")],
    timezone: Annotated[str, typer.Option(help="IANA time zone of the agent, such as Europe/Berlin.")] = "UTC",
) -> None:
    """Make an agent directory: settings, a vault under git with the starter heartbeats, an empty database."""
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
