"""Search in all that was ever said in the threads, also in what no prompt shows any more."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, Final

_MOST_WORDS: Final = 12
_AROUND: Final = 80
_EXCERPT: Final = 240

_FIND = """
    SELECT thread_entry.thread, position, role, name, text, calls, live, summary,
           coalesce(retired_by, 0) = -1 AS taken_back, run.id AS run, run.started_at AS started_at
    FROM thread_entry JOIN message ON message.id = message_id LEFT JOIN run ON run.key = run_key
    WHERE (:thread IS NULL OR thread_entry.thread = :thread) AND holds(text, calls)
    ORDER BY coalesce(run.key, 0) DESC, position DESC LIMIT :limit"""


def search(
    connection: sqlite3.Connection, query: str, thread: str | None = None, limit: int = 20
) -> list[dict[str, Any]]:
    """Return {thread, position, role, name, live, summary, taken_back, run, started_at, excerpt}, the newest first.

    A message is found when it holds every word of the query, as a part of its own words too; what it calls, with the
    arguments, counts as its words.
    """
    words = [word.casefold() for word in query.split()][:_MOST_WORDS]
    if not words:
        return []

    def holds(text: str, calls: str | None) -> bool:
        folded = said(text, json.loads(calls or "[]")).casefold()
        return all(word in folded for word in words)

    connection.create_function("holds", 2, holds, deterministic=True)
    rows = connection.execute(_FIND, {"thread": thread, "limit": limit}).fetchall()
    found = [{key: row[key] for key in row.keys() if key not in ("text", "calls")} for row in rows]  # noqa: SIM118
    for one, row in zip(found, rows, strict=True):
        one |= {key: bool(row[key]) for key in ("live", "summary", "taken_back")}
        one["excerpt"] = _excerpt(said(row["text"], json.loads(row["calls"] or "[]")), words)
    return found


def said(text: str, calls: Iterable[Mapping[str, Any]]) -> str:
    """Return a message as a person reads it: its text, and what it calls.

    >>> said("I look.", [{"name": "host", "args": {"what": "all"}}])
    'I look. [calls host {"what": "all"}]'
    """
    called = [f"[calls {call['name']} {json.dumps(call['args'], ensure_ascii=False)}]" for call in calls]
    return " ".join([text, *called] if text else called)


def _excerpt(text: str, words: list[str]) -> str:
    flat = " ".join(text.split())
    folded = flat.casefold()
    place = max(0, min((at for word in words if (at := folded.find(word)) >= 0), default=0) - _AROUND)
    return ("…" if place else "") + flat[place : place + _EXCERPT] + ("…" if place + _EXCERPT < len(flat) else "")
