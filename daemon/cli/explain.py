"""`trimtab explain HEARTBEAT`: why it ran or did not."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

import typer

from daemon.cli.overview import overview, still_open
from daemon.cli.place import home
from daemon.cli.story import plain
from daemon.errors import UsageError


def explain(
    name: Annotated[str, typer.Argument(help="The heartbeat's name.")],
    limit: Annotated[int, typer.Option(min=1, help="How many of its latest due times.")] = 8,
    as_json: Annotated[bool, typer.Option("--json", help="Print the due times as an array.")] = False,
) -> None:
    """Say why a heartbeat ran or did not: what holds now, then its latest due times and what became of each."""
    from daemon.trajectories import queries
    from daemon.trajectories.reading import reading

    place = home()
    seen = overview(place)
    row = next((row for row in seen.heartbeats if row["name"] == name), None)
    if row is None:
        known = ", ".join(row["name"] for row in seen.heartbeats) or "none"
        raise UsageError(f"there is no heartbeat {name!r}; there is {plain(known)}")
    times: list[dict[str, Any]] = []
    if place.database.exists():
        with reading(place.database) as connection:
            times = queries.occurrences(connection, limit, heartbeat=name)
    for time in times:
        if time["status"] == "claimed":
            time["outcome"] = still_open(seen.running)
    if as_json:
        typer.echo(json.dumps(times, indent=2, ensure_ascii=False))
        return
    typer.echo(f"{plain(name)}: {asyncio.run(_why(name, row))}")
    for breaker in seen.breakers:
        if breaker["thread"] == (row["thread"] or f"{name}#") and breaker["state"] != "closed":
            typer.echo(f"  its thread rests: breaker {breaker['guard']} is {breaker['state']}")
    for time in times:
        what = time["outcome"] or "did not run"
        reason = f": {plain(time['reason'])}" if time["reason"] else ""
        run = f"  (run {time['run']})" if time["run"] else ""
        typer.echo(f"  {time['scheduled_for']}{' by hand' if time['manual'] else ''}  {what}{reason}{run}")


async def _why(name: str, row: dict[str, Any]) -> str:
    """Ask the daemon, which knows best; without one, say what the files say."""
    from daemon.control import ask

    answer = await ask(home().socket, {"do": "explain", "name": name}, 10)
    if answer is not None:
        return plain(str(answer["why"]))
    if row["problem"]:
        return f"it is not scheduled: {plain(row['problem'])}"
    return (
        "it is paused in its file" if row["paused"] else f"{row['schedule']}; no daemon is running, so nothing is due"
    )
