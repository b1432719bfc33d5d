"""`trimtab heartbeats` on an agent directory."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from daemon import settings
from daemon.cli.doctor import of_settings
from daemon.cli.root import command
from daemon.errors import ConfigError, UsageError
from daemon.home import Home

KEYS = ["name", "schedule", "thread", "paused", "next_due", "last_outcome", "last_started", "last_reason", "last_day",
        "problem"]  # fmt: skip


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent directory with a live, a paused and a bad heartbeat."""
    (tmp_path / "trimtab.toml").write_text('name = "test"\ntimezone = "Europe/Berlin"\n')
    folder = tmp_path / "vault" / "heartbeats"
    folder.mkdir(parents=True)
    (folder / "look.md").write_text("---\nevery: 30m\n---\nLook.\n")
    (folder / "rest.md").write_text("---\ncron: 0 9 * * 1\nthread: none\npaused: true\n---\nRest.\n")
    (folder / "wrong.md").write_text("---\nevery: often\n---\n")
    monkeypatch.setenv("TRIMTAB_DIR", str(tmp_path))
    return tmp_path


def listed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """What `list --json` prints."""
    assert 0 == command(["heartbeats", "list", "--json"])
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


def test_every_file_is_listed(agent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One row for each file, good or bad, with the same keys."""
    look, rest, wrong = listed(capsys)

    assert KEYS == list(look) == list(wrong)
    assert ("look", "every 30m, Europe/Berlin", None, False, "look", None) == (
        look["name"], look["schedule"], look["last_outcome"], look["paused"], look["thread"], look["problem"],
    )  # fmt: skip
    assert timedelta(0) < datetime.fromisoformat(str(look["next_due"])) - datetime.now(UTC) <= timedelta(minutes=30)
    assert ("cron 0 9 * * 1, Europe/Berlin", None, True, None) == (
        rest["schedule"], rest["next_due"], rest["paused"], rest["thread"],
    )  # fmt: skip
    assert str(look["next_due"]).endswith("Z")
    assert "heartbeats/wrong.md: every: expected a duration" in str(wrong["problem"])
    assert 0 == command(["status", "--json"])
    assert [look, rest, wrong] == json.loads(capsys.readouterr().out)


def test_the_table_is_for_people(agent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --json each heartbeat is a line."""
    command(["heartbeats", "list"])
    look, rest, wrong = capsys.readouterr().out.splitlines()

    assert look.startswith("look ")
    assert "every 30m" in look
    assert "paused" in rest
    assert "BAD  heartbeats/wrong.md: every:" in wrong


def test_an_empty_folder_says_so(agent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No file is no row, and a sentence on a terminal."""
    for path in (agent / "vault" / "heartbeats").iterdir():
        path.unlink()
    assert [] == listed(capsys)

    command(["heartbeats", "list"])
    assert "no heartbeats in" in capsys.readouterr().out


def test_nothing_of_a_file_reaches_the_terminal_raw(agent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A key or a file name with an escape sequence is spelled out, in the table and where pausing is refused."""
    folder = agent / "vault" / "heartbeats"
    (folder / "wrong.md").write_text('---\n"ev\\e[2Jry": 5m\n---\nx\n')
    (folder / "a\x1b[31m.md").write_text("---\nevery: 5m\n---\nx\n")
    command(["heartbeats", "list"])

    assert all(line.isprintable() for line in capsys.readouterr().out.splitlines())
    with pytest.raises(ConfigError) as refused:
        command(["heartbeats", "pause", "a\x1b[31m"])
    assert str(refused.value).isprintable()


def test_an_unknown_model_is_the_problem_of_its_heartbeat(agent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The listing and the doctor know which models and tools there are."""
    path = agent / "vault" / "heartbeats" / "wrong.md"
    path.write_text("---\nevery: 5m\ntools: [hots]\n---\nx\n")

    assert "tools: expected one of" in str(listed(capsys)[2]["problem"])
    _, of_heartbeats, *_ = of_settings(Home(agent), settings.load(agent))
    assert "wrong.md: tools: expected one of" in of_heartbeats().text


def test_a_heartbeat_can_be_paused_and_resumed(agent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file says so, the list says so, and doing it twice is no mistake."""
    path = agent / "vault" / "heartbeats" / "look.md"
    said = []
    for verb in ("pause", "pause", "resume", "resume"):
        assert 0 == command(["heartbeats", verb, "look"])
        said.append((capsys.readouterr().out.strip(), listed(capsys)[0]["paused"]))

    assert [
        ("look: paused", True), ("look: was paused already", True),
        ("look: resumed", False), ("look: was not paused already", False),
    ] == said  # fmt: skip
    assert "---\nevery: 30m\npaused: false\n---\nLook.\n" == path.read_text()


def test_a_wrong_name_and_a_bad_file_are_refused(agent: Path) -> None:
    """A name that is not there gets the near one; a bad file gets its own line."""
    with pytest.raises(UsageError, match=r"no heartbeat is called 'lok'.*did you mean 'look'"):
        command(["heartbeats", "pause", "lok"])
    with pytest.raises(UsageError, match="no heartbeat is called"):
        command(["heartbeats", "pause", "../../trimtab"])
    with pytest.raises(ConfigError, match="every: expected a duration"):
        command(["heartbeats", "resume", "wrong"])
