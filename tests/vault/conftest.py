"""What the vault's tests share: a vault, an author, and plain git."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.vault.remotes import NOW, cloned, review_of, run
from vault import Author, Vault
from vault.sync import Remote, Sync

Git = Callable[..., str]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the git configuration of whoever runs the tests out of plain git's view."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def author() -> Author:
    """The agent, at a fixed time."""
    return Author("trimtab", "trimtab@localhost", datetime(2026, 11, 20, 21, 17, tzinfo=UTC))


@pytest.fixture
def vault(tmp_path: Path, author: Author) -> Vault:
    """A vault of Ann's with an instruction, a heartbeat and a note."""
    made = Vault.create(tmp_path / "vault", "trimtab", "trimtab@localhost")
    for key, value in (("user.name", "Ann Lee"), ("user.email", "ann@example.org")):
        subprocess.run(["git", "config", key, value], cwd=made.root, check=True)
    notes = {
        "AGENTS.md": "You look after this host.\n",
        "heartbeats/host-watch.md": "---\nevery: 5m\n---\nLook.\n",
        "people/ann.md": "# Ann\n\nAnn likes tea.\nShe lives in Bonn.\n",
    }
    made.plant(notes, "Begin")
    return made


@pytest.fixture
def git(vault: Vault) -> Git:
    """Plain git on the vault, as a person would call it."""

    def call(*arguments: str, check: bool = True) -> str:
        done = subprocess.run(["git", *arguments], cwd=vault.root, capture_output=True, text=True, check=False)
        assert not check or done.returncode == 0, done.stderr
        return done.stdout

    return call


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    """An empty bare repository."""
    run("git", "init", "-q", "--bare", "--initial-branch=main", "remote.git", cwd=tmp_path)
    return tmp_path / "remote.git"


@pytest.fixture
def sync(vault: Vault, remote: Path) -> Sync:
    """The vault's exchanges with that repository."""
    return Sync(vault, Remote(str(remote), "main"), review_of(vault), lambda: NOW)


@pytest.fixture
def laptop(tmp_path: Path, remote: Path, sync: Sync) -> Path:
    """Ann's clone on another machine, after a first exchange."""
    sync.run()
    return cloned(remote, tmp_path / "laptop")


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """An empty bare repository that git daemon and http-backend may serve, also to write."""
    run("git", "init", "-q", "--bare", "--initial-branch=main", "served.git", cwd=tmp_path)
    for key, value in (("daemon.receivepack", "true"), ("http.receivepack", "true")):
        run("git", "config", key, value, cwd=tmp_path / "served.git")
    (tmp_path / "served.git/git-daemon-export-ok").touch()
    return tmp_path / "served.git"
