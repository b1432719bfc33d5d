"""Messages and JSON documents that come again and again, kept once and known by their row number.

Without this a thread would be stored anew with each run that is shown it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from daemon.trajectories.packing import digest, to_json
from daemon.trajectories.rows import message_columns
from daemon.types import Message

_CHUNK = 500

_ADD_DOCUMENT = "INSERT INTO document (digest, body) VALUES (?, ?) RETURNING id"
_ADD_MESSAGE = """
    INSERT INTO message (digest, role, text, calls, call_id, name, token_ids, token_model, failed)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"""


def document_id(connection: sqlite3.Connection, value: object) -> int:
    """Return the row of a JSON value, made if it is new."""
    body = to_json(value)
    key = digest(body)
    row = connection.execute("SELECT id FROM document WHERE digest = ?", (key,)).fetchone()
    return int(row[0] if row else connection.execute(_ADD_DOCUMENT, (key, body)).fetchone()[0])


def message_ids(
    connection: sqlite3.Connection, messages: Sequence[Message], rows: Mapping[int, int] = MappingProxyType({})
) -> list[int]:
    """Return the rows of these messages in their order, made where they are new.

    `rows` are those that are known already, by the identity of the message.
    """
    found = [rows.get(id(message)) for message in messages]
    new = iter(_interned(connection, [message for message, row in zip(messages, found, strict=True) if row is None]))
    return [next(new) if row is None else row for row in found]


def _interned(connection: sqlite3.Connection, messages: Sequence[Message]) -> list[int]:
    columns = [message_columns(message) for message in messages]
    keys = [digest(*row) for row in columns]
    known = _known(connection, keys)
    for key, row in zip(keys, columns, strict=True):
        if key not in known:
            known[key] = connection.execute(_ADD_MESSAGE, (key, *row)).fetchone()[0]
    return [known[key] for key in keys]


def _known(connection: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, int]:
    known: dict[bytes, int] = {}
    for start in range(0, len(keys), _CHUNK):
        some = keys[start : start + _CHUNK]
        marks = ",".join("?" * len(some))
        rows = connection.execute(f"SELECT digest, id FROM message WHERE digest IN ({marks})", some)
        known.update((row[0], row[1]) for row in rows)
    return known
