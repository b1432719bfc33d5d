"""Proposals, approvals, reverts and reviews under kill -9: every acknowledged decision stands, nothing is torn."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from vault import Vault
from vault.proposals import Proposals

Git = Callable[..., str]

KILLS = 40
DECIDER = Path(__file__).with_name("decider.py")


def test_kills_lose_no_decision(vault: Vault, git: Git) -> None:
    """After each of 40 kills: what was acknowledged stands, fsck is clean, status is true, no lock is left."""
    chance = random.Random(20261121)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    nursery = subprocess.Popen(
        [sys.executable, str(DECIDER), str(vault.root)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    assert nursery.stdin is not None
    assert nursery.stdout is not None
    done: dict[str, set[int]] = {"proposed": set(), "approved": set(), "reverted": set(), "reviewed": set()}
    number, moments = 1, set[str]()
    with nursery:
        for _ in range(KILLS):
            nursery.stdin.write(f"{number}\n")
            nursery.stdin.flush()
            life = int(nursery.stdout.readline().split()[1])
            timer = threading.Timer(chance.uniform(0.02, 0.35), os.kill, (life, signal.SIGKILL))
            timer.start()
            last = "begun"
            while (line := nursery.stdout.readline()) != "dead\n":
                last, which = line.split()
                done[last].add(int(which))
                number = int(which)
            timer.join()
            moments.add(last)
            number += 2  # the one after the last may have been begun

            with Vault.open(vault.root) as again:
                waiting = {line for each in Proposals(again).waiting() for line in each.changes[0].patch.split("\n")}
            rules = git("show", "HEAD:AGENTS.md").splitlines()
            for n in done["proposed"]:
                assert f"- rule {n}" in rules or f"+- rule {n}" in waiting
            assert all(rules.count(f"- rule {n}") == 1 for n in done["approved"])
            assert not any((vault.root / f"notes/{n}.md").exists() for n in done["reverted"])
            assert all((vault.root / f"notes/{n}.md").exists() for n in done["reviewed"] - done["reverted"])
            assert git("status", "--porcelain") == ""
            assert not list((vault.root / ".git").rglob("*.lock"))
        nursery.stdin.close()
    assert "missing" not in git("fsck", "--full", "--strict")
    assert all(len(rows) > 5 for rows in done.values())
    assert len(moments) > 3, "the kills hit too few moments: the test proves too little"
