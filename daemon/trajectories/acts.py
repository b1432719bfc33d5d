"""What a person did to guards and threads: resets, new baselines, rewinds; with who, when and why."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from daemon.trajectories.database import Database
from daemon.trajectories.packing import clean, stamp

_RECORD = "INSERT INTO act (at, person, what, thread, guard, why) VALUES (?, ?, ?, ?, ?, ?)"
_NEWEST = "SELECT at, person, what, thread, guard, why FROM act ORDER BY id DESC LIMIT ?"


@dataclass(frozen=True, slots=True)
class Act:
    """One act.  `thread` and `guard` are None for every one; `at` is text in UTC."""

    at: str
    person: str
    what: str
    thread: str | None
    guard: str | None
    why: str


@dataclass(frozen=True, slots=True)
class SqlActs:
    """Keeps the acts in the database."""

    database: Database

    async def record(
        self, at: datetime, person: str, what: str, thread: str | None, guard: str | None, why: str
    ) -> None:
        """Write an act down."""
        row = (stamp(at), clean(person), what, thread, guard, clean(why))
        await self.database.write(lambda connection: connection.execute(_RECORD, row))

    async def newest(self, most: int = 50) -> list[Act]:
        """Return the last acts, the newest first."""

        def work(connection: sqlite3.Connection) -> list[Act]:
            return [Act(*row) for row in connection.execute(_NEWEST, (most,))]

        return await self.database.read(work)
