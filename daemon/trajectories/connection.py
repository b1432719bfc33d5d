"""One SQLite connection, opened the way that everything here expects it, and SQLite's errors as one line for a person.

Does not know what is in the database.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from daemon.errors import StorageError

BUSY_SECONDS = 5.0

_ADVICE = {
    "SQLITE_FULL": "the disk is full: nothing of this write was kept; free some space",
    "SQLITE_IOERR": "the disk refused ({detail}): nothing of this write was kept; look for space and quota",
    "SQLITE_READONLY": "cannot be written: it and its directory must belong to the user who runs trimtab",
    "SQLITE_CANTOPEN": "cannot be opened: its directory must exist and belong to the user who runs trimtab",
    "SQLITE_PERM": "cannot be opened: it must belong to the user who runs trimtab",
    "SQLITE_BUSY": "another program has held it locked for {busy:g} seconds: nothing of this write was kept",
    "SQLITE_LOCKED": "another program holds it locked: nothing of this write was kept",
    "SQLITE_NOTADB": "is not a database; left as it is: move it away to start with an empty one, or put a backup back",
    "SQLITE_CORRUPT": "is damaged ({detail}); left as it is: stop trimtab and put a backup back, or move the file away",
}


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into a StorageError of one line that names the file and what to do."""
    try:
        yield
    except sqlite3.Error as wrong:
        name = getattr(wrong, "sqlite_errorname", None) or type(wrong).__name__
        advice = next((text for kind, text in _ADVICE.items() if name.startswith(kind)), "refused: {detail}")
        raise StorageError(f"{path}: {advice.format(detail=wrong, busy=BUSY_SECONDS)}") from wrong


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Open the file, made empty and private where there is none.  Transactions are begun and ended by hand.

    Raises sqlite3.Error; the settings that change the file itself are made later, by `settle`.
    """
    if not read_only:
        with contextlib.suppress(OSError):  # SQLite says it better a line further down
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    mode = "ro" if read_only else "rw"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    connection.row_factory = sqlite3.Row
    return connection


def settle(connection: sqlite3.Connection) -> None:
    """Make a connection fit for writing: write-ahead log, every commit on the disk, foreign keys held."""
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA journal_size_limit=16777216")


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    """All of the block or nothing of it."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
