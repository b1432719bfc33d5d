"""How often and when last the agent was shown each note: a count beside the history, which nothing else rests on."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from vault.side_file import SideFile

FILE: Final = "reads.db"
_SCHEMA = """
    CREATE TABLE note (path TEXT PRIMARY KEY, times INTEGER NOT NULL, last TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE began (at TEXT NOT NULL)"""
_ADD = "INSERT INTO note VALUES (?, 1, ?) ON CONFLICT DO UPDATE SET times = times + 1, last = excluded.last"
_BEGIN = "INSERT INTO began SELECT ? WHERE NOT EXISTS (SELECT 1 FROM began)"


@dataclass(frozen=True, slots=True)
class Counted:
    """Since when reads are counted (None: nothing was ever read), and {path: how often} of what was read."""

    since: str | None
    times: dict[str, int]


class Reads:
    """The counts of one vault, for any thread."""

    def __init__(self, own: Path) -> None:
        self._side = SideFile(own / FILE, _SCHEMA, 1)

    def add(self, paths: Iterable[str]) -> None:
        """Count one read of each of these notes, now."""
        now = datetime.now(UTC).isoformat(timespec="seconds")

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(_BEGIN, (now,))
            connection.executemany(_ADD, [(path, now) for path in paths])

        with contextlib.suppress(sqlite3.OperationalError):
            self._side.work(work)

    def counted(self) -> Counted:
        """Return what was counted."""

        def work(connection: sqlite3.Connection) -> Counted:
            since = connection.execute("SELECT min(at) FROM began").fetchone()[0]
            return Counted(since, dict(connection.execute("SELECT path, times FROM note").fetchall()))

        return self._side.work(work)

    def close(self) -> None:
        """Let go of the file."""
        self._side.close()
