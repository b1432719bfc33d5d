"""The real daemon in a process of its own, on a scripted model: what its user sees of it from outside."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_process import AgentProcess, make_agent

pytestmark = pytest.mark.process

SETTINGS = """name = "tester"
[models.local]
backend = "scripted"
loop = true
replies = [
  {text = "", calls = [{name = "host", args = {what = "load"}}]},
  {text = "", calls = [{name = "vault", args = {action = "append", path = "journal", text = "looked at the load"}}]},
  "The load was looked at and noted in the journal.",
]
"""
WATCH = """---
every: 1h
tools: [host, vault]
expect: [host, vault]
---
Look at the load and note it.
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An agent directory with one heartbeat and a scripted model."""
    make_agent(tmp_path / "agent", SETTINGS, {"watch": WATCH})
    return tmp_path / "agent"


@contextlib.contextmanager
def running(home: Path) -> Iterator[AgentProcess]:
    """A daemon that is ready; killed at the end if it still lives."""
    agent = AgentProcess(home)
    try:
        agent.wait_ready()
        yield agent
    finally:
        if agent.process.poll() is None:
            agent.kill()


def trimtab(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one command on the agent directory."""
    command = [sys.executable, "-m", "daemon", "--dir", str(home), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def git(home: Path, *arguments: str) -> str:
    """Ask plain git about the vault."""
    return subprocess.run(["git", "-C", home / "vault", *arguments], capture_output=True, text=True, check=True).stdout


def rows(home: Path, question: str) -> list[tuple[object, ...]]:
    """Ask the database."""
    with contextlib.closing(sqlite3.connect(home / "trimtab.db")) as book:
        return book.execute(question).fetchall()


def log(home: Path) -> list[dict[str, object]]:
    """The daemon's log lines."""
    lines = (home / "bench.log").read_text().splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def test_a_beat_leaves_a_note_a_commit_a_trajectory_and_metrics(home: Path) -> None:
    """One heartbeat is seen in the vault, in git, in the database and in /metrics, and they agree."""
    with running(home) as agent:
        run = agent.beat("watch")
        address = next(str(line["metrics"]) for line in log(home) if line["event"] == "daemon.started")
        metrics = urllib.request.urlopen(f"{address}/metrics", timeout=5).read().decode()
        assert agent.stop() == 0

    assert run["outcome"] == "ok"
    assert run["said"] == "The load was looked at and noted in the journal."
    page = next((home / "vault/journal").glob("*.md")).read_text()
    assert "watch: looked at the load" in page
    assert f"Trimtab-Run: {run['run']}" in git(home, "log", "-1", "--format=%B")
    assert git(home, "rev-parse", "HEAD").strip() == run["commit"]
    assert git(home, "status", "--porcelain") == ""
    assert rows(home, "SELECT outcome, steps FROM run") == [("ok", 3)]
    assert 'trimtab_runs_total{heartbeat="watch",outcome="ok"} 1.0' in metrics
    assert 'trimtab_tool_calls_total{result="ok",tool="vault"} 1.0' in metrics


def test_the_next_start_continues_the_same_thread(home: Path) -> None:
    """After a stop and a start the thread holds what was said before."""
    for _ in range(2):
        with running(home) as agent:
            agent.beat("watch")
            agent.stop()

    shown = trimtab(home, "threads", "show", "watch", "--json")
    assert sum(message["role"] == "user" for message in json.loads(shown.stdout)) == 2


def test_a_second_daemon_is_refused_in_one_line(home: Path) -> None:
    """Two daemons on one directory: the second says who holds it and exits 75."""
    with running(home) as agent:
        second = trimtab(home, "run")

    assert second.returncode == 75
    assert str(agent.process.pid) in second.stderr
    assert len(second.stderr.strip().splitlines()) == 1


def test_an_edited_heartbeat_takes_effect_without_a_restart(home: Path) -> None:
    """A heartbeat file that is dropped in is run; one that becomes bad is not, and says why."""
    with running(home) as agent:
        (home / "vault/heartbeats/often.md").write_text(WATCH.replace("1h", "1s"))
        _until(
            lambda: rows(home, "SELECT 1 FROM run JOIN occurrence o ON o.id = occurrence_id WHERE heartbeat = 'often'")
        )
        (home / "vault/heartbeats/often.md").write_text(WATCH.replace("every: 1h", "every: soon"))
        _until(lambda: [line for line in log(home) if line["event"] == "heartbeat.rejected"])
        assert agent.beat("watch")["outcome"] == "ok"

    line = next(line for line in log(home) if line["event"] == "heartbeat.rejected")
    assert "heartbeats/often.md: every:" in str(line["problem"])


def test_sigterm_in_the_middle_of_a_run_records_it(home: Path) -> None:
    """A run that cannot end in time is written down as interrupted, and the daemon exits 0."""
    slow = SETTINGS.replace("loop = true", "loop = true\ndelay = 30").replace("[models", "drain_seconds = 0.5\n[models")
    (home / "trimtab.toml").write_text(slow)
    (home / "vault/heartbeats/watch.md").write_text(WATCH.replace("1h", "1s"))
    with running(home) as agent:
        _until(lambda: rows(home, "SELECT 1 FROM run"))
        assert agent.stop() == 0

    assert set(rows(home, "SELECT outcome FROM run")) == {("interrupted",)}


def test_kill_nine_in_the_middle_of_a_run_loses_no_row(home: Path) -> None:
    """What a killed daemon left open is ended as interrupted by the next one, and nothing runs twice."""
    (home / "trimtab.toml").write_text(SETTINGS.replace("loop = true", "loop = true\ndelay = 30"))
    (home / "vault/heartbeats/watch.md").write_text(WATCH.replace("1h", "1s"))
    with running(home) as agent:
        _until(lambda: rows(home, "SELECT 1 FROM run"))
        agent.kill()
    (home / "vault/heartbeats/watch.md").write_text(WATCH)
    with running(home) as agent:
        agent.stop()

    assert rows(home, "SELECT count(*) FROM run WHERE outcome IS NULL") == [(0,)]
    assert rows(home, "SELECT count(*) FROM occurrence GROUP BY heartbeat, scheduled_for HAVING count(*) > 1") == []


def _until(holds: object, seconds: float = 20) -> None:
    """Wait for something that the daemon does by itself."""
    assert callable(holds)
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)


