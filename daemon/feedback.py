"""What a person decided on the agent's writing reaches the agent: from the vault's history into the database.

The history is the truth, so that nothing is lost when a review is killed between the two; a rejection leaves nothing in
the history and is written down first.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path

from daemon.memory import decided, run_of
from daemon.trajectories.database import Database
from daemon.trajectories.feedback import SqlFeedback
from daemon.types import Feedback
from vault import Vault
from vault.proposals import Proposal


async def settle(vault: Vault, database: Database) -> int:
    """Write down the decisions in the vault's history that the database does not have; return how many.

    Raises StorageError.
    """
    kept = SqlFeedback(database)
    known = await kept.known()
    new = await asyncio.to_thread(lambda: list(decided(vault, known)))
    for said in reversed(new):
        await kept.record(said)
    return len(new)


def settle_now(vault: Vault, file: Path) -> int:
    """Do the same for a command, where there is a database; an agent that never ran has nobody to tell."""
    if not file.exists():
        return 0
    database = Database.open(file)
    try:
        return asyncio.run(settle(vault, database))
    finally:
        database.close()


def rejected(file: Path, proposal: Proposal, person: str, at: datetime, why: str) -> None:
    """Write down that a person rejects a proposal.  Raises StorageError."""
    run = run_of(proposal.made)
    if run is None or not file.exists():
        return
    patch = "".join(change.patch for change in proposal.changes)
    said = Feedback(at, person, "rejected", run, proposal.tip, proposal.paths, why, patch)
    database = Database.open(file)
    try:
        asyncio.run(SqlFeedback(database).record(said))
    finally:
        database.close()
