"""Short questions to the database for status, explain and listings; every answer is plain dictionaries.

Each takes a connection, so that a command asks through `reading.reading` and the daemon through `Database.read`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from daemon.trajectories.packing import stamp
from guards import Level

Answer = dict[str, Any]

_RUNS = """
    SELECT run.id AS run, heartbeat, scheduled_for, manual, thread, started_at, run.ended_at, run.outcome, run.reason,
           steps, prompt_tokens, reused_tokens, completion_tokens, usd, seconds, model, commit_id AS "commit"
    FROM run JOIN occurrence ON occurrence.id = occurrence_id
    WHERE (:heartbeat IS NULL OR heartbeat = :heartbeat) AND (:since IS NULL OR started_at >= :since)
    ORDER BY key DESC LIMIT :limit"""
_OCCURRENCES = """
    SELECT occurrence.id AS occurrence, heartbeat, scheduled_for, manual, status, recorded_at, occurrence.ended_at,
           occurrence.outcome, occurrence.reason, run.id AS run
    FROM occurrence LEFT JOIN run ON occurrence_id = occurrence.id
    WHERE (:heartbeat IS NULL OR heartbeat = :heartbeat) AND (:since IS NULL OR recorded_at >= :since)
    ORDER BY scheduled_for DESC, occurrence.id DESC LIMIT :limit"""
_OUTCOMES = """
    SELECT heartbeat, CASE status WHEN 'ended' THEN outcome WHEN 'claimed' THEN 'running' ELSE status END AS outcome,
           count(*) AS count
    FROM occurrence WHERE (:since IS NULL OR recorded_at >= :since) GROUP BY 1, 2 ORDER BY 1, 2"""
_MISSED = """
    SELECT heartbeat, reason, count(*) AS count FROM occurrence
    WHERE status = 'missed' AND (:since IS NULL OR recorded_at >= :since) GROUP BY 1, 2 ORDER BY 1, 2"""
_SUCCESSES = """
    SELECT heartbeat, max(ended_at) FROM occurrence WHERE outcome = 'ok' GROUP BY heartbeat"""
_WITHOUT_COMMIT = """
    SELECT id FROM run WHERE commit_id IS NULL AND outcome IN ('interrupted', 'failed')
    ORDER BY key DESC LIMIT :limit"""
_SPEND = """
    SELECT coalesce(sum(usd), 0.0) AS usd, coalesce(sum(prompt_tokens + completion_tokens), 0) AS tokens,
           count(*) AS steps
    FROM step WHERE started_at >= :since AND (:until IS NULL OR started_at < :until)"""
_VERDICTS = """
    SELECT guard, level, count(*) AS count FROM verdict JOIN step ON step.id = step_id
    WHERE :since IS NULL OR started_at >= :since GROUP BY 1, 2 ORDER BY 1, 2"""
_THREADS = """
    SELECT thread_entry.thread, count(*) AS messages, sum(live) AS live_messages, sum(summary) AS summaries,
           count(DISTINCT run_key) AS runs, max(ended_at) AS last_ended_at
    FROM thread_entry LEFT JOIN run ON run.key = run_key GROUP BY 1 ORDER BY 1"""
_THREAD = """
    SELECT position, role, name, text, calls, call_id, live, summary, coalesce(retired_by, 0) = -1 AS taken_back,
           run.id AS run, length(token_ids) / 4 AS tokens
    FROM thread_entry JOIN message ON message.id = message_id LEFT JOIN run ON run.key = run_key
    WHERE thread_entry.thread = :thread ORDER BY position"""
_BREAKERS = """
    SELECT thread, substr(guard, 9) AS guard, state FROM guard_state WHERE guard LIKE 'breaker:%' ORDER BY 1, 2"""
_FLAGS = ("manual", "live", "summary", "taken_back")


def runs(
    connection: sqlite3.Connection,
    limit: int = 20,
    *,
    heartbeat: str | None = None,
    since: datetime | None = None,
) -> list[Answer]:
    """Return the newest runs, newest first; an `outcome` of None is a run that goes on."""
    return _ask(connection, _RUNS, heartbeat=heartbeat, since=_since(since), limit=limit)


def occurrences(
    connection: sqlite3.Connection,
    limit: int = 20,
    *,
    heartbeat: str | None = None,
    since: datetime | None = None,
) -> list[Answer]:
    """Return the latest due times, latest first, each with what became of it: `status`, `outcome`, `reason`, `run`."""
    return _ask(connection, _OCCURRENCES, heartbeat=heartbeat, since=_since(since), limit=limit)


def outcome_counts(connection: sqlite3.Connection, since: datetime | None = None) -> list[Answer]:
    """Return {heartbeat, outcome, count}; "missed" and "running" stand among the outcomes."""
    return _ask(connection, _OUTCOMES, since=_since(since))


def missed_counts(connection: sqlite3.Connection, since: datetime | None = None) -> list[Answer]:
    """Return {heartbeat, reason, count} of the due times that did not run."""
    return _ask(connection, _MISSED, since=_since(since))


def last_successes(connection: sqlite3.Connection) -> dict[str, str]:
    """Return when each heartbeat last ended `ok`; a run that had nothing to do is no success."""
    return {row[0]: row[1] for row in connection.execute(_SUCCESSES)}


def runs_without_commit(connection: sqlite3.Connection, limit: int = 50) -> list[str]:
    """Return the newest runs that were cut off and name no commit, newest first; the vault may have one of theirs."""
    return [row[0] for row in connection.execute(_WITHOUT_COMMIT, {"limit": limit})]


def spend(connection: sqlite3.Connection, since: datetime, until: datetime | None = None) -> Answer:
    """Return {usd, tokens, steps} of all steps that began in this time, ended runs and open ones alike."""
    return _ask(connection, _SPEND, since=stamp(since), until=_since(until))[0]


def verdict_counts(connection: sqlite3.Connection, since: datetime | None = None) -> list[Answer]:
    """Return {guard, level, count}."""
    return [row | {"level": str(Level(row["level"]))} for row in _ask(connection, _VERDICTS, since=_since(since))]


def threads(connection: sqlite3.Connection) -> list[Answer]:
    """Return {thread, messages, live_messages, summaries, runs, last_ended_at} of every durable thread."""
    return _ask(connection, _THREADS)


def thread(connection: sqlite3.Connection, name: str) -> list[Answer]:
    """Return the whole history of a thread in the order in which it was said; `live` is what a prompt is made of."""
    rows = _ask(connection, _THREAD, thread=name)
    return [row | {"calls": json.loads(row["calls"] or "[]")} for row in rows]


def next_due(connection: sqlite3.Connection) -> dict[str, str | None]:
    """Return when each heartbeat is due next, as it was last written down."""
    return {row[0]: row[1] for row in connection.execute("SELECT heartbeat, next_due FROM due")}


def breaker_states(connection: sqlite3.Connection) -> list[Answer]:
    """Return {thread, guard, state} of every breaker that has ever tripped."""
    return [row | {"state": json.loads(row["state"])} for row in _ask(connection, _BREAKERS)]


def _ask(connection: sqlite3.Connection, question: str, **given: object) -> list[Answer]:
    found: Sequence[sqlite3.Row] = connection.execute(question, given).fetchall()
    return [{key: bool(row[key]) if key in _FLAGS else row[key] for key in row.keys()} for row in found]  # noqa: SIM118


def _since(moment: datetime | None) -> str | None:
    return None if moment is None else stamp(moment)
