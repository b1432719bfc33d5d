"""The trajectory as it is written: runs, steps, verdicts, tool calls, and the thread that a run leaves behind.

Everything that is awaited here is on the disk; a kill loses at most the step that was never acknowledged.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field

from daemon.trajectories import samples
from daemon.trajectories.database import Database
from daemon.trajectories.interned import document_id, message_ids
from daemon.trajectories.lately import Lately
from daemon.trajectories.packing import clean, pack_ids, stamp
from daemon.trajectories.prompt_ids import Tail
from daemon.trajectories.rows import (
    Document,
    source_document,
    task_document,
    tool_call_columns,
    tool_document,
    usage_columns,
    verdict_columns,
)
from daemon.trajectories.threads import append
from daemon.types import Heartbeat, Message, Run, Sample, Step

_BEGIN = """
    INSERT INTO run (id, occurrence_id, task_id, thread, durable, started_at, reason, steps,
                     prompt_tokens, reused_tokens, completion_tokens, usd, seconds, model, said)
    VALUES (?, ?, ?, ?, ?, ?, '', 0, 0, 0, 0, 0, 0, ?, '')"""
_FINISH = """
    UPDATE run SET ended_at = ?, outcome = ?, reason = ?, steps = ?, prompt_tokens = ?, reused_tokens = ?,
                   completion_tokens = ?, usd = ?, seconds = ?, model = ?, commit_id = ?, said = ?
    WHERE key = ?"""
_END_OCCURRENCE = "UPDATE occurrence SET status = 'ended', ended_at = ?, outcome = ?, reason = ? WHERE id = ?"
_FIND_RUN = "SELECT key, durable, outcome FROM run WHERE id = ?"
_FIND_STEP = "SELECT id FROM step WHERE run_key = ? AND number = ?"
_COLUMNS = (
    "run_key, number, started_at, sent, tools_id, text, finish, note, model, prompt_tokens, reused_tokens, "
    "completion_tokens, usd, seconds, withheld, hint, edited_by_breaker, rung, anew, source_id"
)
_MARKS = ", ".join("?" * len(_COLUMNS.split(",")))
_ADD_STEP = f"INSERT INTO step ({_COLUMNS}, prompt_keep, prompt_depth) VALUES ({_MARKS}, 0, 0) RETURNING id"
_REPLACE_STEP = f"UPDATE step SET ({_COLUMNS}) = ({_MARKS}) WHERE id = ?"
_ADD_VERDICT = """
    INSERT INTO verdict (step_id, position, guard, level, score, reason, hint, outcome, evidence)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_ADD_CALL = """
    INSERT INTO tool_call (step_id, position, asked, answered, call_id, name, args, ok, text, seconds)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""


@dataclass(frozen=True, slots=True)
class SqlRecorder:
    """Writes trajectories into the database (implements stages.Recorder)."""

    database: Database
    lately: Lately = field(default_factory=Lately)
    _tails: dict[str, Tail] = field(default_factory=dict)

    async def begin(self, run: Run, heartbeat: Heartbeat, model: str = "") -> None:
        task, durable = task_document(heartbeat), heartbeat.thread is not None
        await self.database.write(lambda connection: _begin(connection, run, task, durable, model))

    async def step(self, run: Run, step: Step) -> None:
        before = self._tails.pop(run.thread, None)  # comes back only when the write is known to be kept
        after = await self.database.write(lambda connection: _write_step(connection, run, step, before, self.lately))
        if after is not None:
            self._tails[run.thread] = after

    async def finish(self, run: Run, thread: Sequence[Message]) -> None:
        """Close the record.  The first end is the one that stays: finishing again changes nothing."""
        if run.outcome is None or run.ended_at is None:
            raise ValueError(f"run {run.id} has no end yet")
        ended, reason, outcome = stamp(run.ended_at), clean(run.reason), run.outcome.value

        def work(connection: sqlite3.Connection) -> None:
            key, durable, was = _find(connection, run) or _begun_late(connection, run)
            if was is not None:
                return
            usage = usage_columns(run.usage)
            result = (ended, outcome, reason, run.steps, *usage, run.model, run.commit, clean(run.said))
            connection.execute(_FINISH, (*result, key))
            connection.execute(_END_OCCURRENCE, (ended, outcome, reason, run.occurrence.id))
            if durable:
                append(connection, run.thread, thread, key)

        await self.database.write(work)


def _begin(connection: sqlite3.Connection, run: Run, task: Document, durable: bool, model: str) -> None:
    row = (run.id, run.occurrence.id, document_id(connection, task), run.thread, durable)
    connection.execute(_BEGIN, (*row, stamp(run.started_at), run.model or model))


def _find(connection: sqlite3.Connection, run: Run) -> tuple[int, bool, str | None] | None:
    row = connection.execute(_FIND_RUN, (run.id,)).fetchone()
    return None if row is None else (row["key"], bool(row["durable"]), row["outcome"])


def _begun_late(connection: sqlite3.Connection, run: Run) -> tuple[int, bool, str | None]:
    """Open the record of a run that ends, because the disk was full when it began; what it was asked is not known."""
    _begin(connection, run, {}, durable=False, model="")
    found = _find(connection, run)
    assert found is not None, "a row that was just written"
    return found


def _write_step(
    connection: sqlite3.Connection, run: Run, step: Step, before: Tail | None, lately: Lately
) -> Tail | None:
    """Write a step and return the thread's tail after it; `before` is the tail if it is known."""
    found = _find(connection, run)
    if found is None:
        raise ValueError(f"run {run.id} was never begun")
    key = found[0]
    known = connection.execute(_FIND_STEP, (key, step.number)).fetchone()
    sent = message_ids(connection, step.sent, lately.rows(run.thread))
    columns = (key, step.number, *_step_columns(connection, step, sent))
    if known is None:
        (number,) = connection.execute(_ADD_STEP, columns).fetchone()
        after = _add_sample(connection, run.thread, number, step.reply.sample, before)
    else:
        (number,) = known
        connection.execute(_REPLACE_STEP, (*columns, number))
        connection.execute("DELETE FROM verdict WHERE step_id = ?", (number,))
        connection.execute("DELETE FROM tool_call WHERE step_id = ?", (number,))
        again = samples.replace(connection, number, step.reply.sample, before)
        after = before if before is not None and before.step != number else again
    verdicts = [(number, place, *verdict_columns(verdict)) for place, verdict in enumerate(step.verdicts)]
    connection.executemany(_ADD_VERDICT, verdicts)
    connection.executemany(_ADD_CALL, [(number, place, *row) for place, row in enumerate(tool_call_columns(step))])
    return after


def _add_sample(
    connection: sqlite3.Connection, thread: str, step: int, sample: Sample | None, before: Tail | None
) -> Tail | None:
    if sample is None:
        return before
    return samples.add(connection, step, sample, before or samples.tail(connection, thread, but=step))


def _step_columns(connection: sqlite3.Connection, step: Step, sent: Sequence[int]) -> tuple[object, ...]:
    reply, source = step.reply, source_document(step.reply)
    return (
        stamp(step.started_at),
        pack_ids(sent),
        document_id(connection, [tool_document(tool) for tool in step.tools]),
        clean(reply.text),
        reply.finish,
        clean(reply.note),
        reply.model,
        *usage_columns(reply.usage),
        step.withheld,
        clean(step.hint),
        step.edited_by_breaker,
        step.rung,
        step.anew,
        None if source is None else document_id(connection, source),
    )
