"""Which shape the database has, and how an older one gets there: Alembic's scripts, run only when there is need.

`PRAGMA user_version` holds the number of the last script that ran, so that an up-to-date database is recognised
without importing Alembic (a quarter of a CPU second).  A newer database is refused untouched, an older one is copied
before it is changed, and all scripts run in one transaction.
"""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import structlog

from daemon.errors import ConfigError, StorageError

log = structlog.get_logger()

_OURS = 0x7472696D  # "trim": PRAGMA application_id


@dataclass(frozen=True, slots=True)
class Schema:
    """The number of the newest script, and the Alembic directory that holds them all."""

    head: int
    scripts: Path


SCHEMA = Schema(5, Path(__file__).parent / "migrations")


def check(connection: sqlite3.Connection, path: Path, schema: Schema = SCHEMA) -> int:
    """Return the number of the file's schema, 0 for an empty file; it is only read.

    Raises ConfigError for a newer one, StorageError for another program's database, sqlite3.Error for no database.
    """
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (filled,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if filled and owner != _OURS:
        raise StorageError(f"{path}: is another program's database; left as it is: move it away")
    if found > schema.head:
        expected = f"schema {found} is newer than this trimtab knows ({schema.head}): use the trimtab that made it"
        raise ConfigError(path, "", expected)
    return int(found)


def migrate(connection: sqlite3.Connection, path: Path, schema: Schema = SCHEMA) -> None:
    """Bring the database to the newest schema; an older one is first copied to `NAME.schema-N.bak` beside it."""
    found = check(connection, path, schema)
    if found == schema.head:
        return
    if found:
        log.info("database.copied", to=str(_backup(connection, path, found)))
    _upgrade(connection, path, schema, found)
    log.info("database.migrated", file=str(path), schema_from=found, schema_to=schema.head)


def _backup(connection: sqlite3.Connection, path: Path, found: int) -> Path:
    """Copy the whole database; a copy that was cut short never bears the final name."""
    copy = path.with_name(f"{path.name}.schema-{found}.bak")
    part = copy.with_name(copy.name + ".part")
    try:
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        connection.execute("VACUUM INTO ?", (str(part),))
        part.replace(copy)
    except OSError as wrong:
        raise StorageError(f"{copy}: no copy could be made, so nothing was changed: {wrong.strerror}") from None
    return copy


def _upgrade(connection: sqlite3.Connection, path: Path, schema: Schema, found: int) -> None:
    """Run the scripts on this very connection, in one transaction with the marks that say so."""
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import create_engine, event
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.pool import StaticPool

    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    event.listen(engine, "begin", lambda wrapped: wrapped.exec_driver_sql("BEGIN IMMEDIATE"))
    config = Config()
    config.set_main_option("script_location", str(schema.scripts).replace("%", "%%"))
    try:
        with engine.connect() as wrapped, wrapped.begin():
            if check(connection, path, schema) != found:  # another process was quicker
                return
            config.attributes["connection"] = wrapped
            command.upgrade(config, str(schema.head))
            connection.execute(f"PRAGMA application_id = {_OURS}")
            connection.execute(f"PRAGMA user_version = {schema.head}")
    except DBAPIError as wrong:
        raise (wrong.orig or wrong) from wrong
