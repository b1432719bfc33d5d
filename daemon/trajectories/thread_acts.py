"""What a person does to a thread: take it back to an earlier run, or go on from there under another name.

Nothing is deleted: a message that is taken back stays in the history with a mark that says so.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from daemon.errors import UsageError
from daemon.trajectories.database import Database

REWOUND: Final = -1
"""`retired_by` of a place that a person took back; see `tables.ThreadEntryRow`."""

_RUNS = """
    SELECT run.id, max(position) AS position FROM thread_entry JOIN run ON run.key = run_key
    WHERE thread_entry.thread = ? AND coalesce(retired_by, 0) != -1 GROUP BY run.key ORDER BY 2"""
_ANY = "SELECT count(*), coalesce(max(position), 0) FROM thread_entry WHERE thread = ?"
_OPEN = "SELECT id FROM run WHERE thread = ? AND outcome IS NULL"
_TAKE_BACK = """
    UPDATE thread_entry SET live = 0, retired_by = -1
    WHERE thread = ? AND position > ? AND coalesce(retired_by, 1) != 0"""
_BRING_BACK = (
    "UPDATE thread_entry SET live = 1, retired_by = NULL WHERE thread = ? AND position <= ? AND retired_by > ?"
)
_COPY = """
    INSERT INTO thread_entry (thread, position, message_id, run_key, summary, live, shown_id, retired_by)
    SELECT :new, position, message_id, run_key, summary,
           retired_by IS NULL OR retired_by > :last, shown_id,
           CASE WHEN retired_by > :last THEN NULL ELSE retired_by END
    FROM thread_entry WHERE thread = :thread AND position <= :last AND coalesce(retired_by, 0) != -1"""


@dataclass(frozen=True, slots=True)
class Moved:
    """What became of a thread: the run that it ends with now (None: it begins anew), and how many runs are left out."""

    run: str | None
    runs: int


@dataclass(frozen=True, slots=True)
class SqlThreadActs:
    """Rewinds and forks threads in the database.  Raises UsageError for what is not there."""

    database: Database

    async def at_rest(self, thread: str) -> None:
        """Raise UsageError while a run of the thread is under way, and when there is no such thread."""
        await self.database.read(lambda connection: _check_at_rest(connection, thread))

    async def rewind(self, thread: str, *, to: str | None = None, back: int = 1) -> Moved:
        """Take the thread back to the end of the run `to`, or by the last `back` runs."""

        def work(connection: sqlite3.Connection) -> Moved:
            if running := connection.execute(_OPEN, (thread,)).fetchone():
                raise UsageError(
                    f"run {running[0]} of {thread} is under way: wait for its end, or `trimtab pause` first"
                )
            moved, last = _point(connection, thread, to, back)
            connection.execute(_TAKE_BACK, (thread, last))
            connection.execute(_BRING_BACK, (thread, last, last))
            return moved

        return await self.database.write(work)

    async def fork(self, thread: str, new: str, *, at: str | None = None) -> Moved:
        """Copy the thread up to the end of the run `at`, or the whole of it, to a thread that is not there yet."""

        def work(connection: sqlite3.Connection) -> Moved:
            if connection.execute(_ANY, (new,)).fetchone()[0]:
                raise UsageError(f"there is a thread {new!r} already: nothing was changed")
            moved, last = _point(connection, thread, at, 0)
            connection.execute(_COPY, {"thread": thread, "new": new, "last": last})
            return moved

        return await self.database.write(work)


def _check_at_rest(connection: sqlite3.Connection, thread: str) -> None:
    if not connection.execute(_ANY, (thread,)).fetchone()[0]:
        raise UsageError(f"no thread {thread!r}: `trimtab threads list` shows them")
    if running := connection.execute(_OPEN, (thread,)).fetchone():
        raise UsageError(f"run {running[0]} of {thread} is under way: wait for its end, or `trimtab pause` first")


def _point(connection: sqlite3.Connection, thread: str, to: str | None, back: int) -> tuple[Moved, int]:
    """Return where the thread is to end, and the last position that stays."""
    count, end = connection.execute(_ANY, (thread,)).fetchone()
    if not count:
        raise UsageError(f"no thread {thread!r}: `trimtab threads list` shows them")
    runs = [(row[0], row[1]) for row in connection.execute(_RUNS, (thread,))]
    names = [name for name, _ in runs]
    if to is not None:
        if to not in names:
            raise UsageError(f"run {to!r} is not in {thread}: `trimtab threads show {thread}` names its runs")
        back = len(names) - 1 - names.index(to)
    if back > len(runs):
        raise UsageError(f"{thread} has only {len(runs)} runs")
    if not back and to is None:
        return Moved(names[-1] if names else None, 0), end
    left = runs[: len(runs) - back]
    return (Moved(left[-1][0], back), left[-1][1]) if left else (Moved(None, back), 0)
