"""A second connection that only reads, for commands that look while the daemon works."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from daemon.errors import StorageError
from daemon.trajectories.connection import connect, explained
from daemon.trajectories.schema import SCHEMA, check


@contextlib.contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Give one consistent view of the database, whatever the daemon writes meanwhile.

    Raises StorageError when it is missing, damaged or older than this trimtab, ConfigError when it is newer.
    """
    if not path.exists():
        raise StorageError(f"{path}: not there yet: it is made when trimtab first runs")
    with explained(path), contextlib.closing(connect(path, read_only=True)) as connection:
        found = check(connection, path)
        if found < SCHEMA.head:
            raise StorageError(f"{path}: schema {found} is older than {SCHEMA.head}: start trimtab once to renew it")
        connection.execute("BEGIN")
        yield connection


def integrity(path: Path) -> list[str]:
    """Return what SQLite finds wrong with the file, nothing when it is whole.  Reads all of it; for `doctor`."""
    with reading(path) as connection:
        found = [row[0] for row in connection.execute("PRAGMA integrity_check")]
        strays = connection.execute("PRAGMA foreign_key_check").fetchall()
    return [line for line in found if line != "ok"] + [f"{row[0]}: a row names a missing {row[2]}" for row in strays]
