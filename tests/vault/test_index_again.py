"""An index that we wrote is changed once more in place of being written whole: git reads from it what it should."""

from __future__ import annotations

import mmap
import random
from collections.abc import Callable

import pytest

from vault import Author, Vault
from vault.checksum import STEP, Checksum

Git = Callable[..., str]
NAMES = [f"folder-{number // 40:02}/a-note-with-a-long-name-{number:04}.md" for number in range(2_000)]


@pytest.fixture
def many(vault: Vault, git: Git) -> Vault:
    """A vault whose index is longer than the steps of its checksum."""
    for name in NAMES:
        (vault.root / name).parent.mkdir(exist_ok=True)
        (vault.root / name).write_text(f"{name}\n")
    git("add", "-A")
    git("commit", "-qm", "by hand")
    assert (vault.root / ".git/index").stat().st_size > STEP
    return vault


def append(vault: Vault, author: Author, *paths: str, line: str = "more") -> None:
    """Commit a line at the end of some notes, without anything to remark."""
    draft = vault.draft()
    for path in paths:
        draft.append(path, line)
    kept = draft.commit("append", {}, author)
    assert kept is not None
    assert kept.remarks == ()


def is_true(git: Git) -> bool:
    """Whether plain git finds nothing changed, the index in order and the same files in it as in the commit."""
    staged = [line.split("\t")[1] + line.split(" ")[1] for line in git("ls-files", "-s").splitlines()]
    there = [line.split("\t")[1] + line.split()[2] for line in git("ls-tree", "-r", "HEAD").splitlines()]
    git("fsck", "--full")  # also checks the index's checksum
    return git("diff", "--cached", "--name-only") == "" and sorted(staged) == sorted(there)


def test_any_series_of_commits_leaves_a_true_index(many: Vault, git: Git, author: Author) -> None:
    """Old notes and new ones, one and several at once, near the beginning and the end, git's own writes between."""
    dice = random.Random(3)
    for number in range(40):
        paths = dice.choices(NAMES, k=dice.choice([1, 1, 1, 2, 5]))
        if dice.random() < 0.2:
            paths.append(f"new/{number}.md")
        append(many, author, *set(paths), line=str(number))
        if dice.random() < 0.15:
            git("status")  # writes the index anew where times have changed
        assert is_true(git)
    assert git("status", "--porcelain") == ""


def test_the_former_index_is_brought_up_to_date_rather_than_written_again(many: Vault, author: Author) -> None:
    """Two files change places from commit to commit: a third is not made."""
    files = set()
    for number in range(6):
        append(many, author, NAMES[7], NAMES[1_900], line=str(number))
        if number >= 2:
            files |= {(many.root / ".git/index").stat().st_ino, (many.own / "index.new").stat().st_ino}

    assert len(files) == 2


def test_an_index_that_another_git_is_reading_stays_as_it_is(many: Vault, git: Git, author: Author) -> None:
    """Git reads its index through a mapping; what was the index when it began is not changed under it."""
    for number in range(4):
        append(many, author, NAMES[3], line=str(number))
    with (many.root / ".git/index").open("rb") as file:
        reader = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    with reader:
        before = reader[:]
        for number in range(4):
            append(many, author, NAMES[3], line=f"then {number}")
            assert reader[:] == before
            assert is_true(git)


def test_a_copy_of_the_index_by_links_stays_as_it_is(many: Vault, git: Git, author: Author) -> None:
    """A backup made with `cp -al` shares the files: what was the index then is not changed in it."""
    for number in range(4):
        append(many, author, NAMES[3], line=str(number))
    copy = many.root.parent / "index"
    copy.hardlink_to(many.root / ".git/index")
    before = copy.read_bytes()
    for number in range(3):
        append(many, author, NAMES[3], line=f"then {number}")
        assert copy.read_bytes() == before
        assert is_true(git)


def test_a_former_index_that_was_tampered_with_is_not_used(many: Vault, git: Git, author: Author) -> None:
    """The file that lies beside the index is only believed while its end is the one that we wrote."""
    for number in range(4):
        append(many, author, NAMES[3], line=str(number))
    beside = many.own / "index.new"
    for harm in (lambda: beside.write_bytes(b"x" * beside.stat().st_size), beside.unlink):
        harm()
        append(many, author, NAMES[3], line="after")
        assert is_true(git)
        append(many, author, NAMES[3], line="and again")
        assert is_true(git)


def test_another_process_may_write_in_between(many: Vault, git: Git, author: Author) -> None:
    """Two vaults on one repository each remember an index; neither believes its memory after the other has written."""
    with Vault.open(many.root) as other:
        for number in range(12):
            append((many, other)[number // 2 % 2], author, NAMES[3], NAMES[1_000 + number], line=str(number))
            assert is_true(git)


def test_a_checksum_goes_back_to_any_place() -> None:
    """However often it goes back, it ends as the checksum of what it was last fed."""
    dice = random.Random(1)
    data, checksum = bytearray(dice.randbytes(5 * STEP + 77)), Checksum()
    checksum.feed(bytes(data))
    for _ in range(30):
        place = dice.randrange(len(data))
        data[place] ^= 1
        start = checksum.back_to(place)
        assert place - STEP < start <= place
        checksum.feed(bytes(data[start:]))
        fresh = Checksum()
        fresh.feed(bytes(data))
        assert checksum.digest() == fresh.digest()
