"""`trimtab threads`: the durable conversations, with everything that was ever said in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from daemon.cli.place import home
from daemon.errors import UsageError
from daemon.trajectories import queries
from daemon.trajectories.queries import Answer
from daemon.trajectories.reading import reading

app = typer.Typer(no_args_is_help=True, help="The durable conversations.")

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_threads(as_json: Json = False) -> None:
    """List the threads."""
    found = listed(home().database)
    if as_json:
        typer.echo(json.dumps(found))
        return
    for row in found:
        typer.echo(
            f"{row['thread']}  {row['messages']} messages, {row['live_messages']} live, {row['runs']} runs, "
            f"compacted {row['summaries']} times, last {row['last_ended_at'] or '-'}"
        )


@app.command()
def show(thread: str, as_json: Json = False) -> None:
    """Show everything that was said in a thread; what the model no longer sees is marked with a dot."""
    found = shown(home().database, thread)
    if as_json:
        typer.echo(json.dumps(found))
        return
    for row in found:
        calls = "".join(f"  [calls {call['name']} {json.dumps(call['args'])}]" for call in row["calls"])
        line = f"{' ' if row['live'] else '.'} {row['role']}: {row['text']}{calls}"
        typer.echo("".join(c if c.isprintable() or c == "\n" else " " for c in line))


def listed(database: Path) -> list[Answer]:
    """Return the threads; none where the agent never ran."""
    if not database.exists():
        return []
    with reading(database) as view:
        return queries.threads(view)


def shown(database: Path, thread: str) -> list[Answer]:
    """Return the history of a thread.  Raises UsageError when there is no such thread."""
    found: list[Answer] = []
    if database.exists():
        with reading(database) as view:
            found = queries.thread(view, thread)
    if not found:
        raise UsageError(f"no thread {thread!r}: `trimtab threads list` shows them")
    return found
