"""`trimtab guards reset` forgets what a thread's guards and breakers remember, and nothing else."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner

from daemon.cli.guards import app, forget
from daemon.errors import UsageError
from daemon.trajectories.acts import SqlActs
from daemon.trajectories.database import Database
from daemon.trajectories.guard_states import SqlGuardStates
from guards import GUARDS, Breaker, Panel
from guards.baselines import OWN
from guards.panel import guard_class

KEPT = {**Panel.standard(written={"vault": "text"}).state(), "breaker:repeat": Breaker().state()}


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
    """Resetting one guard of one thread forgets its memory, of notes too, and its breaker there; the rest stays."""
    assert asyncio.run(forget(database, "reset", "night", ["repeat", "breaker:repeat"], "")) == 3
    gone = {("night", "repeat"), ("night", "repeat/written"), ("night", "breaker:repeat")}
    assert left(database) == {(thread, guard) for thread in ("night", "day") for guard in KEPT} - gone


def test_a_thread_goes_as_a_whole(database: Path) -> None:
    """Resetting a thread leaves the others alone."""
    assert asyncio.run(forget(database, "reset", "night", [None], "")) == len(KEPT)
    assert {thread for thread, _ in left(database)} == {"day"}


def test_every_act_is_written_down_with_who_and_why(database: Path) -> None:
    """What a person did to the guards can be read later, the newest first; nothing done is nothing written."""
    asyncio.run(forget(database, "reset", "night", [None], ""))
    asyncio.run(forget(database, "rebaseline", None, ["repeat"], "new voice\n"))
    assert asyncio.run(forget(database, "rebaseline", None, ["repeat"], "again")) == 0
    opened = Database.open(database)
    try:
        acts = asyncio.run(SqlActs(opened).newest())
    finally:
        opened.close()
    assert [(act.what, act.thread, act.guard) for act in acts] == [
        ("rebaseline", None, "repeat"),
        ("reset", "night", None),
    ]
    assert acts[0].why.strip() == "new voice"
    assert acts[0].person


@pytest.fixture
def agent(tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent directory with that database."""
    (tmp_path / "trimtab.toml").write_text("")
    monkeypatch.setenv("TRIMTAB_DIR", str(tmp_path))
    return database


def test_a_new_baseline_leaves_gates_and_breakers_alone(agent: Path) -> None:
    """Only what a sequential guard learnt of the stream is forgotten, and the command says where it is recorded."""
    outcome = CliRunner().invoke(app, ["rebaseline", "--thread", "night", "--why", "a new prompt"])
    assert outcome.exit_code == 0
    tested = {name for name in GUARDS if guard_class(name).tests} | {OWN}
    sequential = {name for name in KEPT if name.split("/")[0] in tested}
    assert {guard for thread, guard in left(agent) if thread == "night"} == set(KEPT) - sequential
    assert {guard for thread, guard in left(agent) if thread == "day"} == set(KEPT)
    assert "rebaseline of all guards on night  a new prompt" in CliRunner().invoke(app, ["acts"]).stdout


def test_a_gate_has_no_baseline(agent: Path) -> None:
    """The message says what to do instead."""
    outcome = CliRunner().invoke(app, ["rebaseline", "--guard", "loop"])
    assert isinstance(outcome.exception, UsageError)
    assert "guards reset" in str(outcome.exception)


def test_an_agent_that_never_ran_has_nothing_to_forget(tmp_path: Path) -> None:
    """No database is made where there was none."""
    assert asyncio.run(forget(tmp_path / "none.db", "reset", None, [None], "")) == 0
    assert not (tmp_path / "none.db").exists()


def test_an_unknown_guard_is_a_usage_error() -> None:
    """The message names the guards that there are."""
    outcome = CliRunner().invoke(app, ["reset", "--guard", "nothing"])
    assert isinstance(outcome.exception, UsageError) or outcome.exit_code == 2
    assert "nothing" in f"{outcome.exception}"
