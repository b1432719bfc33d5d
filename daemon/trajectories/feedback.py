"""What people did to what runs wrote: kept once, told to the agent in the next prompt of the thread that wrote it.

It counts as told when the run whose prompt said it has joined its thread; after a run that failed it is told again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from daemon.trajectories.database import Database
from daemon.trajectories.packing import clean, moment, stamp, to_json
from daemon.trajectories.rows import Fields
from daemon.types import Feedback

MOST_TOLD: Final = 5
"""How much feedback one prompt holds, the oldest first; the rest waits for the next one."""
_LONGEST_PATCH: Final = 256 * 1024

_RECORD = """
    INSERT INTO feedback (at, person, what, run, commit_id, paths, why, patch) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (what, commit_id) DO NOTHING"""
_UNTOLD = """
    SELECT feedback.* FROM feedback JOIN run ON run.id = feedback.run
    LEFT JOIN occurrence ON occurrence.id = told_in
    WHERE run.thread = ? AND (told_in IS NULL OR occurrence.outcome IS NULL
                              OR occurrence.outcome NOT IN ('ok', 'nothing_to_do'))
    ORDER BY feedback.id LIMIT ?"""
_TOLD = "UPDATE feedback SET told_in = ? WHERE id = ?"
_KNOWN = "SELECT commit_id FROM feedback WHERE what IN ('taken_back', 'approved')"


def feedback_from(row: Fields) -> Feedback:
    """Return the feedback in a row."""
    paths = tuple(json.loads(row["paths"]))
    told = (row["run"], row["commit_id"], paths, row["why"], row["patch"])
    return Feedback(moment(row["at"]), row["person"], row["what"], *told)


@dataclass(frozen=True, slots=True)
class SqlFeedback:
    """Keeps feedback in the database."""

    database: Database

    async def record(self, said: Feedback) -> None:
        """Write one down; a second one on the same thing changes nothing."""
        row = (
            stamp(said.at),
            clean(said.person),
            said.what,
            said.run,
            said.commit,
            to_json([clean(path) for path in said.paths]),
            clean(said.why),
            clean(said.patch[:_LONGEST_PATCH]),
        )
        await self.database.write(lambda connection: connection.execute(_RECORD, row))

    async def told(self, thread: str, occurrence: int, most: int = MOST_TOLD) -> Sequence[Feedback]:
        """Return what the next prompt of a thread has to tell, and note that this occurrence's prompt does."""

        def work(connection: sqlite3.Connection) -> list[Feedback]:
            rows = connection.execute(_UNTOLD, (thread, most)).fetchall()
            connection.executemany(_TOLD, [(occurrence, row["id"]) for row in rows])
            return [feedback_from(row) for row in rows]

        return await self.database.write(work)

    async def known(self) -> set[str]:
        """Return the commits that a person is known to have taken back or approved."""

        def work(connection: sqlite3.Connection) -> set[str]:
            return {row[0] for row in connection.execute(_KNOWN)}

        return await self.database.read(work)
