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
        counts = [_many(row["messages"], "message"), f"{row['live_messages']} live", _many(row["runs"], "run")]
        counts.append(_many(row["summaries"], "compaction"))
        typer.echo(f"{row['thread']}  {', '.join(counts)}, last {row['last_ended_at'] or '-'}")


@app.command()
def show(thread: str, as_json: Json = False) -> None:
    """Show everything that was said in a thread, run by run.

    What the model no longer sees is marked with a dot, what a person took back with a cross.  A summary stands where it
    was made; the model reads the newest one first.
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
        said = thread_search.said(row["text"], row["calls"]).replace("\n", "\n    ")
        typer.echo(_printable(f"{_mark(row)} {_who(row)}: {said}"))


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="Words; a message is found that holds all of them.")],
    thread: Annotated[str | None, typer.Option(help="Only this thread.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    as_json: Json = False,
) -> None:
    """Search in everything that was ever said or called, the newest first; also in what was compacted or taken back.

    The marks are those of `trimtab threads show`.
    """
    database = home().database
    if thread is not None:
        shown(database, thread)
    found: list[Answer] = []
    if database.exists():
        with reading(database) as view:
            found = thread_search.search(view, query, thread, limit)
    if as_json:
        typer.echo(json.dumps(found))
        return
    for row in found:
        place = f"{row['thread']}  {row['run'] or '-'}"
        typer.echo(_printable(f"{_mark(row)} {place}  {_who(row)}: {row['excerpt']}"))
    if not found:
        typer.echo("nothing that was said holds all of these words", err=True)


app.command()(compact)
app.command()(fork)
app.command()(rewind)


def _mark(row: Answer) -> str:
    return "x" if row["taken_back"] else " " if row["live"] else "."


def _who(row: Answer) -> str:
    """Who speaks: a role, with the name of the tool, the heartbeat or the kind of message."""
    return f"{row['role']} {row['name']}" if row["name"] else str(row["role"])


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


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
