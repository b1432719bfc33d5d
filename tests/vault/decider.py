"""Lives to kill: each proposes, approves, reverts and reviews for as long as it lasts.

After each act it says what it did: `proposed N`, `approved N`, `reverted N`, `reviewed N`, N growing over all lives.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from tests.nursery import Say, rear
from vault import Author, Vault, VaultError
from vault.proposals import Proposals
from vault.revert import revert
from vault.review import Review

WHEN = datetime(2026, 11, 20, 21, 17, tzinfo=UTC)


def decide_for_ever(root: Path, start: int, say: Say) -> None:
    """Act until killed; only what is on the disk is acknowledged."""
    vault = Vault.open(root)
    agent, person = Author(*vault.agent, WHEN), vault.person(WHEN)
    desk = Proposals(vault)
    review = Review(vault, lambda commit: commit.author.name == agent.name)
    for number in count(start):
        draft = vault.draft()
        draft.append("AGENTS.md", f"- rule {number}")
        draft.append("journal.md", f"- {number}")
        draft.append(f"notes/{number}.md", f"Note {number}.")
        kept = draft.commit(f"run {number}", {"Trimtab-Run": str(number)}, agent)
        assert kept is not None
        say(f"proposed {number}")
        for waiting in desk.waiting():
            desk.approve(waiting, person)
        say(f"approved {number}")
        written = vault.git.find(kept.commit)
        assert written is not None
        if number % 2:
            try:
                revert(vault, written, f"no {number}", person)
            except VaultError as wrong:
                os.write(2, f"{wrong}\n".encode())
                raise
            say(f"reverted {number}")
        review.approve([written.id])
        say(f"reviewed {number}")


if __name__ == "__main__":
    rear(lambda line, say: decide_for_ever(Path(sys.argv[1]), int(line), say))
