"""`trimtab trajectories`: what the agent did, run by run, and the same for training."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from daemon.cli.place import home
from daemon.errors import StorageError, UsageError
from daemon.registry import load
from daemon.trajectories import EXPORTS
from daemon.trajectories.queries import Answer, runs
from daemon.trajectories.reading import reading
from daemon.trajectories.record import RunRecord

app = typer.Typer(no_args_is_help=True, help="What the agent did, run by run.")

_NEWEST = 3  # of the messages that a step was sent
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Heartbeat = Annotated[str | None, typer.Option(help="Only runs of this heartbeat.")]
Since = Annotated[str | None, typer.Option(help="Only runs since then: 2026-12-01, 2026-12-01T09:00Z, 90m, 24h, 7d.")]


@app.command("list")
def list_runs(
    as_json: Json = False,
    heartbeat: Heartbeat = None,
    since: Since = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 20,
) -> None:
    """List the newest runs."""
    found = listed(home().database, limit, heartbeat, moment(since))
    if as_json:
        typer.echo(json.dumps(found))
        return
    for run in found:
        reason = f"  {_short(run['reason'])}" if run["reason"] else ""
        typer.echo(
            f"{run['run']}  {run['heartbeat']}  {run['outcome'] or 'running'}  "
            f"{run['steps']} steps  {run['prompt_tokens'] + run['completion_tokens']} tokens{reason}"
        )


@app.command()
def show(run: Annotated[str, typer.Argument(help="A run's id, or `last`.")], as_json: Json = False) -> None:
    """Show one run, step by step."""
    record = shown(home().database, run)
    if as_json:
        _export("jsonl").write([record], sys.stdout)
        return
    for line in told(record):
        typer.echo(line)


@app.command()
def export(
    format_: Annotated[str, typer.Option("--format", help=f"One of {', '.join(EXPORTS)}.")] = "jsonl",
    out: Annotated[Path | None, typer.Option(help="A file to write; replaced only when all is written.")] = None,
    since: Since = None,
    heartbeat: Heartbeat = None,
) -> None:
    """Write a line for each run in full (jsonl), or for each lesson from guards (pairs) or from people (feedback).

    A pair has what a guard withheld beside what was accepted instead; feedback has what a person took back, rejected or
    approved in the vault, the reason that was given, and what the agent had answered when it wrote that.
    """
    writer, since_when = _export(format_), moment(since)
    with _target(out) as target:
        count = exported(home().database, writer.write, target, since_when, heartbeat)
    if out is not None:
        typer.echo(f"{count} {writer.UNIT} written to {out}")


def listed(database: Path, limit: int, heartbeat: str | None = None, since: datetime | None = None) -> list[Answer]:
    """Return the newest runs; none where the agent never ran."""
    if not database.exists():
        return []
    with reading(database) as view:
        return runs(view, limit, heartbeat=heartbeat, since=since)


def shown(database: Path, run: str) -> RunRecord:
    """Return one run, `last` is the newest.  Raises UsageError when there is no such run."""
    from daemon.trajectories.records import Records

    if not database.exists():
        raise UsageError("no run yet: this agent has not run")
    with reading(database) as view:
        newest = runs(view, 1)
        wanted = newest[0]["run"] if run == "last" and newest else run
        record = Records(view).run(wanted)
    if record is None:
        raise UsageError(f"no run {run!r}: `trimtab trajectories list` shows them")
    return record


def exported(
    database: Path,
    write: Callable[[Iterator[RunRecord], TextIO], int],
    out: TextIO,
    since: datetime | None = None,
    heartbeat: str | None = None,
) -> int:
    """Write the runs to `out`, the oldest first, and return how many."""
    from daemon.trajectories.records import Records

    if not database.exists():
        return 0
    with reading(database) as view:
        return write(Records(view).all(since=since, heartbeat=heartbeat), out)


def told(record: RunRecord) -> Iterator[str]:
    """Yield the lines that tell a person what happened in a run."""
    run = record.run
    yield f"{run.id}  {run.occurrence.heartbeat}  due {run.occurrence.scheduled_for:%Y-%m-%d %H:%M:%S} UTC"
    yield f"outcome {run.outcome or 'running'}" + (f": {_short(run.reason)}" if run.reason else "")
    yield f"thread {run.thread}, model {run.model or '-'}, commit {run.commit or '-'}"
    for step in record.steps:
        usage = step.reply.usage
        yield ""
        yield f"step {step.number}  {usage.prompt} tokens in ({usage.reused} reused), {usage.completion} out"
        if len(step.sent) > _NEWEST:
            yield f"  < {len(step.sent) - _NEWEST} messages of the thread so far"
        yield from (f"  < {message.role}: {_short(message.text)}" for message in step.sent[-_NEWEST:])
        if step.reply.text:
            yield f"  > {_short(step.reply.text)}"
        yield from (f"  > calls {_short(call.name)} {_short(json.dumps(dict(call.args)))}" for call in step.reply.calls)
        for result in step.results:
            yield f"  {'=' if result.ok else 'x'} {_short(result.call.name)}: {_short(result.text)}"
        for verdict in step.verdicts:
            if verdict.level:
                yield f"  ! {verdict.guard} {verdict.level} {verdict.score:.2f}: {_short(verdict.reason)}"
        if step.withheld:
            yield f"  withheld{f', then {step.rung}' if step.rung else ''}" + (
                f"; hint: {_short(step.hint)}" if step.hint else ""
            )


def moment(text: str | None, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> datetime | None:
    """Return the time that `--since` names.  Raises UsageError."""
    if text is None:
        return None
    number, unit = text[:-1], text[-1:]
    if number.isascii() and number.isdigit() and unit in _UNITS and len(number) < 6:
        return now() - timedelta(**{_UNITS[unit]: int(number)})
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--since {text}: expected a date, a time or an age such as 24h or 7d") from None
    return found if found.tzinfo else found.astimezone()


def _export(name: str) -> Any:
    if name not in EXPORTS:
        raise UsageError(f"--format {name}: expected one of {', '.join(sorted(EXPORTS))}")
    return load("export", EXPORTS, name)()


@contextlib.contextmanager
def _target(out: Path | None) -> Iterator[TextIO]:
    """Give standard output, or a file that comes into being whole or not at all."""
    if out is None:
        yield sys.stdout
        return
    part = out.with_name(f"{out.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8") as target:
            yield target
        part.replace(out)
    except OSError as wrong:
        raise StorageError(f"{out}: cannot be written: {wrong.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def _short(text: str, most: int = 300) -> str:
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if len(flat) <= most else f"{flat[:most]}… ({len(text)} characters)"
