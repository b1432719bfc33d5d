"""Exchanges under kill -9: both sides come together all the same."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.vault.remotes import cloned, noted, pushed, review_of, run, sync_of
from vault import Author, Vault
from vault.transport import SyncFailed

NOW = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)


def test_kills_during_exchanges_lose_nothing(vault: Vault, bare: Path, author: Author, tmp_path: Path) -> None:
    """Killed at any moment of an exchange, the vault is whole, and the next exchange brings both sides together."""
    sync = sync_of(vault, str(bare))
    sync.run()
    laptop = cloned(bare, tmp_path / "laptop")
    script = (
        "import sys; from tests.vault.remotes import sync_of; from vault import Vault\n"
        "print('on', flush=True); sync_of(Vault.open(sys.argv[1]), sys.argv[2]).run()\n"
    )
    chance, environment = random.Random(4), {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    for number in range(8):
        pushed(laptop, f"ann-{number}.md", f"{number}\n")
        noted(vault, author, "journal.md", f"Look {number}.", f"{number}RUN")
        with subprocess.Popen(
            [sys.executable, "-c", script, str(vault.root), str(bare)], stdout=subprocess.PIPE, env=environment
        ) as child:
            assert child.stdout is not None
            child.stdout.readline()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(chance.uniform(0, 0.6))
            child.kill()
        Vault.open(vault.root).close()
        assert "missing" not in run("git", "fsck", "--full", cwd=vault.root)
        for _ in range(50):  # a git of the killed exchange may still be pushing
            with contextlib.suppress(SyncFailed):
                sync.run()
                break
            time.sleep(0.1)
        run("git", "pull", "-q", "--ff-only", "origin", "main", cwd=laptop)
    assert sorted(each.name for each in vault.root.glob("ann-*.md")) == [f"ann-{n}.md" for n in range(8)]
    assert (laptop / "journal.md").read_text().splitlines() == [f"Look {n}." for n in range(8)]
    assert run("git", "status", "--porcelain", cwd=vault.root) == ""


@pytest.mark.parametrize("moment", ["replay", "mark", "advance", "approve", "_move_proposals"])
def test_a_kill_takes_no_approval_back(vault: Vault, bare: Path, author: Author, tmp_path: Path, moment: str) -> None:
    """Killed wherever approved commits are done again, the next exchange leaves them approved, and only them."""
    sync = sync_of(vault, str(bare))
    sync.run()
    laptop = cloned(bare, tmp_path / "laptop")
    noted(vault, author, "journal.md", "Look 1.", "1RUN")
    review_of(vault).approve([item.commit.id for item in review_of(vault).items()])
    noted(vault, author, "journal.md", "Look 2.", "2RUN")
    pushed(laptop, "ann.md", "Her cat is called Tom.\n")
    script = (
        "import os, signal, sys; from tests.vault.remotes import sync_of; from vault import Vault\n"
        "def end(frame, event, _):\n"
        "    if event == 'call' and frame.f_code.co_name == sys.argv[3]: os.kill(os.getpid(), signal.SIGKILL)\n"
        "sync = sync_of(Vault.open(sys.argv[1]), sys.argv[2]); sys.setprofile(end); sync.run()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", script, str(vault.root), str(bare), moment]
    assert subprocess.run(command, env=environment, check=False).returncode == -9

    with Vault.open(vault.root) as again:
        sync_of(again, str(bare)).run()
        assert [item.commit.message.split("\n")[-2] for item in review_of(again).items() if item.open] == [
            "Trimtab-Run: 2RUN"
        ]
