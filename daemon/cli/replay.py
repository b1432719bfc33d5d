"""`trimtab guards replay`: what the guards say of anyone's transcript, in words, as JSON, as a picture."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from daemon.cli.listing import counted
from daemon.cli.plot import Scores, check, draw
from daemon.cli.transcript import Reading
from daemon.errors import UsageError
from guards import Level, Verdict
from guards.replay import Replayed, Row, judged, standard
from guards.text import quote
from guards.written import Written, declared, held, words

TRIPPED = 3
LOOK_BACK = 2_000
"""Outputs before an explained one that are searched for the same evidence."""
SHOWN = 12


def replay(
    file: Annotated[
        str,
        typer.Argument(
            help="Rows of JSON, one output each (text, tool_calls, tool_results, model, ts); .gz too; - is stdin."
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    baseline: Annotated[int | None, typer.Option(help="Outputs of the start that say what is normal.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw each guard's score: OUT.png, or .svg or .pdf.")] = None,
    explain: Annotated[int | None, typer.Option(help="Explain this row instead: what each guard sees in it.")] = None,
    acknowledge: Annotated[
        list[str] | None, typer.Option(help="A text that is an answer by design; repeat it.")
    ] = None,
    written: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOOL.ARGUMENT",
            help="An argument whose text is judged too, as for an agent's own notes: vault.append.text; repeat it. "
            "With :whole behind it, it holds a whole page each time.",
        ),
    ] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Count bad rows and go on.")] = False,
) -> None:
    """Show a transcript to the guards; exit code 0 when nothing tripped, 3 when something did, 2 on bad input."""
    by_tool = _written(written or ())
    try:
        panel = standard(baseline, acknowledge or (), by_tool)
    except ValueError as wrong:
        raise UsageError(f"--baseline: {wrong}") from None
    _agree(explain, plot, as_json)
    begun = time.perf_counter()
    reading = Reading(file, skip_bad=skip_bad)
    if explain is not None:
        _explain(explain, judged(reading.rows(), panel), file, panel.written)
        return
    done, scores = Replayed(), Scores()
    unseen = [(tool, argument) for tool, listed in by_tool.items() for argument in listed]
    for _, verdicts in judged(_noted(reading.rows(), unseen), panel):
        done.hear(verdicts)
        if plot is not None:
            scores.add(verdicts)
    seconds = time.perf_counter() - begun
    if plot is not None:
        draw(scores, plot, Path(file).name)
    _warn(file, reading, unseen)
    if as_json:
        typer.echo(json.dumps(done.as_json(seconds)))
    else:
        _show(done, seconds)
    if done.trips:
        raise typer.Exit(TRIPPED)


def _agree(explain: int | None, plot: Path | None, as_json: bool) -> None:
    """Refuse before the work what could not be done after it."""
    if explain is not None and (as_json or plot is not None):
        raise UsageError("--explain prints one row in words: leave out --json and --plot")
    if plot is not None:
        check(plot)


def _written(given: Iterable[str]) -> dict[str, list[str]]:
    """Return the arguments by tool."""
    found: dict[str, list[str]] = {}
    for name in given:
        tool, _, argument = name.rpartition(".")
        try:
            declared({tool: argument})
        except ValueError:
            expected = "expected TOOL.ARGUMENT, such as vault.append.text"
            raise UsageError(f"--written: {expected}, not {name[:60]!r}") from None
        found.setdefault(tool, []).append(argument)
    return found


def _noted(rows: Iterable[Row], unseen: list[tuple[str, str]]) -> Iterator[Row]:
    """Yield the rows, and take out of `unseen` the arguments of tools that hold a text in them."""
    for row in rows:
        for tool, argument in unseen[:]:
            if any(held(call, {tool: [argument]}) for call in row.output.calls):
                unseen.remove((tool, argument))
        yield row


def _warn(file: str, reading: Reading, unseen: Iterable[tuple[str, str]]) -> None:
    """Say on standard error what was not judged."""
    if reading.bad:
        skipped = counted(reading.bad, "bad row")
        typer.echo(f"{file}: {skipped} skipped, the first at line {reading.first_bad}", err=True)
    for tool, argument in unseen:
        typer.echo(f"--written {tool}.{argument}: no call in {file} holds such a text", err=True)


def _show(done: Replayed, seconds: float) -> None:
    both = [*done.trips, *done.warnings]
    for row, verdict in sorted(both, key=lambda pair: pair[0]):
        _tell(row, verdict)
    first = "nothing tripped" if done.first_trip is None else f"the first trip at row {done.first_trip}"
    found = (counted(done.rows, "row"), counted(len(done.trips), "trip"), counted(len(done.warnings), "warning"))
    typer.echo(f"{', '.join(found)}, {first}; {seconds:.2f} s")


def _tell(row: int, verdict: Verdict) -> None:
    typer.echo(f"row {row}  {verdict.level!s:<4}  {verdict.guard} {verdict.score:.2f}  {verdict.reason}")
    if verdict.hint:
        typer.echo(f"    hint: {verdict.hint}")


def _explain(wanted: int, rows: Iterator[tuple[Row, tuple[Verdict, ...]]], file: str, written: Written) -> None:
    before: deque[tuple[int, str]] = deque(maxlen=LOOK_BACK)
    for number, (row, verdicts) in enumerate(rows):
        if number == wanted:
            return _explained(wanted, row, verdicts, before, words(row.output.calls, written))
        before.append((number, f"{row.output.text}\n{words(row.output.calls, written)}"))
    raise UsageError(f"--explain: {file} has no row {wanted}; rows are counted from 0")


def _explained(
    wanted: int, row: Row, verdicts: tuple[Verdict, ...], before: deque[tuple[int, str]], writes: str
) -> None:
    called = ", ".join(quote(call.name, 40) for call in row.output.calls) or "nothing"
    typer.echo(f"row {wanted}: {len(row.output.text)} characters, calls {called}: {quote(row.output.text, 200)}")
    if writes:
        typer.echo(f"    writes {quote(writes, 200)}")
    for verdict in sorted(verdicts, key=lambda v: (v.level, v.score), reverse=True):
        if verdict.level is Level.PASS:
            typer.echo(f"  pass  {verdict.guard} {verdict.score:.2f}")
            continue
        _tell(wanted, verdict)
        for span in verdict.evidence:
            _same_before(span, before)


def _same_before(span: str, before: deque[tuple[int, str]]) -> None:
    alike = [number for number, text in before if span.lower() in text.lower()]
    rows = ", ".join(map(str, alike[-SHOWN:])) or "none"
    more = f" and {len(alike) - SHOWN} before" if len(alike) > SHOWN else ""
    typer.echo(f"    {quote(span, 80)} stood in {len(alike)} of the {len(before)} outputs before: rows {rows}{more}")
