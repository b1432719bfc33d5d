"""Git's index changed entry by entry: plain git reads from it what a list of all entries would say."""

from __future__ import annotations

import contextlib
import random
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from vault import Author, Vault
from vault.index import Entry, Unfamiliar, is_whole, relisted

Git = Callable[..., str]
Names = Callable[[], str]


@pytest.fixture
def names() -> Names:
    """Paths that are next to each other in every order that git knows: by bytes, by folder, long and not ASCII."""
    dice = random.Random(4)
    parts = ["a", "b", "aa", "a-b", "a.b", "ä", "x" * 70]

    def name() -> str:
        return "/".join(dice.choice(parts) for _ in range(dice.randint(1, 4))) + ".md"

    return name


def listed(git: Git) -> dict[str, str]:
    """What plain git reads: {path: mode and id}."""
    lines = git("ls-files", "-s", "-z").split("\0")[:-1]
    return {line.split("\t", 1)[1]: line.split("\t", 1)[0] for line in lines}


def put(vault: Vault, index: bytes) -> None:
    """Let this be the index."""
    (vault.root / ".git/index").write_bytes(index)


def fill(vault: Vault, git: Git, names: Names) -> None:
    """Forty notes by hand."""
    for _ in range(40):
        note = vault.root / names()
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(f"{note.name}\n")
    git("add", "-A")
    git("commit", "-qm", "by hand")


@pytest.mark.parametrize("hint", ["right", "wrong", "none"])
def test_any_series_of_changes_reads_as_git_would_list_it(vault: Vault, git: Git, names: Names, hint: str) -> None:
    """Sets and removals in any order, among a person's own: the same entries, the same tree, a clean fsck."""
    fill(vault, git, names)
    dice, blob = random.Random(5), vault.git.store(b"agent\n")
    for _ in range(25):
        before = listed(git)
        paths = {dice.choice(sorted(before)) if dice.random() < 0.6 else names() for _ in range(dice.randint(1, 3))}
        taken = {p for p in paths if any(o.startswith(f"{p}/") or p.startswith(f"{o}/") for o in before)}
        changes = {
            p.encode(): None if dice.random() < 0.3 else Entry(0o100644, bytes.fromhex(blob)) for p in paths - taken
        }
        known = sorted(name.encode() for name in before)

        def right(path: bytes, known: list[bytes] = known) -> bytes | None:
            return max((name for name in known if name < path), default=None)

        def wrong(path: bytes, known: list[bytes] = known) -> bytes | None:
            return dice.choice(known)

        hints: Mapping[str, Callable[[bytes], bytes | None]] = {"right": right, "wrong": wrong, "none": lambda _: None}
        put(vault, b"".join(relisted((vault.root / ".git/index").read_bytes(), changes, hints[hint])))
        expected = dict(before)
        for path, entry in changes.items():
            expected.pop(path.decode(), None)
            if entry is not None:
                expected[path.decode()] = f"100644 {blob} 0"

        assert listed(git) == expected
        git("fsck", "--full", "--strict")
        tree = git("write-tree")
        put(vault, (vault.root / ".git/index").read_bytes())
        (vault.root / ".git/fresh").unlink(missing_ok=True)
        lines = "".join(f"{what.split(' ')[0]} {what.split(' ')[1]} 0\t{path}\0" for path, what in expected.items())
        environment = {"GIT_INDEX_FILE": str(vault.root / ".git/fresh"), "PATH": "/usr/bin:/bin"}
        for call in (["update-index", "-z", "--index-info"], ["write-tree"]):
            done = subprocess.run(
                ["git", *call], cwd=vault.root, input=lines, env=environment, capture_output=True, text=True, check=True
            )
        assert done.stdout == tree
        if dice.random() < 0.3:
            git("status")


def test_what_a_person_has_staged_stays(vault: Vault, git: Git, author: Author) -> None:
    """New, changed and removed entries of a person's next commit are still staged after a commit of the agent's."""
    (vault.root / "staged.md").write_text("staged\n")
    (vault.root / "people/ann.md").write_text("changed\n")
    git("add", "staged.md", "people/ann.md")
    git("rm", "-q", "--cached", "heartbeats/host-watch.md")
    before = git("diff", "--cached", "--name-status")
    draft = vault.draft()
    draft.write("people/aaa.md", "agent\n")
    draft.write("zzz.md", "agent\n")
    assert draft.commit("agent", {}, author) is not None

    assert git("diff", "--cached", "--name-status") == before
    assert git("diff", "--name-status") == ""


