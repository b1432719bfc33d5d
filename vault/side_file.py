"""A small SQLite file beside the history, which may be lost at any time: where it is damaged it begins anew.

A disk that cannot be written is no damage: then each piece of work is done in memory, until the file can be opened.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

T = TypeVar("T")

BUSY_SECONDS: Final = 5.0
"""How long another process is waited for that writes to the file."""

_SURROUNDINGS: Final = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOMEM,
}


class SideFile:
    """One file with its tables, for any thread; `schema` makes them, `version` says of which kind they are."""

    def __init__(self, path: Path, schema: str, version: int, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path, self._schema, self._version, self._busy_seconds = path, schema, version, busy_seconds
        self._connection: sqlite3.Connection | None = None
        self._opened: tuple[int, int] | None = None
        self._lock = threading.RLock()

    def work(self, act: Callable[[sqlite3.Connection], T]) -> T:
        """Return what `act` does with the open file; it is done again on a fresh one where the file is damaged.

        Raises sqlite3.OperationalError only for what a fresh file in memory cannot do either.
        """
        with self._lock:
            try:
                return act(self._open())
            except sqlite3.DatabaseError as wrong:
                self.close()
                if not from_outside(wrong):
                    self.remove()
            try:
                return act(self._open())
            except sqlite3.DatabaseError:
                self.close()
                with contextlib.closing(self._made(":memory:")) as for_now:
                    return act(for_now)

    def close(self) -> None:
        """Let go of the file; it is opened again when it is needed."""
        with self._lock:
            if self._connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.close()
            self._connection = self._opened = None

    def remove(self) -> None:
        """Forget everything."""
        with self._lock:
            self.close()
            for ending in ("-wal", "-shm", ""):
                with contextlib.suppress(OSError):
                    self.path.with_name(self.path.name + ending).unlink()

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._opened == _place(self.path):
            return self._connection
        self.close()
        self._connection = self._made(str(self.path))
        self._opened = _place(self.path)
        return self._connection

    def _made(self, where: str) -> sqlite3.Connection:
        made = sqlite3.connect(where, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False)
        with contextlib.ExitStack() as undo:
            undo.callback(made.close)
            made.execute("PRAGMA journal_mode = WAL")
            made.execute("PRAGMA synchronous = NORMAL")
            made.execute("PRAGMA temp_store = MEMORY")
            (found,) = made.execute("PRAGMA user_version").fetchone()
            if found != self._version:
                self._begin(made)
            undo.pop_all()
        return made

    def _begin(self, made: sqlite3.Connection) -> None:
        made.execute("BEGIN IMMEDIATE")
        (found,) = made.execute("PRAGMA user_version").fetchone()
        if found not in (0, self._version):
            made.execute("ROLLBACK")
            raise sqlite3.DatabaseError(f"{self.path} is of another version")
        if not found:
            for statement in self._schema.split(";"):
                made.execute(statement)
            made.execute(f"PRAGMA user_version = {self._version}")
        made.execute("COMMIT")


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection, *, keep: bool = True) -> Iterator[None]:
    """Have everything that is done inside be done or not; without `keep` nothing of it stays."""
    connection.execute("BEGIN IMMEDIATE")
    with contextlib.ExitStack() as undo:
        undo.callback(_roll_back, connection)
        yield
        if keep:
            connection.execute("COMMIT")
            undo.pop_all()


def _roll_back(connection: sqlite3.Connection) -> None:
    with contextlib.suppress(sqlite3.Error):
        connection.execute("ROLLBACK")


def from_outside(wrong: sqlite3.Error) -> bool:
    """Whether an error comes from the disk or from another process, and the file itself may be well."""
    code = getattr(wrong, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _SURROUNDINGS


def _place(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino
