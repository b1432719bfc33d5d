"""`status`, `explain` and the rows of heartbeats, on an agent whose daemon runs, is paused, or died."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from daemon.cli.overview import overview
from daemon.cli.root import command
from daemon.clock import SystemClock
from daemon.home import Home
from daemon.trajectories.database import Database
from daemon.trajectories.ledger import SqlLedger
from daemon.trajectories.packing import stamp
from daemon.trajectories.recorder import SqlRecorder
from daemon.types import Heartbeat, Outcome, Run, Schedule

NOW = datetime.now(UTC).replace(microsecond=0)
LOOK = Heartbeat("look", Schedule(every=timedelta(minutes=30)), "Look.", "look")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An agent directory with one heartbeat."""
    place = Home(tmp_path)
    place.settings.write_text('name = "test"\n')
    place.heartbeats.mkdir(parents=True)
    (place.heartbeats / "look.md").write_text("---\nevery: 30m\n---\nLook.\n")
    monkeypatch.setenv("TRIMTAB_DIR", str(tmp_path))
    return place


def remember(place: Home, due: datetime, next_due: datetime | None = None, outcome: Outcome | None = None) -> None:
    """Write a run of `look` into the database; without an outcome it is open."""
    database = Database.open(place.database)

    async def story() -> None:
        occurrence = await SqlLedger(database, SystemClock()).claim("look", due, next_due=next_due)
        assert occurrence is not None
        run = Run("01RUN", occurrence, "look", due)
        recorder = SqlRecorder(database)
        await recorder.begin(run, LOOK)
        if outcome is not None:
            await recorder.finish(replace(run, ended_at=NOW, outcome=outcome, reason="for a reason"), [])

    asyncio.run(story())
    database.close()


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command prints."""
    assert 0 == command(list(arguments))
    return capsys.readouterr().out


def test_an_open_run_that_nobody_carries_out_is_no_running_one(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """While somebody holds the directory it is running; when nobody does, it was probably interrupted."""
    remember(home, NOW)
    with home.held():
        assert ("running", {"running": 1}) == outcomes(home)
        assert "  running  (run 01RUN)" in said(capsys, "explain", "look")

    assert ("interrupted?", {"interrupted?": 1}) == outcomes(home)
    assert "interrupted?" in said(capsys, "status")
    assert "interrupted?  (run 01RUN)" in said(capsys, "explain", "look")
    assert "interrupted?" == json.loads(said(capsys, "explain", "look", "--json"))[0]["outcome"]


def outcomes(place: Home) -> tuple[object, object]:
    """The last outcome of `look`, and those of the last day."""
    (row,) = overview(place).heartbeats
    return row["last_outcome"], row["last_day"]


def test_a_paused_agent_says_whether_it_runs(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """The first line of `status` has both facts, also before there is a database."""
    home.switch.write_text("holiday")
    assert said(capsys, "status").startswith("test: not running; paused (holiday)")
    with home.held():
        assert said(capsys, "status").startswith(f"test: running, process {home.holder()}; paused (holiday)")


def test_the_last_run_is_told_whole(home: Home) -> None:
    """Outcome, start and reason are those of the last run; a heartbeat without problem has None there."""
    remember(home, NOW, outcome=Outcome.FAILED)
    (row,) = overview(home).heartbeats

    assert ("failed", stamp(NOW), "for a reason", {"failed": 1}, None) == tuple(
        row[key] for key in ("last_outcome", "last_started", "last_reason", "last_day", "problem")
    )


def test_the_next_due_time_is_the_planned_one(home: Home) -> None:
    """A running daemon's plan counts; of one that is gone only what is overdue does, otherwise the file."""
    ahead = NOW + timedelta(days=300)
    remember(home, NOW, ahead)
    with home.held():
        assert stamp(ahead) == overview(home).heartbeats[0]["next_due"]
    assert overview(home).heartbeats[0]["next_due"] <= stamp(datetime.now(UTC) + timedelta(minutes=31))


def test_an_overdue_time_stays_until_the_next_start(home: Home) -> None:
    """What nobody has judged yet is what is due next."""
    overdue = NOW - timedelta(hours=2)
    remember(home, overdue - timedelta(minutes=30), overdue)

    assert stamp(overdue) == overview(home).heartbeats[0]["next_due"]
