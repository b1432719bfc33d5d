"""Nouns of `daemon.types` as columns and as JSON, and back again.

One place for both, so that what the recorder writes and what the exports read cannot drift apart.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from daemon.trajectories.packing import clean, finite, pack_ids, to_json, unpack_ids
from daemon.types import Heartbeat, Message, Reply, Step, ToolCall, ToolResult, ToolSpec, Usage
from guards import Level, Verdict

Document = dict[str, Any]


class Fields(Protocol):
    """A row by column name: sqlite3's and SQLAlchemy's are both of this kind."""

    def __getitem__(self, name: str, /) -> Any: ...


def call_document(call: ToolCall) -> Document:
    return {"id": clean(call.id), "name": clean(call.name), "args": call.args}


def call_from(document: Mapping[str, Any]) -> ToolCall:
    return ToolCall(document["id"], document["name"], document["args"])


def tool_document(tool: ToolSpec) -> Document:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "timeout_seconds": tool.timeout_seconds,
        "max_chars": tool.max_chars,
        "untrusted": tool.untrusted,
    }


def tool_from(document: Mapping[str, Any]) -> ToolSpec:
    return ToolSpec(**document)


def task_document(heartbeat: Heartbeat) -> Document:
    """Return what a heartbeat's file asked for when the run began."""
    budget = heartbeat.budget
    return {
        "instruction": heartbeat.instruction,
        "thread": heartbeat.thread,
        "models": list(heartbeat.models),
        "tools": list(heartbeat.tools),
        "expect": list(heartbeat.expect),
        "facts": list(heartbeat.facts),
        "budget": {
            "steps": budget.steps,
            "tokens": budget.tokens,
            "seconds": budget.seconds,
            "usd": budget.usd,
        },
    }


def message_columns(message: Message) -> tuple[str | bytes | bool | None, ...]:
    """Return role, text, calls, call_id, name, token_ids, token_model and failed of a message."""
    return (
        message.role,
        clean(message.text),
        to_json([call_document(call) for call in message.calls]) if message.calls else None,
        None if message.call_id is None else clean(message.call_id),
        None if message.name is None else clean(message.name),
        None if message.token_ids is None else pack_ids(message.token_ids),
        message.token_model,
        message.failed,
    )


def message_from(row: Fields) -> Message:
    return Message(
        row["role"],
        row["text"],
        tuple(call_from(call) for call in json.loads(row["calls"] or "[]")),
        row["call_id"],
        row["name"],
        None if row["token_ids"] is None else unpack_ids(row["token_ids"]),
        row["token_model"],
        bool(row["failed"]),
    )


def usage_columns(usage: Usage) -> tuple[object, ...]:
    """Return prompt_tokens, reused_tokens, completion_tokens, usd and seconds."""
    return usage.prompt, usage.reused, usage.completion, finite(usage.usd), finite(usage.seconds)


def usage_from(row: Fields) -> Usage:
    counts = row["prompt_tokens"], row["reused_tokens"], row["completion_tokens"]
    return Usage(*counts, row["usd"], row["seconds"])


def verdict_columns(verdict: Verdict) -> tuple[object, ...]:
    """Return guard, level, score, reason, hint, outcome and evidence."""
    reason, hint = clean(verdict.reason), clean(verdict.hint)
    evidence = to_json([clean(span) for span in verdict.evidence]) if verdict.evidence else None
    return verdict.guard, int(verdict.level), finite(verdict.score), reason, hint, verdict.outcome, evidence


def verdict_from(row: Fields) -> Verdict:
    level, evidence = Level(row["level"]), tuple(json.loads(row["evidence"] or "[]"))
    return Verdict(row["guard"], level, row["score"], row["reason"], row["hint"], row["outcome"], evidence)


def tool_call_columns(step: Step) -> list[tuple[object, ...]]:
    """Return (asked, answered, call_id, name, args, ok, text, seconds) for each call of a step and each result.

    A result stands in the row of the call that it answers; one that answers no call of this reply has a row of its own.
    """
    waiting = dict(enumerate(step.results))
    rows = [_tool_call_row(place, call, _answer(waiting, call)) for place, call in enumerate(step.reply.calls)]
    return rows + [_tool_call_row(None, result.call, (place, result)) for place, result in waiting.items()]


def _answer(waiting: dict[int, ToolResult], call: ToolCall) -> tuple[int, ToolResult] | None:
    place = next((place for place, result in waiting.items() if result.call == call), None)
    return None if place is None else (place, waiting.pop(place))


def _tool_call_row(asked: int | None, call: ToolCall, answer: tuple[int, ToolResult] | None) -> tuple[object, ...]:
    what = clean(call.id), clean(call.name), to_json(call.args)
    if answer is None:
        return asked, None, *what, None, None, None
    answered, result = answer
    return asked, answered, *what, result.ok, clean(result.text), finite(result.seconds)


def calls_from(rows: Sequence[Fields]) -> tuple[tuple[ToolCall, ...], tuple[ToolResult, ...]]:
    """Return the calls and the results of a step, each in its own order."""
    asked, answered = dict[int, ToolCall](), dict[int, ToolResult]()
    for row in rows:
        call = ToolCall(row["call_id"], row["name"], json.loads(row["args"]))
        if row["asked"] is not None:
            asked[row["asked"]] = call
        if row["answered"] is not None:
            answered[row["answered"]] = ToolResult(call, bool(row["ok"]), row["text"], row["seconds"])
    return tuple(asked[n] for n in sorted(asked)), tuple(answered[n] for n in sorted(answered))


def source_document(reply: Reply) -> Document | None:
    """Return which weights, tokenizer and template sampled a reply, and with which settings; None if nobody said."""
    sample = reply.sample
    if sample is None:
        return None
    return {
        "model": sample.model,
        "tokenizer": sample.tokenizer,
        "template": sample.template,
        "sampling": sample.sampling,
    }
