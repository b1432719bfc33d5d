"""Proposals, approvals, reverts and reviews under kill -9: every acknowledged decision stands, nothing is torn."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

from tests.nursery import Nursery
from vault import Vault
from vault.proposals import Proposals

Git = Callable[..., str]

KILLS = 40


def test_kills_lose_no_decision(vault: Vault, git: Git) -> None:
    """After each of 40 kills: what was acknowledged stands, fsck is clean, status is true, no lock is left."""
    chance = random.Random(20261121)
    done: dict[str, set[int]] = {"proposed": set(), "approved": set(), "reverted": set(), "reviewed": set()}
    number, moments = 1, set[str]()
    with Nursery("tests.vault.decider", str(vault.root)) as nursery:
        for _ in range(KILLS):
            nursery.bear(str(number))
            timer = threading.Timer(chance.uniform(0.02, 0.35), nursery.kill)
            timer.start()
            last = "begun"
            for line in nursery.last_words():
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
    assert "missing" not in git("fsck", "--full", "--strict")
    assert all(len(rows) > 5 for rows in done.values())
    assert len(moments) > 3, "the kills hit too few moments: the test proves too little"
