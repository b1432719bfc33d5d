"""A vault under kill -9: nothing acknowledged is lost, nothing is torn, the next start goes on."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from pathlib import Path

from tests.nursery import Nursery
from vault import Vault
from vault.journal import Journal

Git = Callable[..., str]

KILLS = 40


def numbers(path: Path) -> list[int]:
    """The numbers that a writer has left in a note."""
    return [int(line[2:]) for line in path.read_text().splitlines() if line.startswith("- ")]


def test_kills_at_any_moment_lose_nothing(vault: Vault, git: Git) -> None:
    """After each of 40 kills: acknowledged notes are there once, fsck is clean, status is true, no lock is left."""
    (vault.root / "journal.md").write_text("# Journal\n")
    chance = random.Random(20261120)
    acknowledged, ended_landings, commit_seconds = 0, 0, 0.03
    with Nursery("tests.vault.writer", str(vault.root)) as nursery:
        for _ in range(KILLS):
            nursery.bear()
            for _ in range(chance.randint(0, 2)):
                began = time.monotonic()
                acknowledged = int(nursery.said().split()[1])
                commit_seconds = time.monotonic() - began
            timer = threading.Timer(chance.uniform(0, 1.5) * commit_seconds, nursery.kill)
            timer.start()
            for line in nursery.last_words():
                acknowledged = int(line.split()[1])
            timer.join()

            ended_landings += Journal(vault.root / ".git/trimtab/journal").owed()[0] is not None
            Vault.open(vault.root).close()

            kept = numbers(vault.root / "journal.md")
            assert kept == list(range(1, len(kept) + 1))
            assert acknowledged <= len(kept) <= acknowledged + 1
            acknowledged = len(kept)
            assert git("status", "--porcelain").strip() in {"", "?? journal.md"}
            assert not list((vault.root / ".git").rglob("*.lock"))
            assert not list((vault.root / ".git/objects").glob("tmp_*"))
    assert "missing" not in git("fsck", "--full", "--strict")
    written = git("log", "--format=%s", "main").splitlines()
    assert [f"number {n}" for n in range(acknowledged, 0, -1)] == [line for line in written if "number" in line]
    assert numbers(vault.root / "deep/er/note-0.md") == [n for n in range(1, acknowledged + 1) if n % 5 == 0]
    assert acknowledged > KILLS / 2
    assert ended_landings, "no kill hit the moment between the branch and the files: the test proves too little"
