"""`trimtab sync`: one exchange by hand, and what is said when it does not come about."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from daemon.cli.root import command
from daemon.errors import TrimtabError, UsageError


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new agent directory that the command line stands in."""
    assert command(["init", str(tmp_path / "agent")]) == 0
    monkeypatch.setenv("TRIMTAB_DIR", str(tmp_path / "agent"))
    return tmp_path / "agent"


def test_it_says_what_it_did(agent: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """How many commits came and went; the second time none."""
    subprocess.run(["git", "init", "-q", "--bare", "--initial-branch=main", tmp_path / "remote.git"], check=True)
    with (agent / "trimtab.toml").open("a") as settings:
        settings.write(f'\n[sync]\nurl = "{tmp_path / "remote.git"}"\n')
    capsys.readouterr()

    assert command(["sync"]) == 0
    assert capsys.readouterr().out == "0 commits taken, 1 pushed\n"
    assert command(["sync", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"taken": 0, "pushed": 0, "proposals": [], "remarks": []}]


def test_without_a_remote_it_says_what_is_missing(agent: Path) -> None:
    """Without [sync] there is nothing to do, and it is told where that would stand."""
    with pytest.raises(UsageError, match=r"names no remote: give it a \[sync\] table"):
        command(["sync"])


def test_a_failure_has_its_reason(agent: Path, tmp_path: Path) -> None:
    """The reason by which the documentation sorts failures stands in the line."""
    with (agent / "trimtab.toml").open("a") as settings:
        settings.write(f'\n[sync]\nurl = "{tmp_path / "nowhere.git"}"\n')

    with pytest.raises(TrimtabError, match=r"^not synced \(missing\): "):
        command(["sync"])
