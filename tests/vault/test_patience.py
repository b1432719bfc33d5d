"""A vault in the middle of a person's work, and one that is no vault: what is said, and what goes on."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from vault import Author, NotAVault, Vault

Git = Callable[..., str]


def test_a_patient_vault_opens_in_the_middle_of_a_persons_work(vault: Vault, git: Git, author: Author) -> None:
    """It says what it waits for, touches nothing, not even a lock, and writes once the branch is its own again."""
    stale = vault.root / ".git/index.lock"
    git("switch", "-q", "-c", "mine")
    stale.touch()

    with Vault.open(vault.root, patient=True) as again:
        assert again.unready() is not None
        assert "run `git switch main`" in str(again.unready())
        assert stale.exists()
        stale.unlink()
        git("switch", "-q", "main")
        assert again.unready() is None
        draft = again.draft()
        draft.write("a.md", "a\n")
        assert draft.commit("a", {}, author) is not None


def test_a_bare_clone_is_named_as_what_it_is(vault: Vault, tmp_path: Path) -> None:
    """A directory that a bare clone took the place of is told from one that is no repository at all."""
    subprocess.run(["git", "clone", "-q", "--bare", vault.root, tmp_path / "bare"], check=True)

    with pytest.raises(NotAVault, match="a bare repository: a vault needs its notes as files"):
        Vault.open(tmp_path / "bare")


def test_a_head_that_cannot_be_read_is_waited_for_too(vault: Vault) -> None:
    """Whoever asks whether the vault is ready hears what is wrong, and nothing is raised."""
    head = vault.root / ".git/HEAD"
    before = head.read_text()
    head.write_text("")
    assert "HEAD cannot be read" in str(vault.unready())

    head.write_text(before)
    assert vault.unready() is None
