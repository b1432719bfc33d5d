"""`trimtab guards`: the guards' pages, what they say of a transcript, and a person's acts on what they remember."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from daemon.cli.listing import columns, hung, pages
from daemon.cli.place import home
from daemon.cli.replay import replay
from daemon.errors import UsageError
from guards import GUARDS
from guards.baselines import OWN
from guards.panel import guard_class

app = typer.Typer(no_args_is_help=True, help="The circuit breakers' detectors, also on a transcript of yours.")
app.command()(replay)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Thread = Annotated[str | None, typer.Option(help="Only this thread.")]
Named = Annotated[str | None, typer.Option(help="Only this guard.")]
Why = Annotated[str, typer.Option(help="Why; it is recorded.")]


@app.command("list")
def list_guards(as_json: Json = False) -> None:
    """List the guards."""
    rows = [{"name": name, "kind": guard_class(name).kind, "catches": _page(name).split("\n")[0]} for name in GUARDS]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        typer.echo(hung(f"{row['name']:<12} {row['kind']:<11} ", row["catches"], columns()))


@app.command()
def explain(name: Annotated[str, typer.Argument(help="A guard's name.")]) -> None:
    """Print a guard's page: statistic, source, false alarms, when it is silent on purpose, options, an example."""
    typer.echo(pages(f"{name}: {_page(name)}", columns()))


@app.command()
def reset(thread: Thread = None, guard: Named = None, why: Why = "") -> None:
    """Forget what guards and breakers remember, so that a thread starts fresh with its breakers closed.

    A run that is under way writes its guards' memory when it ends: reset once more after it, or pause first.
    """
    if guard is not None:
        _page(guard)
    names = [None] if guard is None else [guard, f"breaker:{guard}", f"ladder:{guard}"]
    count = asyncio.run(forget(home().database, "reset", thread, names, why))
    if not count:
        raise UsageError("nothing is remembered that matches: `trimtab threads list` shows the threads")
    typer.echo(f"forgot {count} states of guards and breakers {'on all threads' if thread is None else f'on {thread}'}")


@app.command()
def rebaseline(thread: Thread = None, guard: Named = None, why: Why = "") -> None:
    """Take what comes next as the new normal: guards learn a stream's start anew; breakers stay as they are.

    A person's act, and recorded as one: no guard ever does it by itself.  For when the agent was changed on purpose.  A
    run that is under way writes its guards' memory when it ends: do it once more after it, or pause first.
    """
    if guard is not None and (_page(guard) and not guard_class(guard).tests):
        raise UsageError(f"{guard} has no baseline; `trimtab guards reset` forgets what it remembers")
    names = [guard] if guard else [*(name for name in GUARDS if guard_class(name).tests), OWN]
    count = asyncio.run(forget(home().database, "rebaseline", thread, names, why))
    if not count:
        raise UsageError("there is no baseline that matches: `trimtab threads list` shows the threads")
    where = "on all threads" if thread is None else f"on {thread}"
    typer.echo(f"the next outputs {where} are the new start; `trimtab guards acts` shows that it was done")


@app.command()
def acts(as_json: Json = False) -> None:
    """List what people did to guards and threads: when, who, on what, and why."""
    found = asyncio.run(_acts(home().database))
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    for act in found:
        of = f" of {act['guard'] or 'all guards'}" if act["what"] in ("reset", "rebaseline") else ""
        what = f"{act['what']}{of} on {act['thread'] or 'all threads'}"
        typer.echo(f"{act['at']}  {act['person']}  {what}  {act['why']}".rstrip())


async def forget(database: Path, what: str, thread: str | None, guards: Sequence[str | None], why: str) -> int:
    """Forget the states that match (None is any), and record the act; return how many there were."""
    from daemon.clock import SystemClock
    from daemon.trajectories.acts import SqlActs
    from daemon.trajectories.database import Database
    from daemon.trajectories.guard_states import SqlGuardStates

    if not database.exists():
        return 0
    opened = Database.open(database)
    try:
        states = SqlGuardStates(opened)
        kept = [name.split("/")[0] for at, name, _ in await states.all() if thread in (None, at)]
        if any(guard is None or guard in kept for guard in guards):
            named = guards[0] if len(guards) <= 3 else None
            person = os.environ.get("SUDO_USER") or os.environ.get("USER") or f"uid {os.getuid()}"
            await SqlActs(opened).record(SystemClock().now(), person, what, thread, named, why)  # first: never unseen
        return sum([await states.forget(thread, guard) for guard in guards])
    finally:
        opened.close()


async def _acts(database: Path) -> list[dict[str, Any]]:
    from dataclasses import asdict

    from daemon.trajectories.acts import SqlActs
    from daemon.trajectories.database import Database

    if not database.exists():
        return []
    opened = Database.open(database)
    try:
        return [asdict(act) for act in await SqlActs(opened).newest()]
    finally:
        opened.close()


def _page(name: str) -> str:
    try:
        found: type[Any] = guard_class(name)
    except ValueError as wrong:
        raise UsageError(str(wrong)) from None
    return inspect.cleandoc(found.__doc__ or "")