def test_a_mark_that_hides_a_change_is_taken_off(vault: Vault, git: Git, author: Author) -> None:
    """`--skip-worktree` and `--assume-unchanged` blind plain git; a note that is written is looked at again."""
    git("update-index", "--skip-worktree", "people/ann.md")
    (vault.root / "people/ann.md").write_text("hidden\n")
    assert git("status", "--porcelain") == ""
    draft = vault.draft()
    draft.append("people/ann.md", "agent")
    kept = draft.commit("agent", {}, author)

    assert kept is not None
    assert kept.person is not None
    assert "S people/ann.md" not in git("ls-files", "-v")
    (vault.root / "people/ann.md").write_text("once more\n")
    assert git("status", "--porcelain") == " M people/ann.md\n"


@pytest.mark.parametrize("kind", ["version 4", "split", "untracked cache", "many files"])
def test_other_kinds_of_index(vault: Vault, git: Git, author: Author, kind: str) -> None:
    """An index with compressed names or a cache is kept true; a split one is git's own affair, and we say so."""
    calls = {
        "version 4": ["update-index", "--index-version", "4"],
        "split": ["update-index", "--split-index"],
        "untracked cache": ["update-index", "--untracked-cache"],
        "many files": ["config", "feature.manyFiles", "true"],
    }
    git(*calls[kind])
    git("status")
    draft = vault.draft()
    draft.write("new/note.md", "agent\n")
    draft.append("people/ann.md", "agent")
    kept = draft.commit("agent", {}, author)

    assert kept is not None
    assert (vault.root / "new/note.md").read_text() == "agent\n"
    if kind == "split":
        assert "index" in kept.remarks[0]
    else:
        assert git("status", "--porcelain") == ""


@pytest.mark.parametrize("index", [b"", b"DIRC", b"DIRC\0\0\0\x02\0\0\0\x05" + b"x" * 40, b"\0" * 400])
def test_what_is_no_index_is_not_taken_for_one(index: bytes) -> None:
    """Damage is an Unfamiliar index, never a crash or a wrong one."""
    with pytest.raises(Unfamiliar):
        relisted(index, {b"a.md": None}, lambda _: None)
    assert not is_whole(index)


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_index_never_crashes_us(vault: Vault, git: Git, names: Names, seed: int) -> None:
    """Bytes turned over anywhere give an index or Unfamiliar, and nothing else."""
    fill(vault, git, names)
    index = bytearray((vault.root / ".git/index").read_bytes())
    dice = random.Random(seed)
    for _ in range(dice.randint(1, 6)):
        index[dice.randrange(len(index))] = dice.randrange(256)
    with contextlib.suppress(Unfamiliar):
        changes = {b"people/ann.md": None, b"q.md": Entry(0o100644, b"1" * 20)}
        assert is_whole(b"".join(relisted(bytes(index), changes, lambda _: None)))


def test_a_mixture_of_two_indexes_is_made_anew(vault: Vault, author: Author, git: Git) -> None:
    """A power cut between two pages leaves an entry with half of an id; the checksum at the end tells."""
    index = vault.root / ".git/index"
    data = bytearray(index.read_bytes())
    data[data.index(b"people/ann.md") - 12] ^= 0xFF
    with Vault.open(vault.root) as again:
        index.write_bytes(data)
        draft = again.draft()
        draft.write("a.md", "a\n")
        assert draft.commit("a", {}, author) is not None

    git("fsck", "--full")
    assert git("status", "--porcelain") == ""


def test_a_torn_index_is_made_anew(vault: Vault, author: Author, git: Git, tmp_path: Path) -> None:
    """An index that no git can read is replaced by one of the whole commit at the next write."""
    (vault.root / ".git/index").write_bytes(b"\0" * 500)
    draft = vault.draft()
    draft.write("a.md", "a\n")
    assert draft.commit("a", {}, author) is not None

    assert git("status", "--porcelain") == ""
