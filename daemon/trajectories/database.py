"""The one writer of `trimtab.db`: a connection in a thread of its own, so that nothing here ever blocks the daemon.

It speaks SQLite directly: importing SQLModel would cost the daemon 0.3 CPU seconds and 25 MB, so that stays on the
reading side (`records`), and a test holds its tables and the migrations equal.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from daemon.trajectories.connection import connect, explained, settle, transaction
from daemon.trajectories.schema import SCHEMA, Schema, check, migrate

T = TypeVar("T")


class Database:
    """Runs one piece of work at a time, each in a transaction of its own; what has been awaited is on the disk."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="database")

    @classmethod
    def open(cls, path: Path, schema: Schema = SCHEMA) -> Database:
        """Open the database, made or brought up to date where that is needed.  Blocks: call it before the loop runs.

        Raises ConfigError for one from a newer trimtab, StorageError for anything else that is wrong with the file; the
        file is left as it was.
        """
        with explained(path), contextlib.ExitStack() as undo:
            connection = connect(path)
            undo.callback(connection.close)
            check(connection, path, schema)
            settle(connection)
            migrate(connection, path, schema)
            undo.pop_all()
        return cls(path, connection)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction and return when it is durable; StorageError when nothing of it was kept."""
        return await self._in_thread("IMMEDIATE", work)

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` on one consistent view of the database.  For short questions: writers wait behind it."""
        return await self._in_thread("DEFERRED", work)

    async def _in_thread(self, kind: str, work: Callable[[sqlite3.Connection], T]) -> T:
        def run() -> T:
            with explained(self.path), transaction(self._connection, kind):
                return work(self._connection)

        return await asyncio.get_running_loop().run_in_executor(self._thread, run)

    def close(self) -> None:
        """Finish the work in hand, write the log back into the file and let go of it; safe to call twice."""
        self._thread.shutdown(wait=True)
        with explained(self.path):
            self._connection.close()
