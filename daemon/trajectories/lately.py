"""The messages of the threads that were read last, kept in memory: a run reads its thread more than once.

The row of a message never changes, so what is kept here can only be asked for less often than it is true.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field

from daemon.trajectories.packing import to_json
from daemon.trajectories.rows import message_from
from daemon.types import Message

KEPT = 8
"""Threads whose live messages are kept, each a model's window of text at most."""
_MESSAGES = """
    SELECT id, role, text, calls, call_id, name, token_ids, token_model, failed FROM message
    WHERE id IN (SELECT value FROM json_each(?))"""


@dataclass(slots=True)
class Lately:
    """The live messages by row, of each of the threads that were read last.  For the database's own thread."""

    _threads: dict[str, dict[int, Message]] = field(default_factory=dict)

    def messages(self, connection: sqlite3.Connection, thread: str, rows: Sequence[int]) -> tuple[Message, ...]:
        """Return the messages of these rows, which are all that is live of the thread; reads those that are new."""
        known = self._threads.pop(thread, {})
        if missing := [row for row in rows if row not in known]:
            found = connection.execute(_MESSAGES, (to_json(missing),))
            known = known | {row["id"]: message_from(row) for row in found}
        live = self._threads[thread] = {row: known[row] for row in rows}
        if len(self._threads) > KEPT:
            del self._threads[next(iter(self._threads))]
        return tuple(live[row] for row in rows)

    def rows(self, thread: str) -> dict[int, int]:
        """Return the rows of a thread's messages by the identity of each, which holds as long as they are kept here."""
        return {id(message): row for row, message in self._threads.get(thread, {}).items()}
