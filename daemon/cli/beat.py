"""`trimtab beat NAME`: run a heartbeat now, in the daemon when one is running, otherwise here."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

import typer

from daemon import telemetry
from daemon.cli.place import home

_SECONDS = 3700.0


def beat(
    name: Annotated[str, typer.Argument(help="The heartbeat's name.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the run as an array of one object.")] = False,
) -> None:
    """Run a heartbeat now and say how it ended; exit code 0 only when it ended ok or had nothing to do."""
    telemetry.setup("error")
    run = asyncio.run(_beat(name))
    if as_json:
        typer.echo(json.dumps([run], indent=2))
    else:
        _show(run)
    if run["outcome"] not in ("ok", "nothing_to_do"):
        raise typer.Exit(1)


async def _beat(name: str) -> dict[str, Any]:
    from daemon.control import ask

    place = home()
    answer = await ask(place.socket, {"do": "beat", "name": name}, _SECONDS)
    if answer is not None:
        return answer
    from daemon.beating import beat_once
    from daemon.cli.story import Story

    return await beat_once(place, name, [Story()])


def _show(run: dict[str, Any]) -> None:
    from daemon.cli.story import plain

    typer.echo(f"{run['heartbeat']}: {run['outcome']}" + (f" ({plain(run['reason'])})" if run["reason"] else ""))
    if run["said"]:
        typer.echo(f"  {plain(run['said'])}")
    tokens = run["prompt_tokens"] + run["completion_tokens"]
    commit = f", commit {run['commit'][:10]}" if run["commit"] else ""
    typer.echo(f"  run {run['run']}, {run['steps']} steps, {tokens} tokens{commit}")
