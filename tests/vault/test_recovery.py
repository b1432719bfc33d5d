"""What a crash, a full disk or another git process leaves behind, and how the vault goes on from there."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from vault import Author, Busy, Unwritable, Vault
from vault.journal import Journal
from vault.landing import Landing
from vault.locks import turn

Git = Callable[..., str]


def test_stale_locks_are_removed_and_reported(vault: Vault, author: Author) -> None:
    """Locks that a crash left behind are gone after opening, and a commit works."""
    names = ["index.lock", "HEAD.lock", "refs/heads/main.lock", "packed-refs.lock"]
    for name in names:
        (vault.root / ".git" / name).write_text("")

    opened = Vault.open(vault.root)

    assert sorted(notice.split()[-1] for notice in opened.notices) == sorted(names)
    draft = opened.draft()
    draft.write("a.md", "a\n")
    assert draft.commit("a", {}, author) is not None


def test_a_lock_of_a_living_git_is_respected(vault: Vault, git: Git, author: Author) -> None:
    """While a person's git holds the index, the commit is made all the same, and the index follows later."""
    lock = vault.root / ".git/index.lock"
    lock.write_text("")
    sleeper = subprocess.Popen(["git", "cat-file", "--batch"], cwd=vault.root, stdin=subprocess.PIPE)
    try:
        draft = vault.draft()
        draft.write("a.md", "a\n")
        kept = draft.commit("a", {}, author)
        assert kept is not None
        assert lock.exists()
        assert "behind" in kept.remarks[0]
        assert (vault.root / "a.md").read_text() == "a\n"
    finally:
        sleeper.communicate()
    lock.unlink()
    draft = vault.draft()
    draft.write("b.md", "b\n")
    draft.commit("b", {}, author)

    assert git("status", "--porcelain") == ""


def test_a_branch_that_keeps_its_lock_makes_us_say_so(vault: Vault, author: Author) -> None:
    """A branch that another git keeps locked ends in Busy; the draft keeps its notes for another try."""
    lock = vault.root / ".git/refs/heads/main.lock"
    lock.write_text("")
    sleeper = subprocess.Popen(["git", "cat-file", "--batch"], cwd=vault.root, stdin=subprocess.PIPE)
    draft = vault.draft()
    draft.write("a.md", "a\n")
    try:
        with pytest.raises(Busy):
            draft.commit("a", {}, author)
    finally:
        sleeper.communicate()

    assert not (vault.root / "a.md").exists()
    assert draft.commit("a", {}, author) is not None


def test_files_that_cannot_be_written_come_later(vault: Vault, git: Git, author: Author) -> None:
    """When the disk refuses the file after the branch has moved, the commit stands and the next one brings the file."""
    obstacle = vault.root / ".git/trimtab/note.new"
    obstacle.mkdir()
    draft = vault.draft()
    draft.append("a.md", "one")
    kept = draft.commit("one", {}, author)
    assert kept is not None
    assert "next commit" in kept.remarks[0]
    assert not (vault.root / "a.md").exists()
    draft.append("a.md", "two")
    with pytest.raises(Unwritable):
        draft.commit("two", {}, author)
    obstacle.rmdir()
    draft.commit("two", {}, author)

    assert (vault.root / "a.md").read_text() == "one\ntwo\n"
    assert git("log", "--format=%an %s", "-2").splitlines() == ["trimtab two", "trimtab one"]
    assert git("status", "--porcelain") == ""


def test_two_processes_take_turns(vault: Vault) -> None:
    """A second writer waits for the first, and says so when that takes too long."""
    lock = vault.root / ".git/trimtab/lock"
    with turn(lock), pytest.raises(Busy, match="another process"), turn(lock, attempts=2, pause=0.0):
        raise AssertionError


def test_a_landing_that_was_cut_off_is_ended(vault: Vault, git: Git, author: Author) -> None:
    """When a kill hit between the branch and the files, the next start writes the files, and keeps a later edit."""
    draft = vault.draft()
    for name in ("plain.md", "edited.md", "gone.md"):
        draft.write(name, "agent\n")
    kept = draft.commit("note", {}, author)
    assert kept is not None
    was = {name: vault.git.identity(kept.commit, name) for name in kept.paths}
    git("rm", "-q", "--cached", *kept.paths)
    (vault.root / "plain.md").unlink()
    (vault.root / "edited.md").write_text("person\n")
    old = vault.git.store(b"old\n")
    (vault.root / "gone.md").unlink()
    paths = {
        "plain.md": (None, was["plain.md"]),
        "edited.md": (None, was["edited.md"]),
        "gone.md": (old, was["gone.md"]),
    }
    Journal(vault.root / ".git/trimtab/journal").append(Landing("main", kept.commit, paths), {})

    opened = Vault.open(vault.root)

    assert (vault.root / "plain.md").read_text() == "agent\n"
    assert (vault.root / "edited.md").read_text() == "person\nagent\n"
    assert not (vault.root / "gone.md").exists()
    assert len(opened.notices) == 1
    assert git("status", "--porcelain").splitlines() == [" M edited.md", " D gone.md"]


@pytest.mark.parametrize("left", [b"", b"trimtab", b"\0" * 100, b"trimtab\1" + b"\0" * 40])
def test_a_torn_journal_does_not_stop_the_start(vault: Vault, author: Author, left: bytes) -> None:
    """What a power cut left of our own notes to ourselves is not trusted, and a new one is begun."""
    (vault.root / ".git/trimtab/journal").write_bytes(left)

    opened = Vault.open(vault.root)

    assert opened.head == vault.head
    draft = opened.draft()
    draft.write("a.md", "a\n")
    assert draft.commit("a", {}, author) is not None
