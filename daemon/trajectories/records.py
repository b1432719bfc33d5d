"""Whole runs read back from the database, exactly as they were recorded: the side that knows SQLModel's tables.

For commands and exports; the daemon itself writes without it (see `database`).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, create_engine, select
from sqlalchemy.pool import StaticPool
from sqlalchemy.sql.selectable import SelectLabelStyle

from daemon.trajectories.feedback import feedback_from
from daemon.trajectories.packing import moment, stamp, unpack_ids, unpack_logprobs
from daemon.trajectories.prompt_ids import Link, restored
from daemon.trajectories.record import Reward, RunRecord
from daemon.trajectories.rows import calls_from, message_from, tool_from, usage_from, verdict_from
from daemon.trajectories.tables import DOCUMENT, FEEDBACK, MESSAGE, OCCURRENCE, REWARD, RUN, STEP, TOOL_CALL, VERDICT
from daemon.types import Message, Occurrence, Outcome, Reply, Run, Sample, Step

_CHUNK = 500
_STEPS_IN_MIND = 128  # whose ids the next steps stand on
_LABELS = SelectLabelStyle.LABEL_STYLE_TABLENAME_PLUS_COL


class Records:
    """The runs of one database view (see `reading.reading`)."""

    def __init__(self, view: sqlite3.Connection) -> None:
        self._engine = create_engine("sqlite://", creator=lambda: view, poolclass=StaticPool, pool_reset_on_return=None)

    def all(self, *, since: datetime | None = None, heartbeat: str | None = None) -> Iterator[RunRecord]:
        """Yield every run in the order in which they began, one at a time, so that memory stays bounded."""
        keys = select(RUN.c.key).join(OCCURRENCE).order_by(RUN.c.key)
        if since is not None:
            keys = keys.where(RUN.c.started_at >= stamp(since))
        if heartbeat is not None:
            keys = keys.where(OCCURRENCE.c.heartbeat == heartbeat)
        after, known = -1, dict[int, bytes]()
        with self._engine.connect() as connection:
            while some := connection.scalars(keys.where(RUN.c.key > after).limit(_CHUNK)).all():
                for after in some:
                    yield _Reader(connection, known).record(after)

    def run(self, run_id: str) -> RunRecord | None:
        """Return the run of this id, None when there is none."""
        with self._engine.connect() as connection:
            key = connection.scalar(select(RUN.c.key).where(RUN.c.id == run_id))
            return None if key is None else _Reader(connection, {}).record(key)


class _Reader:
    """Reads one run; documents and messages that its steps share are read once."""

    def __init__(self, connection: Connection, known: dict[int, bytes]) -> None:
        self._connection, self._known = connection, known
        self._documents: dict[int, Any] = {}
        self._messages: dict[int, Message] = {}

    def record(self, key: int) -> RunRecord:
        row = self._rows(select(RUN, OCCURRENCE).join(OCCURRENCE).where(RUN.c.key == key).set_label_style(_LABELS))[0]
        steps = self._rows(select(STEP).where(STEP.c.run_key == key).order_by(STEP.c.number))
        rewards = select(REWARD, STEP.c.number).outerjoin(STEP, STEP.c.id == REWARD.c.step_id)
        said = select(FEEDBACK).order_by(FEEDBACK.c.id)
        return RunRecord(
            _run(row),
            self._document(row["run_task_id"]),
            tuple(self._step(step) for step in steps),
            tuple(_reward(r) for r in self._rows(rewards.where(REWARD.c.run_key == key).order_by(REWARD.c.id))),
            tuple(feedback_from(r) for r in self._rows(said.where(FEEDBACK.c.run == row["run_id"]))),
        )

    def _rows(self, query: Select[Any]) -> Sequence[RowMapping]:
        return self._connection.execute(query).mappings().all()

    def _document(self, row_id: int) -> Any:
        if row_id not in self._documents:
            body = self._connection.scalar(select(DOCUMENT.c.body).where(DOCUMENT.c.id == row_id))
            self._documents[row_id] = json.loads(body or "null")
        return self._documents[row_id]

    def _sent(self, ids: Sequence[int]) -> tuple[Message, ...]:
        new = sorted(set(ids) - self._messages.keys())
        for start in range(0, len(new), _CHUNK):
            rows = self._rows(select(MESSAGE).where(MESSAGE.c.id.in_(new[start : start + _CHUNK])))
            self._messages.update((row["id"], message_from(row)) for row in rows)
        return tuple(self._messages[row_id] for row_id in ids)

    def _step(self, row: RowMapping) -> Step:
        mine = row["id"]
        made = self._rows(select(TOOL_CALL).where(TOOL_CALL.c.step_id == mine).order_by(TOOL_CALL.c.position))
        said = self._rows(select(VERDICT).where(VERDICT.c.step_id == mine).order_by(VERDICT.c.position))
        calls, results = calls_from(made)
        usage, sample = usage_from(row), self._sample(row)
        return Step(
            row["number"],
            moment(row["started_at"]),
            self._sent(unpack_ids(row["sent"])),
            Reply(row["text"], calls, row["finish"], usage, row["model"], sample, row["note"]),
            tuple(verdict_from(verdict) for verdict in said),
            results,
            row["withheld"],
            row["hint"],
            tuple(tool_from(tool) for tool in self._document(row["tools_id"])),
            row["edited_by_breaker"],
            row["rung"],
            row["anew"],
        )

    def _sample(self, row: RowMapping) -> Sample | None:
        if row["source_id"] is None:
            return None
        source = self._document(row["source_id"])
        return Sample(
            unpack_ids(self._prompt(row)),
            unpack_ids(row["completion_ids"]),
            unpack_logprobs(row["logprobs"]),
            source["model"],
            source["tokenizer"],
            source["template"],
            source["sampling"],
        )

    def _prompt(self, row: RowMapping) -> bytes:
        own = _link(row)
        prompt = restored(own, self._fetch, self._known)
        self._known[row["id"]] = prompt + own.completion
        while len(self._known) > _STEPS_IN_MIND:
            del self._known[next(iter(self._known))]
        return prompt

    def _fetch(self, step: int) -> Link:
        return _link(self._rows(select(STEP).where(STEP.c.id == step))[0])


def _link(row: RowMapping) -> Link:
    base, keep, depth = row["prompt_base"], row["prompt_keep"], row["prompt_depth"]
    return Link(base, keep, depth, row["prompt_rest"], row["completion_ids"])


def _reward(row: RowMapping) -> Reward:
    return Reward(row["component"], row["value"], row["verifier"], row["version"], row["number"])


def _run(row: RowMapping) -> Run:
    """Return the run in a row whose columns bear their table's name in front."""
    due = moment(row["occurrence_scheduled_for"])
    occurrence = Occurrence(row["run_occurrence_id"], row["occurrence_heartbeat"], due, row["occurrence_manual"])
    own = {name.removeprefix("run_"): value for name, value in row.items() if name.startswith("run_")}
    return Run(
        own["id"],
        occurrence,
        own["thread"],
        moment(own["started_at"]),
        moment(own["ended_at"]) if own["ended_at"] else None,
        Outcome(own["outcome"]) if own["outcome"] else None,
        own["reason"],
        own["steps"],
        usage_from(own),
        own["model"],
        own["commit_id"],
        own["said"],
    )
