"""What guards and breakers remember between runs, one small JSON document for each (thread, guard)."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from daemon.trajectories.database import Database
from daemon.trajectories.packing import to_json

_STAMP = "saved"
"""The name of a row that is no guard's: it names the thread's last save, and goes when anything is forgotten."""
_SAVE = """
    INSERT INTO guard_state (thread, guard, state) VALUES (?, ?, ?)
    ON CONFLICT (thread, guard) DO UPDATE SET state = excluded.state WHERE state <> excluded.state"""
_OUTLIVED = """
    DELETE FROM guard_state WHERE thread = ? AND instr(guard, '/') AND guard NOT IN (SELECT value FROM json_each(?))"""
_FORGET = """
    DELETE FROM guard_state WHERE guard <> 'saved' AND (? IS NULL OR thread = ?)
    AND (? IS NULL OR guard = ? OR substr(guard, 1, length(?) + 1) = ? || '/')"""
_UNSTAMP = "DELETE FROM guard_state WHERE guard = 'saved' AND (? IS NULL OR thread = ?)"
_ALL = "SELECT guard, state FROM guard_state WHERE thread = ? AND guard <> 'saved' ORDER BY guard"
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
            return connection.execute(_FORGET, (thread, thread, guard, guard, guard, guard)).rowcount

        return await self.database.write(work)

    async def all(self) -> list[tuple[str, str, Mapping[str, Any]]]:
        def work(connection: sqlite3.Connection) -> list[tuple[str, str, Mapping[str, Any]]]:
            rows = connection.execute("SELECT thread, guard, state FROM guard_state ORDER BY thread, guard")
            return [(thread, guard, json.loads(state)) for thread, guard, state in rows if guard != _STAMP]

        return await self.database.read(work)
