"""The file: settings that make it durable, transactions that are whole, and one clear line for each way it can fail."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import time
from pathlib import Path

import pytest

from daemon.errors import ConfigError, StorageError
from daemon.trajectories import connection as connecting
from daemon.trajectories.database import Database
from daemon.trajectories.reading import integrity, reading
from daemon.trajectories.schema import SCHEMA
from tests.trajectories.scenes import ASK, SqlKept, begun, calling, ended, wait


def one_line(failed: pytest.ExceptionInfo[BaseException], path: Path) -> str:
    """Return the message, which must be one line that names the file."""
    text = str(failed.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    return text


def test_the_database_is_durable_and_private(sql: SqlKept) -> None:
    """Write-ahead log, every commit on the disk, foreign keys held, and nobody else may read it."""

    async def setting(name: str) -> object:
        return (await sql.database.read(lambda c: c.execute(f"PRAGMA {name}").fetchone()))[0]

    assert "wal" == wait(setting("journal_mode"))
    assert 2 == wait(setting("synchronous"))
    assert 1 == wait(setting("foreign_keys"))
    assert 0o600 == stat.S_IMODE(sql.path.stat().st_mode)


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    """A database that is up to date is opened without writing to it."""
    path = tmp_path / "trimtab.db"
    Database.open(path).close()
    before = path.read_bytes()
    Database.open(path).close()

    assert before == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


def test_closing_twice_is_safe(tmp_path: Path) -> None:
    """Whoever cleans up need not ask whether somebody else did."""
    database = Database.open(tmp_path / "trimtab.db")
    database.close()
    database.close()


def test_work_that_raises_leaves_nothing(sql: SqlKept) -> None:
    """A transaction is kept whole or not at all, and the next one works."""

    def torn(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO due VALUES ('tick', NULL)")
        raise KeyError("in the middle")

    async def story() -> int:
        with pytest.raises(KeyError):
            await sql.database.write(torn)
        await sql.database.write(lambda c: c.execute("INSERT INTO due VALUES ('tock', NULL)"))
        return int((await sql.database.read(lambda c: c.execute("SELECT count(*) FROM due").fetchone()))[0])

    assert 1 == wait(story())


def test_a_broken_reference_is_refused(sql: SqlKept) -> None:
    """A run of an occurrence that does not exist is a StorageError, not a row."""

    async def story() -> None:
        with pytest.raises(StorageError, match="refused: FOREIGN KEY") as failed:
            await sql.database.write(lambda c: c.execute("INSERT INTO reward VALUES (1, 99, NULL, 'x', 1, 'v', '1')"))
        one_line(failed, sql.path)

    wait(story())


def test_cancelled_work_does_not_disturb_the_next(sql: SqlKept) -> None:
    """A step whose writer was cancelled is there or not there; the one after it is read back as it was."""

    async def story() -> None:
        run = await begun(sql)
        await sql.recorder.step(run, calling(1, (1, 2, 3)))
        task = asyncio.create_task(sql.recorder.step(run, calling(2, (1, 2, 3, 10, 5))))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        third = calling(3, (1, 2, 3, 10, 5, 6))
        await sql.recorder.step(run, third)
        record = sql.record(run.id)

        assert record is not None
        assert third == record.steps[-1]

    wait(story())


def test_a_newer_database_is_refused_untouched(tmp_path: Path) -> None:
    """An older trimtab does not guess at a newer schema."""
    path = tmp_path / "trimtab.db"
    Database.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    before = path.read_bytes()

    with pytest.raises(
        ConfigError, match=rf"schema 7 is newer than this trimtab knows \({SCHEMA.head}\): use the trimtab"
    ) as failed:
        Database.open(path)
    with pytest.raises(ConfigError, match="schema 7 is newer"), reading(path):
        pass
    one_line(failed, path)
    assert before == path.read_bytes()


@pytest.mark.parametrize("content", [b"# notes, not a database\n" * 200, b"SQLite format 3\x00" + b"\x07" * 5000])
def test_a_file_that_is_no_database_is_kept(tmp_path: Path, content: bytes) -> None:
    """A corrupt file gets one line that says what to do, and stays as it is."""
    path = tmp_path / "trimtab.db"
    path.write_bytes(content)

    with pytest.raises(StorageError, match=r"left as it is: .*(move|put a backup)") as failed:
        Database.open(path)
    one_line(failed, path)
    assert content == path.read_bytes()


def test_a_damaged_page_is_reported(sql: SqlKept) -> None:
    """Damage inside the file is found by the check, and reading it is one line."""
    wait(sql.threads.compact("watch", ASK, 0))
    sql.close()
    content = bytearray(sql.path.read_bytes())
    content[4096:] = bytes(b ^ 0x5A for b in content[4096:])
    sql.path.write_bytes(content)

    with pytest.raises(StorageError, match="is damaged") as failed:
        sql.reopen()
    one_line(failed, sql.path)


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    """trimtab does not put its tables beside somebody else's."""
    path = tmp_path / "trimtab.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE run (x)")
    connection.close()
    before = path.read_bytes()

    with pytest.raises(StorageError, match="another program's database") as failed:
        Database.open(path)
    one_line(failed, path)
    assert before == path.read_bytes()


