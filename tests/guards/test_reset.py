"""`trimtab guards reset` forgets what a thread's guards and breakers remember, and nothing else."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner

from daemon.cli.guards import app, forget
from daemon.errors import UsageError
from daemon.trajectories.database import Database
from daemon.trajectories.guard_states import SqlGuardStates
from guards import Breaker, Panel

KEPT = {**Panel.standard().state(), "breaker:repeat": Breaker().state()}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with the states of two threads."""
    path = tmp_path / "trimtab.db"
    opened = Database.open(path)
    for thread in ("night", "day"):
        asyncio.run(SqlGuardStates(opened).save(thread, KEPT))
    opened.close()
    return path


def left(path: Path) -> set[tuple[str, str]]:
    opened = Database.open(path)
    try:
        return {(thread, guard) for thread, guard, _ in asyncio.run(SqlGuardStates(opened).all())}
    finally:
        opened.close()


def test_a_guard_goes_with_its_breaker(database: Path) -> None:
    """Resetting one guard of one thread forgets its memory and its breaker there, and leaves the rest."""
    assert asyncio.run(forget(database, "night", "repeat")) == 2
    gone = {("night", "repeat"), ("night", "breaker:repeat")}
    assert left(database) == {(thread, guard) for thread in ("night", "day") for guard in KEPT} - gone


def test_a_thread_goes_as_a_whole(database: Path) -> None:
    """Resetting a thread leaves the others alone."""
    assert asyncio.run(forget(database, "night", None)) == len(KEPT)
    assert {thread for thread, _ in left(database)} == {"day"}


def test_an_agent_that_never_ran_has_nothing_to_forget(tmp_path: Path) -> None:
    """No database is made where there was none."""
    assert asyncio.run(forget(tmp_path / "none.db", None, None)) == 0
    assert not (tmp_path / "none.db").exists()


def test_an_unknown_guard_is_a_usage_error() -> None:
    """The message names the guards that there are."""
    outcome = CliRunner().invoke(app, ["reset", "--guard", "nothing"])
    assert isinstance(outcome.exception, UsageError) or outcome.exit_code == 2
    assert "nothing" in f"{outcome.exception}"
