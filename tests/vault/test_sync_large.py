"""Large files that a person has committed with plain git: synced beside, spoken of, and never read into memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.vault.remotes import Git, noted, pushed, run
from vault import Author, Vault
from vault.sync import Sync
from vault.transport import SyncFailed

SIZE = 20 * 1024 * 1024


def film(vault: Vault, git: Git) -> None:
    """A person commits a film."""
    with (vault.root / "film.mp4").open("wb") as file:
        file.write(b"here")
        file.truncate(SIZE)
    git("add", "film.mp4")
    git("commit", "-qm", "film")


def test_it_is_pushed_and_said(vault: Vault, sync: Sync, remote: Path, author: Author, git: Git) -> None:
    """The agent commits and syncs beside it; a line about it comes once, also where it was taken away again."""
    film(vault, git)
    git("rm", "-q", "film.mp4")
    git("commit", "-qm", "too late")
    noted(vault, author, "journal.md", "Looked.")

    done = sync.run()

    assert done.remarks == (
        "'film.mp4' was committed with 20,971,520 bytes: the remote may refuse it, and no other vault takes more than "
        "16,777,216",
    )
    assert run("git", "rev-parse", "main", cwd=remote).strip() == vault.head
    noted(vault, author, "journal.md", "Looked again.")
    assert sync.run().remarks == ()


def test_it_is_named_where_the_push_fails(vault: Vault, sync: Sync, remote: Path, git: Git) -> None:
    """A remote that refuses it, as many do, leaves a reason with the file in it."""
    film(vault, git)
    hook = remote / "hooks/pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)

    with pytest.raises(SyncFailed, match=r"refused the push.*; 'film.mp4' was committed with 20,971,520 bytes"):
        sync.run()


def test_it_is_not_read_where_both_sides_have_one(vault: Vault, sync: Sync, laptop: Path, git: Git) -> None:
    """Where two clash each is in git under a name of its own; the file stays as it was, and lines say so."""
    film(vault, git)
    pushed(laptop, "film.mp4", "there")

    done = sync.run()

    assert (vault.root / "film.mp4").stat().st_size == SIZE
    assert git("show", "HEAD:film.mp4") == "there"
    assert git("cat-file", "-s", "HEAD:film.local-1.mp4").strip() == str(SIZE)
    assert any("`git checkout HEAD -- film.local-1.mp4` brings it" in line for line in done.remarks)
    git("checkout", "HEAD", "--", "film.local-1.mp4", "film.mp4")
    assert git("status", "--porcelain") == ""
