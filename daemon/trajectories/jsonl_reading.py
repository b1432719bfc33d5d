"""Lines of the export `jsonl` read back into records, for training and for the proof that nothing was left out."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from daemon.trajectories.jsonl import SCHEMA
from daemon.trajectories.packing import moment
from daemon.trajectories.record import Reward, RunRecord
from daemon.trajectories.rows import call_from, tool_from
from daemon.types import Message, Occurrence, Outcome, Reply, Run, Sample, Step, ToolResult, Usage
from guards import Level, Verdict

Document = Mapping[str, Any]


def record_from(line: str) -> RunRecord:
    """Return the record that a line holds.  Raises ValueError for a line of another kind, KeyError for a torn one."""
    row = json.loads(line)
    if not isinstance(row, dict) or row.get("schema") != SCHEMA:
        raise ValueError(f"not a line of {SCHEMA}")
    occurrence = Occurrence(row["occurrence"], row["heartbeat"], moment(row["scheduled_for"]), row["manual"])
    run = Run(
        row["run"],
        occurrence,
        row["thread"],
        moment(row["started_at"]),
        moment(row["ended_at"]) if row["ended_at"] else None,
        Outcome(row["outcome"]) if row["outcome"] else None,
        row["reason"],
        row["step_count"],
        Usage(**row["usage"]),
        row["model"],
        row["commit"],
        row["said"],
    )
    steps = tuple(_step(step) for step in row["steps"])
    return RunRecord(run, row["task"], steps, tuple(Reward(**reward) for reward in row["rewards"]))


def _step(row: Document) -> Step:
    reply, sample = row["reply"], row["sample"]
    return Step(
        row["number"],
        moment(row["started_at"]),
        tuple(_message(message) for message in row["sent"]),
        Reply(
            reply["text"],
            tuple(call_from(call) for call in reply["calls"]),
            reply["finish"],
            Usage(**reply["usage"]),
            row["model"],
            None if sample is None else _sample(sample),
            reply["note"],
        ),
        tuple(_verdict(verdict) for verdict in row["verdicts"]),
        tuple(ToolResult(call_from(r["call"]), r["ok"], r["text"], r["seconds"]) for r in row["results"]),
        row["withheld"],
        row["hint"]["text"] if row["hint"] else "",
        tuple(tool_from(tool) for tool in row["tools"]),
        row["edited_by_breaker"],
        row.get("rung", ""),
        row.get("anew", False),
    )


def _verdict(row: Document) -> Verdict:
    return Verdict(
        **{**row, "level": Level[row["level"].upper()], "evidence": tuple(row.get("evidence", ()))},
    )


def _sample(row: Document) -> Sample:
    return Sample(
        tuple(row["prompt_ids"]),
        tuple(row["completion_ids"]),
        tuple(math.nan if x is None else x for x in row["logprobs"]),
        row["model"],
        row["tokenizer"],
        row["template"],
        row["sampling"],
    )


def _message(row: Document) -> Message:
    return Message(
        row["role"],
        row["text"],
        tuple(call_from(call) for call in row["calls"]),
        row["call_id"],
        row["name"],
        None if row["token_ids"] is None else tuple(row["token_ids"]),
        row["token_model"],
        row["failed"],
    )
