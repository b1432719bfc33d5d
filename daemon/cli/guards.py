"""`trimtab guards`: the guards' pages, what they say of a transcript, and forgetting what they remember."""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from daemon.cli.transcript import Reading
from daemon.errors import UsageError
from guards import GUARDS
from guards.panel import guard_class
from guards.replay import Replayed, standard
from guards.replay import replay as show_to

app = typer.Typer(no_args_is_help=True, help="The circuit breakers' detectors, also on a transcript of yours.")

TRIPPED = 3
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_guards(as_json: Json = False) -> None:
    """List the guards."""
    rows = [{"name": name, "kind": guard_class(name).kind, "catches": _page(name).split("\n")[0]} for name in GUARDS]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        typer.echo(f"{row['name']:<12} {row['kind']:<11} {row['catches']}")


@app.command()
def explain(name: Annotated[str, typer.Argument(help="A guard's name.")]) -> None:
    """Print a guard's page: statistic, source, false alarms, when it is silent on purpose, options, an example."""
    typer.echo(f"{name}: {_page(name)}")


@app.command()
def replay(
    file: Annotated[str, typer.Argument(help="Rows of JSON, one output each; .gz too; - is standard input.")],
    as_json: Json = False,
    baseline: Annotated[int | None, typer.Option(help="Outputs of the start that say what is normal.")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Count bad rows and go on.")] = False,
) -> None:
    """Show a transcript to the guards; exit code 0 when nothing tripped, 3 when something did, 2 on bad input."""
    try:
        panel = standard(baseline)
    except ValueError as wrong:
        raise UsageError(f"--baseline: {wrong}") from None
    begun = time.perf_counter()
    reading = Reading(file, skip_bad=skip_bad)
    done = show_to(reading.rows(), panel)
    seconds = time.perf_counter() - begun
    if reading.bad:
        typer.echo(f"{file}: {reading.bad} bad rows skipped, the first at line {reading.first_bad}", err=True)
    if as_json:
        typer.echo(json.dumps(done.as_json(seconds)))
    else:
        _show(done, seconds)
    if done.trips:
        raise typer.Exit(TRIPPED)


@app.command()
def reset(
    thread: Annotated[str | None, typer.Option(help="Only this thread.")] = None,
    guard: Annotated[str | None, typer.Option(help="Only this guard, and its breaker.")] = None,
) -> None:
    """Forget what guards and breakers remember, so that a thread starts fresh with its breakers closed.

    A run that is under way writes its guards' memory when it ends: reset once more after it, or pause first.
    """
    from daemon.cli.place import home

    if guard is not None:
        _page(guard)
    count = asyncio.run(forget(home().database, thread, guard))
    if not count:
        raise UsageError("nothing is remembered that matches: `trimtab threads list` shows the threads")
    typer.echo(f"forgot {count} states of guards and breakers")


async def forget(database: Path, thread: str | None, guard: str | None) -> int:
    """Forget the states of guards and their breakers that match (None is any); return how many there were."""
    from daemon.trajectories.database import Database
    from daemon.trajectories.guard_states import SqlGuardStates

    if not database.exists():
        return 0
    opened = Database.open(database)
    try:
        states = SqlGuardStates(opened)
        if guard is None:
            return await states.forget(thread, None)
        return await states.forget(thread, guard) + await states.forget(thread, f"breaker:{guard}")
    finally:
        opened.close()


def _page(name: str) -> str:
    try:
        found: type[Any] = guard_class(name)
    except ValueError as wrong:
        raise UsageError(str(wrong)) from None
    return inspect.cleandoc(found.__doc__ or "")


def _show(done: Replayed, seconds: float) -> None:
    both = [*done.trips, *done.warnings]
    for row, verdict in sorted(both, key=lambda pair: pair[0]):
        typer.echo(f"row {row}  {verdict.level!s:<4}  {verdict.guard} {verdict.score:.2f}  {verdict.reason}")
        if verdict.hint:
            typer.echo(f"    hint: {verdict.hint}")
    first = "nothing tripped" if done.first_trip is None else f"the first trip at row {done.first_trip}"
    typer.echo(f"{done.rows} rows, {len(done.trips)} trips, {len(done.warnings)} warnings, {first}; {seconds:.2f} s")