def test_a_beat_that_is_under_way_at_the_stop_is_answered(home: Path) -> None:
    """Whoever waits for a run when the daemon is stopped gets its end or is told, and the daemon exits 0."""
    (home / "trimtab.toml").write_text(SETTINGS.replace("loop = true", "loop = true\ndelay = 1"))
    with running(home) as agent:
        command = [sys.executable, "-m", "daemon", "--dir", str(home), "beat", "watch"]
        waiting = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        _until(lambda: rows(home, "SELECT 1 FROM run"))
        assert agent.stop() == 0
        said = "".join(waiting.communicate(timeout=30))

    assert "watch: ok" in said or "was stopped" in said
    assert "Traceback" not in said


def test_a_broken_heartbeat_does_not_stop_the_others(home: Path) -> None:
    """A file with a mistake is refused with one line, also as the first to run, and the daemon goes on."""
    (home / "vault/heartbeats/bad.md").write_text(WATCH.replace("every: 1h", "every: 1h\nbogus: 1"))
    with running(home) as agent:
        assert agent.beat("watch")["outcome"] == "ok"
        refused = trimtab(home, "beat", "bad")

    assert refused.returncode == 78
    assert "heartbeats/bad.md: bogus:" in refused.stderr


def test_what_is_left_alone_in_the_vault_is_said_at_the_start(home: Path) -> None:
    """A file that is too large is a line in the log, and the agent works beside it."""
    with (home / "vault/huge.md").open("wb") as huge:
        huge.truncate(1 << 30)
    with running(home) as agent:
        assert agent.beat("watch")["outcome"] == "ok"

    said = [line["what"] for line in log(home) if line["event"] == "vault.left_alone"]
    assert said == ["notes over 256 kB: 1 (huge.md)"]


def test_while_a_person_works_in_the_vault_the_agent_rests(home: Path) -> None:
    """A daemon starts on a branch that is not its own, runs nothing there, says why, and goes on by itself."""
    git(home, "switch", "-q", "-c", "proposals/mine")
    with running(home) as agent:
        refused = trimtab(home, "beat", "watch")
        assert refused.returncode != 0
        assert "HEAD is on 'proposals/mine', the agent writes to 'main': run `git switch main`" in refused.stderr
        assert "run `git switch main`" in trimtab(home, "explain", "watch").stdout

        git(home, "switch", "-q", "main")
        assert agent.beat("watch")["outcome"] == "ok"

    halted = [line for line in log(home) if line["event"] == "scheduler.halted"]
    assert len(halted) == 1
    assert git(home, "log", "-1", "--format=%s", "main").startswith("watch: ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[models.local", "trimtab.toml: not valid TOML"),
        ('[models.local]\nbackend = "scriptd"', "models.local.backend"),
        ('[models.local]\nbackend = "scripted"\nlop = true', "models.local.lop: unknown key; did you mean 'loop'?"),
        ('[models.local]\nbackend = "llama_cpp"\npath = "gone.gguf"', "gone.gguf"),
        ('[models.local]\nbackend = "scripted"\n[guards.loop]\nx = 1', "has no option 'x'"),
    ],
)
def test_a_bad_configuration_is_one_line_and_78(home: Path, text: str, expected: str) -> None:
    """systemd does not restart on 78, and the line says file, key and what was expected."""
    (home / "trimtab.toml").write_text(text)
    done = trimtab(home, "run")

    assert done.returncode == 78
    assert expected in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_database_from_the_future_is_left_alone(home: Path) -> None:
    """A newer schema is named with both numbers, and nothing is touched."""
    with contextlib.closing(sqlite3.connect(home / "trimtab.db")) as book:
        book.execute("PRAGMA user_version = 7")
    before = (home / "trimtab.db").read_bytes()
    done = trimtab(home, "run")

    assert done.returncode == 78
    assert "schema 7 is newer" in done.stderr
    assert before == (home / "trimtab.db").read_bytes()