@pytest.mark.parametrize("place", ["missing/trimtab.db", "folder"])
def test_a_place_that_cannot_hold_it_is_named(tmp_path: Path, place: str) -> None:
    """A missing directory, or a directory in its place, is one line."""
    (tmp_path / "folder").mkdir()

    with pytest.raises(StorageError, match="cannot be opened") as failed:
        Database.open(tmp_path / place)
    one_line(failed, tmp_path / place)


def test_a_database_that_cannot_be_written_says_whose_it_must_be(sql: SqlKept) -> None:
    """A write to a read-only file is one line, and reading goes on."""

    async def story() -> None:
        await sql.database.write(lambda c: c.execute("INSERT INTO due VALUES ('tick', NULL)"))
        sql.database._connection.execute("PRAGMA query_only = ON")
        with pytest.raises(StorageError, match="must belong to the user") as failed:
            await sql.ledger.plan("tick", None)
        one_line(failed, sql.path)
        assert None is await sql.ledger.planned("tick")

    wait(story())


def test_a_lock_that_is_held_too_long_is_reported(sql: SqlKept) -> None:
    """Somebody else's open transaction delays a write, then fails it in one line, and the next one works."""
    sql.database._connection.execute("PRAGMA busy_timeout = 20")
    rival = connecting.connect(sql.path)
    rival.execute("BEGIN IMMEDIATE")

    async def story() -> None:
        with pytest.raises(StorageError, match="locked") as failed:
            await sql.ledger.plan("tick", None)
        one_line(failed, sql.path)
        rival.execute("ROLLBACK")
        await sql.ledger.plan("tick", None)

    wait(story())
    rival.close()


def test_a_reader_sees_one_moment_while_the_daemon_writes(sql: SqlKept) -> None:
    """A listing is consistent, never waits for the writer, and never makes it wait."""

    async def story() -> None:
        run = await begun(sql)
        with reading(sql.path) as view:
            before = view.execute("SELECT count(*) FROM step").fetchone()[0]
            began = time.monotonic()
            for number in range(1, 6):
                await sql.recorder.step(run, calling(number))
            assert time.monotonic() - began < connecting.BUSY_SECONDS
            assert (0, 0) == (before, view.execute("SELECT count(*) FROM step").fetchone()[0])
        with reading(sql.path) as view:
            assert 5 == view.execute("SELECT count(*) FROM step").fetchone()[0]

    wait(story())


def test_a_reader_cannot_write(sql: SqlKept) -> None:
    """A command that looks can change nothing."""
    with pytest.raises(StorageError, match="cannot be written"), reading(sql.path) as view:
        view.execute("DELETE FROM due")


def test_a_closed_database_can_be_read(sql: SqlKept) -> None:
    """Commands work while the daemon does not run."""
    wait(begun(sql))
    sql.close()

    assert [] == integrity(sql.path)
    with reading(sql.path) as view:
        assert 1 == view.execute("SELECT count(*) FROM run").fetchone()[0]


def test_reading_what_is_not_there_makes_nothing(tmp_path: Path) -> None:
    """A command before the first run gets one line and leaves no file."""
    with pytest.raises(StorageError, match="not there yet") as failed, reading(tmp_path / "trimtab.db"):
        pass
    one_line(failed, tmp_path / "trimtab.db")
    assert [] == list(tmp_path.iterdir())


def test_the_log_does_not_grow_without_end(sql: SqlKept) -> None:
    """The write-ahead log is written back as work goes on and is gone after closing."""
    log = sql.path.with_name("trimtab.db-wal")

    async def story() -> None:
        for number in range(1, 60):
            run = await begun(sql, number)
            await sql.recorder.step(run, calling(1, tuple(range(number, number + 3000))))
            await sql.recorder.finish(ended(run), ())

    wait(story())
    assert log.stat().st_size < 8_000_000
    sql.close()
    assert not log.exists()
