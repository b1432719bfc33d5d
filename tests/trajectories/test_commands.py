"""`trimtab trajectories` and `trimtab threads`, as a person calls them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from daemon.cli import threads, trajectories
from daemon.errors import StorageError, UsageError
from daemon.trajectories.jsonl_reading import record_from
from daemon.types import Message, Outcome, ToolCall
from tests.trajectories.scenes import ASK, NOON, SqlKept, begun, calling, ended, wait

Call = Callable[..., Result]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Call `trimtab` in an agent directory and return what it said; a failure raises."""
    (tmp_path / "trimtab.toml").write_text('name = "test"\n')
    monkeypatch.setenv("TRIMTAB_DIR", str(tmp_path))
    groups = {"trajectories": trajectories.app, "threads": threads.app}

    def call(group: str, *arguments: str) -> Result:
        result = CliRunner().invoke(groups[group], list(arguments), catch_exceptions=True)
        if isinstance(result.exception, Exception) and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


@pytest.fixture
def lived(sql: SqlKept) -> SqlKept:
    """An agent that ran twice; the database lies where the commands look."""

    async def story() -> None:
        for number, outcome in ((1, Outcome.OK), (2, Outcome.TRIPPED)):
            run = await begun(sql, number)
            await sql.recorder.step(run, calling(1))
            reason = "" if outcome is Outcome.OK else "repeat: \x1b[31mtwice"
            await sql.recorder.finish(ended(run, outcome, reason=reason, steps=1), (ASK, Message("assistant", "So.")))

    wait(story())
    return sql


def test_an_agent_that_never_ran_has_empty_listings(call: Call) -> None:
    """Before the first run there is nothing to list or to export, and that is no error."""
    assert "[]\n" == call("trajectories", "list", "--json").stdout
    assert "[]\n" == call("threads", "list", "--json").stdout
    assert "" == call("trajectories", "export").stdout
    with pytest.raises(UsageError, match="has not run"):
        call("trajectories", "show", "last")


def test_runs_are_listed_for_people_and_for_programs(call: Call, lived: SqlKept) -> None:
    """The newest comes first; the keys are the project's words; no control character reaches a terminal."""
    text = call("trajectories", "list").stdout
    rows = json.loads(call("trajectories", "list", "--json").stdout)

    assert ["tripped", "ok"] == [row["outcome"] for row in rows]
    assert "2026-12-01T12:05:00.000000Z" == rows[1]["scheduled_for"]
    assert "run-2  host-watch  tripped  1 steps" in text
    assert "\x1b" not in text
    assert ["run-2"] == [
        row["run"] for row in json.loads(call("trajectories", "list", "--json", "--limit", "1").stdout)
    ]


def test_a_run_is_told_step_by_step(call: Call, lived: SqlKept) -> None:
    """What was sent, said, called and answered, and what the guards thought of it."""
    text = call("trajectories", "show", "last").stdout

    for part in ("run-2", "outcome tripped", "< user: Look at the load.", "> I look.", "calls host", "= host: 0.42"):
        assert part in text
    assert "! repeat warn 0.90: twice the same" in text
    assert not [c for c in text if not c.isprintable() and c != "\n"]


def test_a_run_is_shown_in_full_as_json(call: Call, lived: SqlKept) -> None:
    """`--json` gives the lossless line of the export."""
    record = record_from(call("trajectories", "show", "run-1", "--json").stdout)

    assert (calling(1),) == record.steps


def test_a_run_that_does_not_exist_is_one_line(call: Call, lived: SqlKept) -> None:
    """A wrong id says where the right ones are."""
    with pytest.raises(UsageError, match="no run 'run-9': `trimtab trajectories list`"):
        call("trajectories", "show", "run-9")


