"""What `status` and `doctor` say of a vault: what waits for the person, and how it stands with its remote."""

from __future__ import annotations

import os
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from daemon.cli import doctor_vault
from daemon.cli.root import command
from daemon.errors import TrimtabError
from daemon.home import Home
from daemon.settings import load
from vault import Author, Vault

NOW = datetime.now(UTC)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A new agent directory that the command line stands in, with an empty bare repository beside it."""
    subprocess.run(["git", "init", "-q", "--bare", "--initial-branch=main", tmp_path / "remote.git"], check=True)
    assert command(["init", str(tmp_path / "agent")]) == 0
    monkeypatch.setenv("TRIMTAB_DIR", str(tmp_path / "agent"))
    return Home(tmp_path / "agent")


def write(home: Home, path: str, text: str, age: timedelta = timedelta()) -> None:
    """The agent writes a note, so long ago."""
    with Vault.open(home.vault) as vault:
        draft = vault.draft()
        draft.append(path, text)
        draft.commit("note", {"Trimtab-Run": "01RUN"}, Author("a", "a@localhost", NOW - age))


def remote(home: Home, url: str | Path) -> None:
    """Let the vault be synced there."""
    with home.settings.open("a", encoding="utf-8") as settings:
        settings.write(f'\n[sync]\nurl = "{url}"\n')


def status(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What `trimtab status` says of the vault."""
    capsys.readouterr()
    assert command(["status"]) == 0
    return [line for line in capsys.readouterr().out.splitlines() if line.split(":")[0] in _LINES]


_LINES = {"vault", "proposals", "review", "sync", "left alone in the vault"}


