"""What stood before the eyes of a run when it wrote: the results that it asked for, and those that its thread held.

`untrusted` is a tool for whose results nobody vouches; a tool that is not known is not trusted.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any

Answer = dict[str, Any]

_READS = "answered IS NOT NULL AND coalesce(json_extract(args, '$.action'), '') NOT IN ('write', 'append')"
_OF_RUN = f"""
    SELECT name, tools_id, count(*) AS calls
    FROM run JOIN step ON run_key = run.key JOIN tool_call ON step_id = step.id
    WHERE run.id = :run AND {_READS}
    GROUP BY name, tools_id ORDER BY min(step.number), name"""
_OF_THREAD = f"""
    SELECT DISTINCT run.key AS key, run.id AS run, name, tools_id
    FROM run JOIN step ON step.run_key = run.key JOIN tool_call ON step_id = step.id
    WHERE run.key IN (SELECT run_key FROM thread_entry WHERE thread_entry.thread = :thread) AND {_READS}
    ORDER BY run.key"""


@dataclass(slots=True)
class Heard:
    """Answers for many runs; a thread is looked through once."""

    _trusted: dict[int, frozenset[str]] = field(default_factory=dict)
    _threads: dict[str, dict[str, list[tuple[int, str]]]] = field(default_factory=dict)

    def by(self, connection: sqlite3.Connection, run: str) -> list[Answer] | None:
        """Return {tool, calls, untrusted} of what a run heard from its tools, None when no such run is recorded.

        A call whose action is to write is not one that reads.
        """
        if connection.execute("SELECT 1 FROM run WHERE id = ?", (run,)).fetchone() is None:
            return None
        heard = dict[str, Answer]()
        for row in connection.execute(_OF_RUN, {"run": run}):
            untrusted = row["name"] not in self._vouched(connection, row["tools_id"])
            one = heard.setdefault(row["name"], {"tool": row["name"], "calls": 0, "untrusted": untrusted})
            one["calls"] += row["calls"]
            one["untrusted"] |= untrusted
        return list(heard.values())

    def before(self, connection: sqlite3.Connection, run: str) -> list[Answer]:
        """Return {tool, run} of untrusted tools that earlier runs of its thread had read, each with the latest of them.

        A compaction leaves a summary of what was read, so this holds after one too.
        """
        place = connection.execute("SELECT key, thread FROM run WHERE id = ? AND durable", (run,)).fetchone()
        if place is None:
            return []
        found = list[Answer]()
        for tool, reads in self._untrusted(connection, place["thread"]).items():
            if at := bisect_left(reads, (place["key"], "")):
                found.append({"tool": tool, "run": reads[at - 1][1]})
        return found

    def _untrusted(self, connection: sqlite3.Connection, thread: str) -> dict[str, list[tuple[int, str]]]:
        """Every untrusted read of a thread, by tool, in the order of the runs."""
        if thread not in self._threads:
            reads = self._threads[thread] = {}
            for row in connection.execute(_OF_THREAD, {"thread": thread}):
                if row["name"] not in self._vouched(connection, row["tools_id"]):
                    reads.setdefault(row["name"], []).append((row["key"], row["run"]))
        return self._threads[thread]

    def _vouched(self, connection: sqlite3.Connection, tools: int) -> frozenset[str]:
        """The names of the trusted tools among those that a step was offered."""
        if tools not in self._trusted:
            (body,) = connection.execute("SELECT body FROM document WHERE id = ?", (tools,)).fetchone()
            self._trusted[tools] = frozenset(tool["name"] for tool in json.loads(body) if not tool["untrusted"])
        return self._trusted[tools]
