"""How a database gets its shape: from nothing, from an older one, and never half."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.pool import NullPool
from sqlmodel import SQLModel, create_engine

from daemon.errors import StorageError
from daemon.trajectories import tables
from daemon.trajectories.database import Database
from daemon.trajectories.reading import reading
from daemon.trajectories.schema import SCHEMA, Schema

NEXT = """
from alembic import op
import sqlalchemy as sa
revision, down_revision = "{number}", "{before}"
def upgrade():
    op.add_column("run", sa.Column("mood", sa.String()))
    {more}
"""


def mood(more: str = "") -> str:
    """Return the script that comes after the newest one."""
    return NEXT.format(number=SCHEMA.head + 1, before=SCHEMA.head, more=more)


@pytest.fixture
def next_schema(tmp_path: Path) -> Schema:
    """The schema of a trimtab to come: the real scripts and one more."""
    scripts = tmp_path / "scripts"
    (scripts / "versions").mkdir(parents=True)
    for script in SCHEMA.scripts.rglob("*.py"):
        (scripts / script.relative_to(SCHEMA.scripts)).write_text(script.read_text())
    (scripts / "versions/r9999_mood.py").write_text(mood())
    return Schema(SCHEMA.head + 1, scripts)


def facts(path: Path) -> tuple[int, set[str], list[str]]:
    """Return schema number, columns of `run`, and the heartbeats that are planned."""
    connection = sqlite3.connect(path)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    columns = {row[1] for row in connection.execute("PRAGMA table_info(run)")}
    planned = [row[0] for row in connection.execute("SELECT heartbeat FROM due")]
    connection.close()
    return version, columns, planned


def old_database(path: Path) -> Path:
    """Make a database of today's schema with something in it."""
    database = Database.open(path)
    database._connection.execute("INSERT INTO due VALUES ('tick', NULL)")
    database.close()
    return path


def test_the_scripts_make_the_tables(tmp_path: Path) -> None:
    """What the migrations make and what SQLModel describes are the same."""
    path = tmp_path / "trimtab.db"
    Database.open(path).close()
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), SQLModel.metadata)

    assert [] == differences
    assert "run" == tables.RUN.name


def test_the_head_is_the_newest_script() -> None:
    """Whoever adds a script raises the number that start-up compares with."""
    config = Config()
    config.set_main_option("script_location", str(SCHEMA.scripts))
    scripts = ScriptDirectory.from_config(config)

    assert [str(SCHEMA.head)] == scripts.get_heads()
    assert SCHEMA.head == len(list(scripts.walk_revisions()))


def test_an_empty_file_becomes_a_database(tmp_path: Path) -> None:
    """A crash right after the file was made is no obstacle."""
    path = tmp_path / "trimtab.db"
    path.touch()
    Database.open(path).close()

    assert SCHEMA.head == facts(path)[0]


def test_an_older_database_is_copied_and_brought_up_to_date(tmp_path: Path, next_schema: Schema) -> None:
    """Nothing is lost, the copy beside it is whole, and a second opening does nothing."""
    path = old_database(tmp_path / "trimtab.db")
    Database.open(path, next_schema).close()
    Database.open(path, next_schema).close()
    version, columns, planned = facts(path)
    copy = facts(tmp_path / f"trimtab.db.schema-{SCHEMA.head}.bak")

    assert (SCHEMA.head + 1, True, ["tick"]) == (version, "mood" in columns, planned)
    assert (SCHEMA.head, columns - {"mood"}, ["tick"]) == copy
    assert [] == list(tmp_path.glob("*.part"))


def test_a_migration_that_fails_changes_nothing(tmp_path: Path, next_schema: Schema) -> None:
    """A script that breaks half-way leaves the old database, which still works."""
    broken = next_schema.scripts / "versions/r9999_mood.py"
    broken.write_text(mood('op.execute("INSERT INTO nowhere VALUES (1)")'))
    path = old_database(tmp_path / "trimtab.db")
    before = facts(path)

    with pytest.raises(StorageError, match=r"trimtab\.db: refused: no such table: nowhere"):
        Database.open(path, next_schema)
    assert before == facts(path)
    Database.open(path).close()


def test_a_reader_of_an_older_database_is_told_what_to_do(tmp_path: Path) -> None:
    """Commands that only look do not migrate."""
    path = old_database(tmp_path / "trimtab.db")
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 0")
    connection.close()

    with pytest.raises(StorageError, match=f"schema 0 is older than {SCHEMA.head}: start trimtab once"), reading(path):
        pass
