"""What the tests of syncing share: a review, a laptop that pushes, an agent that notes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from vault import Author, Commit, Vault
from vault.address import Access
from vault.review import Review
from vault.sync import Remote, Sync, Synced
from vault.transport import Limits

Git = Callable[..., str]
NOW = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)


def review_of(vault: Vault) -> Review:
    """The review of a vault in which a commit with a run in its trailers, or the agent's name, is the agent's."""

    def by_agent(commit: Commit) -> bool:
        return "\nTrimtab-Run: " in commit.message or (commit.author.name, commit.author.email) == vault.agent

    return Review(vault, by_agent)


def run(*command: str | Path, cwd: Path) -> str:
    """The output of one command that must succeed."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def cloned(remote: Path, place: Path) -> Path:
    """Ann's clone on another machine."""
    run("git", "clone", "-q", remote, place, cwd=remote)
    for key, value in (("user.name", "Ann Lee"), ("user.email", "ann@example.org")):
        run("git", "config", key, value, cwd=place)
    return place


def pushed(laptop: Path, path: str, text: str, *options: str) -> None:
    """Ann writes a file on her laptop, commits and pushes it."""
    (laptop / path).parent.mkdir(parents=True, exist_ok=True)
    (laptop / path).write_text(text)
    run("git", "add", "-A", cwd=laptop)
    run("git", "commit", "-q", *options, "-m", f"write {path}", cwd=laptop)
    run("git", "push", "-q", "origin", "HEAD:main", cwd=laptop)


def noted(vault: Vault, author: Author, path: str, text: str, number: str = "01RUN") -> str:
    """A run of the agent's appends to a note; the commit."""
    draft = vault.draft()
    draft.append(path, text)
    kept = draft.commit(f"note {path}", {"Trimtab-Run": number}, author)
    assert kept is not None
    return kept.commit


def log(remote: Path) -> list[str]:
    """Who wrote what on the remote, the oldest first."""
    return run("git", "log", "--reverse", "--format=%an: %s", "main", cwd=remote).splitlines()


def clean(git: Git) -> None:
    """`git status` and `git fsck` have nothing to say."""
    assert git("status", "--porcelain") == ""
    assert "missing" not in git("fsck", "--full", "--strict")


def sync_of(vault: Vault, url: str, access: Access | None = None, seconds: float = 30) -> Sync:
    """The vault's exchanges with an address."""
    return Sync(vault, Remote(url, "main", access or Access(), Limits(seconds)), review_of(vault), lambda: NOW)


def both_ways(vault: Vault, sync: Sync, bare: Path, author: Author) -> None:
    """Push, write on both sides, exchange again, and find both on both sides."""
    assert sync.run() == Synced(pushed=1)
    laptop = vault.root.parent / "laptop"
    run("git", "clone", "-q", bare, laptop, cwd=vault.root.parent)
    for key, value in (("user.name", "Ann Lee"), ("user.email", "ann@example.org")):
        run("git", "config", key, value, cwd=laptop)
    pushed(laptop, "plan.md", "# Plan\n")
    noted(vault, author, "journal.md", "Looked.")

    done = sync.run()

    assert (done.taken, done.pushed) == (1, 1)
    assert (vault.root / "plan.md").read_text() == "# Plan\n"
    assert log(bare)[1:] == ["Ann Lee: write plan.md", "trimtab: note journal.md"]
