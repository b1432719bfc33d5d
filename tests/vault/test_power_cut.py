"""What a power cut leaves: pages that had not reached the disk are gone, and the journal makes the vault whole again.

A cut is made by hand: the journal says that the system has been started anew, and what was not synced is torn, taken
back or missing.
"""

from __future__ import annotations

import contextlib
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from vault import Author, Vault, VaultError
from vault.journal import CAPACITY, Journal
from vault.landing import Landing

Git = Callable[..., str]


def write(vault: Vault, author: Author, number: int) -> str:
    """Commit one line to two notes."""
    draft = vault.draft()
    draft.append("journal.md", f"- {number}")
    draft.append(f"days/{number % 3}.md", f"- {number}")
    kept = draft.commit(f"number {number}", {}, author)
    assert kept is not None
    return kept.commit


def cut_power(vault: Vault) -> None:
    """Let the journal be one of an earlier start of the system."""
    journal = Journal(vault.own / "journal")
    records = journal.records()
    journal.restart()
    journal.boot = "another start"
    end = 0
    for record in records:
        place = journal.append(record.landing, record.objects)
        assert place is not None
        end = place[1]
    journal.settle(end)
    (vault.own / "looked-through").unlink()


@pytest.mark.parametrize("seed", range(6))
def test_whatever_had_not_reached_the_disk_is_made_whole(vault: Vault, git: Git, author: Author, seed: int) -> None:
    """Torn or missing objects, an old or empty branch, old files and a torn index: every commit is there again."""
    dice = random.Random(seed)
    old = {name: (vault.root / ".git" / name).read_bytes() for name in ("refs/heads/main", "index")}
    commits = [write(vault, author, number) for number in range(5)]
    cut_power(vault)
    kept = {identity for record in Journal(vault.own / "journal").records() for identity in record.objects}
    for identity in dice.sample(sorted(kept), len(kept) // 2):
        place = vault.root / ".git/objects" / identity[:2] / identity[2:]
        place.chmod(0o644)
        if dice.random() < 0.6:
            place.write_bytes(dice.choice([b"", b"\0" * 50, place.read_bytes()[: place.stat().st_size // 2]]))
        else:
            place.unlink()
    branch = vault.root / ".git/refs/heads/main"
    branch.write_bytes(dice.choice([b"", old["refs/heads/main"], f"{commits[2]}\n".encode()]))
    (vault.root / ".git/logs/refs/heads/main").write_bytes(b"")
    (vault.root / ".git/index").write_bytes(dice.choice([b"", old["index"], b"\0" * 300]))
    (vault.root / "journal.md").write_text(dice.choice(["", "- 0\n- 1\n", "\0\0\0"]))

    opened = Vault.open(vault.root)

    assert git("rev-parse", "main").strip() == commits[-1]
    assert (vault.root / "journal.md").read_text() == "".join(f"- {number}\n" for number in range(5))
    assert git("fsck", "--full", "--strict") == ""
    assert git("status", "--porcelain") == ""
    assert any("went down" in notice for notice in opened.notices)
    assert not Journal(vault.own / "journal").records()


def test_an_orderly_restart_is_not_worth_a_word(vault: Vault, author: Author) -> None:
    """When everything had reached the disk, nothing is changed and nothing is said."""
    newest = write(vault, author, 1)
    cut_power(vault)

    opened = Vault.open(vault.root)

    assert opened.head == newest
    assert opened.notices == []


def test_a_person_who_went_back_is_not_overruled(vault: Vault, git: Git, author: Author) -> None:
    """A `git reset` before the restart stays, although the journal knows of newer commits."""
    first = write(vault, author, 1)
    write(vault, author, 2)
    git("reset", "-q", "--hard", first)
    cut_power(vault)

    opened = Vault.open(vault.root)

    assert opened.head == first
    assert (vault.root / "journal.md").read_text() == "- 1\n"
    assert git("status", "--porcelain") == ""


def test_an_edit_by_hand_after_the_last_commit_stays(vault: Vault, git: Git, author: Author) -> None:
    """What a person wrote since is never taken for a file that the power cut tore."""
    write(vault, author, 1)
    (vault.root / "journal.md").write_text("- 1\nby hand\n")
    cut_power(vault)

    Vault.open(vault.root)

    assert (vault.root / "journal.md").read_text() == "- 1\nby hand\n"
    assert git("status", "--porcelain") == " M journal.md\n"


def test_a_full_journal_becomes_packs_and_begins_anew(vault: Vault, git: Git, author: Author) -> None:
    """A thousand commits leave few loose objects, all of them readable, and a journal of the same size."""
    for number in range(40):
        draft = vault.draft()
        draft.write("large.md", f"{number}\n" + "".join(random.Random(number).choices("abcdefghij \n", k=100_000)))
        draft.commit(f"number {number}", {}, author)

    counts = dict(line.split(": ") for line in git("count-objects", "-v").splitlines())
    assert int(counts["in-pack"]) > 60
    assert int(counts["count"]) < 100
    assert (vault.own / "journal").stat().st_size == CAPACITY
    assert git("fsck", "--full", "--strict") == ""
    assert git("rev-list", "--count", "main").strip() == "41"


def test_a_commit_larger_than_the_journal_is_kept(vault: Vault, git: Git, author: Author) -> None:
    """A thousand notes of a megabyte and more in one commit are synced one by one, and land."""
    notes = {f"many/{number}.md": random.Random(number).randbytes(2000).hex() for number in range(600)}
    kept = vault.plant(notes, "Many", author)

    assert kept is not None
    assert len(kept.paths) == 600
    assert git("status", "--porcelain") == ""


def test_a_journal_that_cannot_be_kept_moves_no_branch(vault: Vault, author: Author) -> None:
    """A record that was taken back is gone, and one before it that is still owed stays."""
    journal = Journal(vault.own / "journal")
    landing = Landing("main", "0" * 40, {"a.md": (None, "1" * 40)})
    later = Landing("main", "2" * 40, {"b.md": (None, "3" * 40)})
    first, second = journal.append(landing, {"4" * 40: b"object"}), journal.append(later, {})
    assert first is not None
    assert second is not None
    assert journal.owed()[0] == later

    journal.take_back(second[0])

    assert journal.owed() == (landing, first[1])
    journal.settle(first[1])
    assert journal.owed()[0] is None
    assert [record.landing for record in journal.records()][1:] == [landing]


def test_the_disk_may_be_full(tmp_path: Path, author: Author) -> None:
    """On a full disk nothing is torn and the reason is said; when there is room again, the same vault goes on."""
    probe = tmp_path / "mounted"
    probe.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", probe], check=False, capture_output=True)
    if mounted.returncode:
        pytest.skip("no small file system can be mounted here")
    try:
        _fill_and_go_on(probe, author)
    finally:
        subprocess.run(["umount", probe], check=True)


def _fill_and_go_on(place: Path, author: Author) -> None:
    vault = Vault.create(place / "vault", "trimtab", "trimtab@localhost")
    write(vault, author, 0)
    fillers, number, refused = list[Path](), 1, 0
    dice = random.Random(3)
    done = [0]
    for round_number in range(120):
        filler = place / f"filler-{round_number}"
        with contextlib.suppress(OSError):
            filler.write_bytes(bytes(dice.choice([1000, 30_000, 200_000])))
        fillers.append(filler)
        try:
            write(vault, author, number)
        except VaultError:
            refused += 1
            if refused % 5 == 0:
                for each in fillers:
                    each.unlink(missing_ok=True)
                write(vault, author, number)
                done.append(number)
                number += 1
        else:
            done.append(number)
            number += 1
    for each in fillers:
        each.unlink(missing_ok=True)
    vault = Vault.open(vault.root)
    write(vault, author, number)
    done.append(number)
    lines = [int(line[2:]) for line in (vault.root / "journal.md").read_text().splitlines()]
    assert refused > 5
    assert sorted(set(lines)) == done
    assert len(lines) == len(set(lines))
    said = subprocess.run(
        ["git", "fsck", "--full", "--strict"], cwd=vault.root, capture_output=True, text=True, check=True
    )
    assert "missing" not in said.stdout + said.stderr
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=vault.root, capture_output=True, text=True, check=True
    )
    assert status.stdout == ""
