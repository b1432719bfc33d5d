"""`trimtab run`: the daemon in the foreground, for a person at a terminal and for systemd alike."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

import typer

from daemon.cli.place import home


def run(
    first: Annotated[list[str] | None, typer.Option(help="A heartbeat to run at once; may be given again.")] = None,
    quiet: Annotated[bool, typer.Option(help="Tell no story of the runs, also on a terminal.")] = False,
) -> None:
    """Run the agent until Ctrl-C or SIGTERM: heartbeats when they are due, metrics on loopback."""
    from daemon.serve import serve

    place = home()
    observers = []
    told = sys.stderr.isatty() and not quiet
    if told:
        from daemon.cli.story import Story

        observers.append(Story())
    asyncio.run(serve(place, first or [], observers, told))