def test_an_export_goes_to_a_file_whole(call: Call, lived: SqlKept, tmp_path: Path) -> None:
    """The file is there when all is written, holds every run in order, and equals what goes to standard output."""
    out = tmp_path / "runs.jsonl"

    assert f"2 runs written to {out}" in call("trajectories", "export", "--out", str(out)).stdout
    assert ["run-1", "run-2"] == [record_from(line).run.id for line in out.read_text().splitlines()]
    assert out.read_text() == call("trajectories", "export", "--format", "jsonl").stdout
    assert [] == list(tmp_path.glob("*.part"))


def test_an_export_is_filtered(call: Call, lived: SqlKept) -> None:
    """By heartbeat, and by the time that a run began."""
    since = (NOON + timedelta(minutes=10)).isoformat()

    assert 1 == len(call("trajectories", "export", "--since", since).stdout.splitlines())
    assert "" == call("trajectories", "export", "--heartbeat", "other").stdout


def test_an_export_that_cannot_be_written_leaves_the_old_one(call: Call, lived: SqlKept, tmp_path: Path) -> None:
    """A missing directory is one line."""
    with pytest.raises(StorageError, match="cannot be written: No such file"):
        call("trajectories", "export", "--out", str(tmp_path / "nowhere/runs.jsonl"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90m", NOON - timedelta(minutes=90)),
        ("24h", NOON - timedelta(hours=24)),
        ("7d", NOON - timedelta(days=7)),
        ("2026-11-30T10:00Z", datetime(2026, 11, 30, 10, tzinfo=UTC)),
        (None, None),
    ],
)
def test_since_is_an_age_or_a_time(text: str | None, expected: datetime | None) -> None:
    """`--since` understands what a person would type."""
    assert expected == trajectories.moment(text, lambda: NOON)


@pytest.mark.parametrize("text", ["", "yesterday", "-3d", "٣d", "99999999d", "2026-13-01"])
def test_a_since_that_means_nothing_is_one_line(text: str) -> None:
    """A typing error does not become an empty export."""
    with pytest.raises(UsageError, match="expected a date, a time or an age"):
        trajectories.moment(text)


def test_an_unknown_format_names_the_known_ones(call: Call) -> None:
    """A wrong --format is one line with the choices."""
    with pytest.raises(UsageError, match="--format xml: expected one of feedback, jsonl"):
        call("trajectories", "export", "--format", "xml")


def test_threads_are_listed_and_shown(call: Call, lived: SqlKept) -> None:
    """A thread's history is there in full; what the model no longer sees is marked."""
    wait(lived.threads.compact("watch", Message("user", "Earlier."), 1))
    (row,) = json.loads(call("threads", "list", "--json").stdout)

    assert ("watch", 5, 2, 2) == tuple(row[key] for key in ("thread", "messages", "live_messages", "runs"))
    assert "watch  5 messages, 2 live, 2 runs" in call("threads", "list").stdout
    assert ". user host-watch: Look at the load." in call("threads", "show", "watch").stdout
    assert [False, False, False, True, True] == [
        entry["live"] for entry in json.loads(call("threads", "show", "watch", "--json").stdout)
    ]
    with pytest.raises(UsageError, match="no thread 'nobody'"):
        call("threads", "show", "nobody")


def test_hostile_text_is_printed_harmlessly(call: Call, sql: SqlKept) -> None:
    """Half a surrogate pair, control characters and a change of direction end no listing and steer no terminal."""
    hostile = "\u202e\x9b31m\x1b]0;owned\x07"
    message = Message("assistant", hostile, (ToolCall("c", hostile, {"what": "\ud800" + hostile}),))

    async def story() -> None:
        run = await begun(sql)
        await sql.recorder.step(run, replace(calling(1), sent=(message,)))
        await sql.recorder.finish(ended(run, Outcome.FAILED, reason=hostile), (message,))

    wait(story())
    commands = [("trajectories", "show", "last"), ("trajectories", "list"), ("threads", "show", "watch")]
    for command in [*commands, *[(*command, "--json") for command in commands]]:
        assert not [c for c in call(*command).stdout if not c.isprintable() and c != "\n"], command
