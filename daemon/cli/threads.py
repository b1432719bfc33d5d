"""`trimtab threads`: the durable conversations, with everything that was ever said in them.

They work while the daemon runs; what they show is safe for a terminal.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from daemon.cli.place import home
from daemon.cli.thread_edits import compact, fork, rewind
from daemon.errors import UsageError
from daemon.trajectories import queries, thread_search
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
    """Show everything that was said in a thread, run by run.

    What the model no longer sees is marked with a dot, what a person took back with a cross.
    """
    found = shown(home().database, thread)
    if as_json:
        typer.echo(json.dumps(found))
        return
    run: str | None = None
    for row in found:
        if row["run"] not in (None, run):
            run = row["run"]
            typer.echo(f"--- {run}")
        calls = "".join(f"  [calls {call['name']} {json.dumps(call['args'])}]" for call in row["calls"])
        mark = "x" if row["taken_back"] else " " if row["live"] else "."
        typer.echo(_printable(f"{mark} {row['role']}: {row['text']}{calls}"))


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="Words; a message is found that holds all of them.")],
    thread: Annotated[str | None, typer.Option(help="Only this thread.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    as_json: Json = False,
) -> None:
    """Search in everything that was ever said, the newest first; also in what was compacted or taken back."""
    database = home().database
    found: list[Answer] = []
    if database.exists():
        with reading(database) as view:
            found = thread_search.search(view, query, thread, limit)
    if as_json:
        typer.echo(json.dumps(found))
        return
    for row in found:
        typer.echo(_printable(f"{row['thread']}  {row['run'] or '-'}  {row['role']}: {row['excerpt']}"))


app.command()(compact)
app.command()(fork)
app.command()(rewind)


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


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
