"""Durable conversations: every message stays where it was said, and a mark says which of them a prompt is made of."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field

from daemon.trajectories.database import Database
from daemon.trajectories.interned import message_ids
from daemon.trajectories.lately import Lately
from daemon.types import Message

_LIVE = """
    SELECT coalesce(shown_id, message_id) FROM thread_entry WHERE thread = ? AND live
    ORDER BY summary DESC, CASE WHEN summary THEN -position ELSE position END"""
_LIVE_POSITIONS = """
    SELECT position FROM thread_entry WHERE thread = ? AND live
    ORDER BY summary DESC, CASE WHEN summary THEN -position ELSE position END"""
_FRESH = """
    SELECT count(*) FROM thread_entry WHERE thread = :thread AND live AND NOT summary AND position > (
        SELECT coalesce(max(position), 0) FROM thread_entry WHERE thread = :thread AND live AND summary)"""
_END = "SELECT coalesce(max(position), 0) FROM thread_entry WHERE thread = ?"
_ADD = """
    INSERT INTO thread_entry (thread, position, message_id, run_key, summary, live) VALUES (?, ?, ?, ?, ?, 1)"""
_RETIRE = "UPDATE thread_entry SET live = 0, retired_by = ? WHERE thread = ? AND position = ?"
_SHOW = "UPDATE thread_entry SET shown_id = ? WHERE thread = ? AND position = ?"

_TAKEN_OUT = 0
"""`retired_by` of a place that a quarantine took out; see `tables.ThreadEntryRow`."""


@dataclass(frozen=True, slots=True)
class SqlThreadLog:
    """Reads and compacts threads (implements stages.ThreadLog); runs are added by the recorder as they finish."""

    database: Database
    lately: Lately = field(default_factory=Lately)

    async def live(self, thread: str) -> tuple[Message, ...]:
        def work(connection: sqlite3.Connection) -> tuple[Message, ...]:
            rows = [row for (row,) in connection.execute(_LIVE, (thread,))]
            return self.lately.messages(connection, thread, rows)

        return await self.database.read(work)

    async def fresh(self, thread: str) -> int:
        def work(connection: sqlite3.Connection) -> int:
            return int(connection.execute(_FRESH, {"thread": thread}).fetchone()[0])

        return await self.database.read(work)

    async def compact(self, thread: str, summary: Message, keep: int) -> None:
        if keep < 0:
            raise ValueError(f"cannot keep {keep} messages")

        def work(connection: sqlite3.Connection) -> None:
            live = [row[0] for row in connection.execute(_LIVE_POSITIONS, (thread,))]
            retired = live[: max(0, len(live) - keep)]
            (end,) = connection.execute(_END, (thread,)).fetchone()  # the summary comes after it
            connection.executemany(_RETIRE, [(end + 1, thread, position) for position in retired])
            append(connection, thread, [summary], run_key=None, summary=True)

        await self.database.write(work)

    async def show(self, thread: str, instead: Sequence[Message | None]) -> None:
        def work(connection: sqlite3.Connection) -> None:
            live = [row[0] for row in connection.execute(_LIVE_POSITIONS, (thread,))]
            if len(live) != len(instead):
                raise ValueError(f"{len(instead)} messages for the {len(live)} live ones of {thread}")
            connection.executemany(
                _RETIRE,
                [(_TAKEN_OUT, thread, place) for place, shown in zip(live, instead, strict=True) if shown is None],
            )
            kept = [(place, shown) for place, shown in zip(live, instead, strict=True) if shown is not None]
            rows = zip(message_ids(connection, [shown for _, shown in kept]), kept, strict=True)
            connection.executemany(_SHOW, [(row, thread, place) for row, (place, _) in rows])

        await self.database.write(work)


def append(
    connection: sqlite3.Connection,
    thread: str,
    messages: Sequence[Message],
    run_key: int | None,
    *,
    summary: bool = False,
) -> None:
    """Add messages to the end of a thread's history, inside the caller's transaction."""
    (end,) = connection.execute(_END, (thread,)).fetchone()
    rows = [
        (thread, place, message, run_key, summary)
        for place, message in enumerate(message_ids(connection, messages), start=end + 1)
    ]
    connection.executemany(_ADD, rows)