def test_status_says_that_nothing_waits(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """A new agent has nothing to review, and no remote."""
    assert status(capsys) == [
        "proposals: none waits",
        "review: nothing new",
        "sync: no remote is set; the notes are on this disk alone",
    ]


def test_status_counts_what_waits(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """Proposals with the age of the oldest, commits to review, and how to get to both."""
    write(home, "AGENTS.md", "- Be brief.", timedelta(days=4, hours=1))
    write(home, "heartbeats/more.md", "---\nevery: 1h\n---\nLook.", timedelta(hours=2))
    write(home, "journal.md", "- Looked.")

    assert status(capsys)[:2] == [
        "proposals: 2 wait, the oldest since 4 d: `trimtab vault review`",
        "review: 1 commit of the agent's to look at: `trimtab vault review`",
    ]


def test_status_says_how_the_last_exchange_ended(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In step, then out of it with the reason of the last try, then in step again and the failure forgotten."""
    url = tmp_path / "remote.git"
    remote(home, url)
    assert status(capsys)[2] == f"sync: never yet in step with {url}"
    assert command(["sync"]) == 0
    assert status(capsys)[2] == f"sync: last in step with {url} 0 s ago"

    url.rename(tmp_path / "away")
    with pytest.raises(TrimtabError):
        command(["sync"])
    line = status(capsys)[2]
    assert line.startswith(f"sync: last in step with {url} ")
    assert "failed (missing): fatal: " in line

    (tmp_path / "away").rename(url)
    assert command(["sync"]) == 0
    assert status(capsys)[2] == f"sync: last in step with {url} 0 s ago"


def test_a_key_that_cannot_be_read_is_a_failure_too(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """What keeps an exchange from beginning is remembered as what keeps it from ending."""
    with home.settings.open("a", encoding="utf-8") as settings:
        settings.write('\n[sync]\nurl = "https://git.example/notes"\ntoken = { file = "none" }\n')
    with pytest.raises(TrimtabError):
        command(["sync"])

    assert "failed (credentials): " in status(capsys)[2]


def test_status_of_a_vault_that_cannot_be_read_is_one_line(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """On a detached HEAD the rest of the status is still shown."""
    subprocess.run(["git", "-C", home.vault, "checkout", "-q", "--detach"], check=True)

    assert status(capsys) == [
        f"vault: {home.vault}: HEAD is detached: run `git switch main`",
    ]


def test_looking_changes_nothing_and_waits_for_nobody(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """Status beside a writer that holds the vault's lock is as quick as ever, and mends no lock of git's."""
    stale = home.vault / ".git/index.lock"
    with Vault.open(home.vault) as vault, vault.alone():
        stale.touch()
        began = time.monotonic()
        assert status(capsys)[1] == "review: nothing new"

        assert time.monotonic() - began < 5
        assert stale.exists()


def test_the_doctor_asks_the_remote(home: Home, tmp_path: Path) -> None:
    """Whether it answers, is empty, has something new, and what the last exchange came to."""
    settings = load(home.path)
    assert doctor_vault.remote(home, settings).text.startswith("none is set")
    remote(home, tmp_path / "remote.git")
    settings = load(home.path)
    assert "answers and is empty" in doctor_vault.remote(home, settings).text

    assert command(["sync"]) == 0
    assert doctor_vault.remote(home, settings).text == f"{tmp_path / 'remote.git'} answers"

    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", tmp_path / "remote.git", clone], check=True)
    (clone / "plan.md").write_text("# Plan\n")
    for words in (
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "plan"],
        ["push", "-q"],
    ):
        subprocess.run(["git", "-C", clone, *words], check=True)
    found = doctor_vault.remote(home, settings)
    assert (found.level, found.text) == ("ok", f"{tmp_path / 'remote.git'} answers and has something new")


@pytest.mark.parametrize(
    ("url", "reason"), [("nowhere.git", "missing: "), ("https://127.0.0.1:9/notes", "network: ")], ids=["path", "port"]
)
def test_the_doctor_says_why_a_remote_does_not_answer(home: Home, tmp_path: Path, url: str, reason: str) -> None:
    """One line with the reason, what to do, and no file left in the vault."""
    remote(home, url if "://" in url else tmp_path / url)
    before = sorted((home.vault / ".git").rglob("*"))

    found = doctor_vault.remote(home, load(home.path))

    assert found.level == "fail"
    assert found.text.startswith(reason)
    assert found.fix
    assert sorted((home.vault / ".git").rglob("*")) == before


def test_the_doctor_warns_of_what_has_waited_long(home: Home) -> None:
    """A proposal of four days is a warning, one of today is none."""
    write(home, "AGENTS.md", "- Be brief.")
    assert doctor_vault.waiting(home, load(home.path)).level == "ok"
    write(home, "AGENTS.md", "- Be brave.", timedelta(days=4))

    found = doctor_vault.waiting(home, load(home.path))

    assert found.level == "warn"
    assert found.text.startswith("proposals: 2 wait, the oldest since 4 d: ")


def test_a_wrong_table_is_one_line_of_each(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """A [sync] that cannot be understood ends neither command; both name it."""
    remote(home, "gopher://notes")

    assert status(capsys)[0].startswith("vault: trimtab.toml: sync.url: ")
    settings = load(home.path)
    assert doctor_vault.waiting(home, settings).level == "warn"
    assert doctor_vault.remote(home, settings).text.startswith("trimtab.toml: sync.url: ")


def test_status_names_what_is_left_alone(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """A name that is not UTF-8 and a file of a gigabyte are each worth a line, safe to print."""
    Path(os.fsdecode(os.fsencode(home.vault) + b"/caf\xe9\x1b[2J.md")).write_text("x")
    with (home.vault / "huge.md").open("wb") as huge:
        huge.truncate(1 << 30)

    assert [line for line in status(capsys) if line.startswith("left")] == [
        "left alone in the vault: names that are not UTF-8: 1 (caf\\xe9<U+001B>[2J.md)",
        "left alone in the vault: notes over 256 kB: 1 (huge.md)",
    ]


def test_the_doctor_names_what_a_power_cut_took(home: Home) -> None:
    """An object of git that was cut short is a failure until it is back, and is no reason to hang."""
    write(home, "a.md", "One.")
    ann = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    subprocess.run(["git", *ann, "commit", "-qm", "by hand", "--allow-empty"], cwd=home.vault, check=True)
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=home.vault, text=True).strip()
    file = home.vault / ".git/objects" / head[:2] / head[2:]
    whole = file.read_bytes()
    file.chmod(0o644)
    file.write_bytes(whole[:60])
    (home.vault / ".git/trimtab/looked-through").unlink()

    found = doctor_vault.vault(home)
    assert (found.level, found.text.split(":")[0]) == (
        "fail",
        "objects of git that were cut short when the system went down, and are missing",
    )
    file.write_bytes(whole)
    assert doctor_vault.vault(home).level == "ok"
