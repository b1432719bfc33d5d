"""The long conversation in small: what is planted is found after compactions, and the arithmetic of what is read."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from thread_2000 import STEPS, converse, reread

from daemon.types import Message, Reply, Step, Usage
from tests.trajectories.scenes import NOON, SqlKept, begun, ended, wait


@pytest.mark.parametrize("summary", ["extract", "model"])
def test_names_and_open_loops_survive_a_long_conversation(tmp_path: Path, summary: str) -> None:
    """After a few compactions all that was named or left open is in the summary, the thread or the vault."""
    done = asyncio.run(converse(tmp_path, 80, summary, context=1_536))

    assert 80 == done["joined"]
    assert done["compactions"] >= 2
    for what in ("names", "loops"):
        assert done[what].planted == done[what].summary + done[what].vault
    assert done["closed_in_summary"] <= 1


def rows(*steps: tuple[str, str, int, int, int]) -> list[sqlite3.Row]:
    """Return steps as the database would: run, outcome, prompt, reused, said."""
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    question = "SELECT ? AS id, ? AS outcome, ? AS prompt, ? AS reused, ? AS said, 0 AS withheld, 0 AS anew"
    found: list[Any] = [connection.execute(question, step).fetchone() for step in steps]
    connection.close()
    return found


def test_what_is_new_is_what_no_step_before_it_had() -> None:
    """A run that failed leaves the thread as it was, and a compaction is not counted."""
    steps = (
        ("a", "ok", 100, 0, 10),
        ("b", "failed", 130, 110, 10),
        ("c", "ok", 140, 109, 10),
        ("d", "ok", 60, 20, 5),
    )

    assert {"steps": 4, "rewritten": 1, "read": 51, "new": 50, "ratio": 51 / 50} == reread(rows(*steps))


def test_steps_are_read_as_they_were_recorded(tmp_path: Path) -> None:
    """The counts are those of each step, and the outcome is that of its run."""
    kept = SqlKept(tmp_path / "trimtab.db")

    async def story() -> None:
        run = await begun(kept)
        spoken = Reply("Well.", usage=Usage(prompt=30, reused=20, completion=2))
        await kept.recorder.step(run, Step(1, NOON, (Message("user", "Look."),), spoken))
        await kept.recorder.finish(ended(run), ())
        found = await kept.database.read(lambda connection: connection.execute(STEPS).fetchall())
        assert [("run-1", "ok", 1, 30, 20, 2, 0, 0)] == [tuple(row) for row in found]

    wait(story())
    kept.close()
