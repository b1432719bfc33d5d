"""What every export in the registry promises: lazy, in order, the same each time, with nothing of the run missing."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from daemon.registry import load
from daemon.trajectories import EXPORTS
from daemon.trajectories.record import RunRecord
from daemon.types import Feedback, Occurrence, Outcome, Run, ToolResult
from tests.trajectories.scenes import NOON, calling, ended, saying


@pytest.fixture(params=sorted(EXPORTS))
def export(request: pytest.FixtureRequest) -> Any:
    """Each export by its name."""
    return load("export", EXPORTS, request.param)()


def records(count: int) -> Iterator[RunRecord]:
    """Yield runs with and without ids, ended and open, good and withheld."""
    for number in range(1, count + 1):
        run = Run(f"run-{number}", Occurrence(number, "watch", NOON), "watch", NOON)
        call = calling(1).reply.calls[0]
        torn = replace(
            saying(2, "\u2028\n\r\x00 </s>"), withheld=True, results=(ToolResult(call, ok=False, text="no"),)
        )
        steps = (calling(1), torn, calling(3))
        said = Feedback(NOON, "ann", "taken_back", run.id, f"{number:040x}", ("a.md",), "It \u2028 is\nwrong.", "+a\n")
        run = ended(run, Outcome.TRIPPED) if number % 2 else run
        yield RunRecord(run, {"instruction": "Look."}, steps, feedback=(said,))


def written(export: Any, count: int) -> str:
    """Return what the export writes of so many runs."""
    out = io.StringIO()
    assert count == export.write(records(count), out)
    return out.getvalue()


def test_nothing_to_export_is_no_error(export: Any) -> None:
    """An agent that never ran exports nothing."""
    assert 0 == export.write(iter(()), io.StringIO())


def test_the_same_runs_give_the_same_bytes(export: Any) -> None:
    """An export is deterministic, and more runs only add to its end."""
    assert written(export, 3) == written(export, 3)
    assert written(export, 3).startswith(written(export, 2))


def test_runs_are_taken_one_at_a_time(export: Any) -> None:
    """A year of runs is written without being held: each is out before the next is read."""
    out, held = io.StringIO(), list[int]()

    def watched() -> Iterator[RunRecord]:
        for record in records(5):
            held.append(len(out.getvalue()))
            yield record

    export.write(watched(), out)

    assert held == sorted(set(held))


def test_every_line_is_a_strict_object_with_object_arguments(export: Any) -> None:
    """Whoever reads it needs no tolerant parser: one object a line, and no JSON inside strings."""
    lines = written(export, 4).split("\n")

    assert "" == lines.pop()
    for line in lines:
        row = json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
        assert isinstance(row, dict)
        assert '"args":{"what":"load"' in line
        assert line.isascii()
