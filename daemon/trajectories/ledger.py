"""The book of occurrences in the database: a due time can be claimed once, and the next one is written down with it.

It does not know what a schedule is, nor run anything.  It serves one daemon: `recover` ends every claim it finds open,
and `commits_found` gives cut-off runs the commits that they made.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from daemon.stages import Clock
from daemon.trajectories.database import Database
from daemon.trajectories.packing import clean, moment, stamp
from daemon.types import Occurrence, Outcome

_CLAIM = """
    INSERT INTO occurrence (heartbeat, scheduled_for, manual, status, recorded_at, reason)
    VALUES (?, ?, ?, 'claimed', ?, '') ON CONFLICT DO NOTHING RETURNING id"""
_MISS = """
    INSERT INTO occurrence (heartbeat, scheduled_for, manual, status, recorded_at, reason)
    VALUES (?, ?, 0, 'missed', ?, ?) ON CONFLICT DO NOTHING"""
_PLAN = """
    INSERT INTO due (heartbeat, next_due) VALUES (?, ?)
    ON CONFLICT (heartbeat) DO UPDATE SET next_due = excluded.next_due"""
_OPEN = "SELECT id, heartbeat, scheduled_for, manual FROM occurrence WHERE status = 'claimed' ORDER BY id"
_END_RUNS = """
    UPDATE run SET ended_at = ?, outcome = ?, reason = ?,
      steps = (SELECT count(*) FROM step WHERE run_key = key),
      prompt_tokens = (SELECT coalesce(sum(prompt_tokens), 0) FROM step WHERE run_key = key),
      reused_tokens = (SELECT coalesce(sum(reused_tokens), 0) FROM step WHERE run_key = key),
      completion_tokens = (SELECT coalesce(sum(completion_tokens), 0) FROM step WHERE run_key = key),
      usd = (SELECT coalesce(sum(usd), 0) FROM step WHERE run_key = key),
      seconds = (SELECT coalesce(sum(seconds), 0) FROM step WHERE run_key = key)
    WHERE outcome IS NULL AND occurrence_id IN (SELECT id FROM occurrence WHERE status = 'claimed')"""
_END = "UPDATE occurrence SET status = 'ended', ended_at = ?, outcome = ?, reason = ? WHERE status = 'claimed'"
_FOUND = "UPDATE run SET commit_id = ? WHERE id = ? AND commit_id IS NULL AND outcome IS NOT NULL"

_REASON = "the daemon ended before the run did"


@dataclass(frozen=True, slots=True)
class SqlLedger:
    """Keeps the ledger in the database (implements stages.Ledger)."""

    database: Database
    clock: Clock

    async def claim(
        self, heartbeat: str, scheduled_for: datetime, *, next_due: datetime | None, manual: bool = False
    ) -> Occurrence | None:
        due = scheduled_for if manual else _second(scheduled_for)
        row = (heartbeat, stamp(due), manual, stamp(self.clock.now()))
        plan = (heartbeat, _planned(next_due))

        def work(connection: sqlite3.Connection) -> Occurrence | None:
            claimed = connection.execute(_CLAIM, row).fetchone()
            if claimed is None:
                return None
            if not manual:
                connection.execute(_PLAN, plan)
            return Occurrence(claimed[0], heartbeat, due, manual)

        return await self.database.write(work)

    async def miss(self, heartbeat: str, times: Sequence[datetime], reason: str) -> int:
        now, why = stamp(self.clock.now()), clean(reason)
        rows = [(heartbeat, stamp(_second(time)), now, why) for time in times]
        if not rows:
            return 0
        return await self.database.write(lambda connection: connection.executemany(_MISS, rows).rowcount)

    async def plan(self, heartbeat: str, next_due: datetime | None) -> None:
        row = (heartbeat, _planned(next_due))
        await self.database.write(lambda connection: connection.execute(_PLAN, row))

    async def planned(self, heartbeat: str) -> datetime | None:
        def work(connection: sqlite3.Connection) -> str | None:
            row = connection.execute("SELECT next_due FROM due WHERE heartbeat = ?", (heartbeat,)).fetchone()
            return row[0] if row else None

        found = await self.database.read(work)
        return moment(found) if found else None

    async def recover(self) -> Sequence[Occurrence]:
        end = (stamp(self.clock.now()), Outcome.INTERRUPTED.value, _REASON)

        def work(connection: sqlite3.Connection) -> list[Occurrence]:
            found = connection.execute(_OPEN).fetchall()
            if found:
                connection.execute(_END_RUNS, end)
                connection.execute(_END, end)
            return [Occurrence(row[0], row[1], moment(row[2]), bool(row[3])) for row in found]

        return await self.database.write(work)

    async def commits_found(self, found: Mapping[str, str]) -> int:
        """Write down the commit, by run id, of each ended run that names none; return how many.

        After `recover`: a kill between a commit and its record leaves a run that does not know what it wrote.
        """
        rows = [(commit, run) for run, commit in found.items()]
        if not rows:
            return 0
        return await self.database.write(lambda connection: connection.executemany(_FOUND, rows).rowcount)


def _second(time: datetime) -> datetime:
    """Return the whole second in UTC that a due time is known by."""
    return moment(stamp(time)).replace(microsecond=0)


def _planned(next_due: datetime | None) -> str | None:
    return None if next_due is None else stamp(_second(next_due))
