"""What guards and breakers remember between runs, one JSON document for each (thread, guard).

The states of all guards of a thread are some hundred kilobytes, and a run changes most of them; what it showed them is
a few.  So most runs only add what was heard, in rows of their own, and whole states are saved now and then.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from daemon.trajectories.database import Database
from daemon.trajectories.packing import to_json

_STAMP = "saved"
"""The name of a row that is no guard's: it names the thread's last save, and goes when anything is forgotten."""
_HEARD = "heard/"
"""What the name of a row begins with that holds what the guards heard in one run since the whole states were saved."""
RUNS, LENGTH = 32, 131_072
"""So many runs, and so many characters of JSON, may be heard before whole states are saved: what the first run after a
start must judge again."""
_SAVE = """
    INSERT INTO guard_state (thread, guard, state) VALUES (?, ?, ?)
    ON CONFLICT (thread, guard) DO UPDATE SET state = excluded.state WHERE state <> excluded.state"""
_OUTLIVED = """
    DELETE FROM guard_state WHERE thread = ? AND instr(guard, '/') AND guard NOT IN (SELECT value FROM json_each(?))"""
_FORGET = """
    DELETE FROM guard_state WHERE guard <> 'saved' AND (? IS NULL OR thread = ?)
    AND (? IS NULL OR guard = ? OR substr(guard, 1, length(?) + 1) = ? || '/')"""
_UNSTAMP = "DELETE FROM guard_state WHERE guard = 'saved' AND (? IS NULL OR thread = ?)"
_ALL = """
    SELECT guard, state FROM guard_state WHERE thread = ? AND guard <> 'saved' AND substr(guard, 1, 6) <> 'heard/'
    ORDER BY guard"""
_OF_HEARD = "thread = ? AND guard > 'heard/' AND guard < 'heard0'"
_ALL_HEARD = f"SELECT state FROM guard_state WHERE {_OF_HEARD} ORDER BY guard"
_HOW_MUCH = f"""
    SELECT (SELECT state FROM guard_state WHERE thread = ? AND guard = 'saved'),
           count(*), coalesce(sum(length(state)), 0)
    FROM guard_state WHERE {_OF_HEARD}"""
_UNHEAR = "DELETE FROM guard_state WHERE substr(guard, 1, 6) = 'heard/' AND (? IS NULL OR thread = ?)"
_HEAR_OF_FORGETTING = """
    INSERT INTO guard_state (thread, guard, state)
    SELECT thread, printf('heard/%06d', count(*)), ? FROM guard_state
    WHERE substr(guard, 1, 6) = 'heard/' AND (? IS NULL OR thread = ?) GROUP BY thread"""
_SMALL = """
    SELECT guard, state FROM guard_state WHERE thread = ? AND (guard = 'saved' OR instr(guard, ':')) ORDER BY guard"""


@dataclass(frozen=True, slots=True)
class SqlGuardStates:
    """Keeps guard and breaker states in the database (implements stages.GuardStates)."""

    database: Database

    async def load(self, thread: str) -> Mapping[str, Mapping[str, Any]]:
        def work(connection: sqlite3.Connection) -> dict[str, dict[str, Any]]:
            return {guard: json.loads(state) for guard, state in connection.execute(_ALL, (thread,))}

        return await self.database.read(work)

    async def glance(self, thread: str) -> tuple[str, Mapping[str, Mapping[str, Any]]]:
        def work(connection: sqlite3.Connection) -> dict[str, Any]:
            return {guard: json.loads(state) for guard, state in connection.execute(_SMALL, (thread,))}

        found = await self.database.read(work)
        return found.pop(_STAMP, ""), found

    async def heard(self, thread: str) -> list[Any]:
        def work(connection: sqlite3.Connection) -> list[Any]:
            runs = connection.execute(_ALL_HEARD, (thread,))
            return [event for (events,) in runs for event in json.loads(events)]

        return await self.database.read(work)

    async def add(self, thread: str, since: str, heard: Sequence[Any], states: Mapping[str, Mapping[str, Any]]) -> str:
        stamp, events = secrets.token_hex(8), json.dumps(heard, separators=(",", ":"))
        rows = [(thread, name, to_json(state)) for name, state in states.items()]
        rows.append((thread, _STAMP, to_json(stamp)))

        def work(connection: sqlite3.Connection) -> bool:
            last, runs, length = connection.execute(_HOW_MUCH, (thread, thread)).fetchone()
            if last != to_json(since) or runs >= RUNS or length + len(events) > LENGTH:
                return False
            connection.executemany(_SAVE, [(thread, f"{_HEARD}{runs:06d}", events), *rows])
            return True

        return stamp if await self.database.write(work) else ""

    async def save(self, thread: str, states: Mapping[str, Mapping[str, Any]]) -> str:
        if not states:
            return ""
        stamp = secrets.token_hex(8)
        rows = [(thread, guard, to_json(state)) for guard, state in states.items()]
        rows.append((thread, _STAMP, to_json(stamp)))

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(_OUTLIVED, (thread, to_json(list(states))))
            connection.executemany(_SAVE, rows)

        await self.database.write(work)
        return stamp

    async def forget(self, thread: str | None, guard: str | None) -> int:
        def work(connection: sqlite3.Connection) -> int:
            connection.execute(_UNSTAMP, (thread, thread))
            if guard is None:
                connection.execute(_UNHEAR, (thread, thread))
            elif ":" not in guard:
                connection.execute(_HEAR_OF_FORGETTING, (to_json([{"forgot": guard}]), thread, thread))
            return connection.execute(_FORGET, (thread, thread, guard, guard, guard, guard)).rowcount

        return await self.database.write(work)

    async def all(self) -> list[tuple[str, str, Mapping[str, Any]]]:
        def work(connection: sqlite3.Connection) -> list[tuple[str, str, Mapping[str, Any]]]:
            rows = connection.execute("SELECT thread, guard, state FROM guard_state ORDER BY thread, guard")
            kept = [row for row in rows if row[1] != _STAMP and not row[1].startswith(_HEARD)]
            return [(thread, guard, json.loads(state)) for thread, guard, state in kept]

        return await self.database.read(work)
