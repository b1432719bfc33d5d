"""What a fault-injecting server does with one request: an answer in either wire format, or one of the ways to fail."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Say:
    """A proper streamed answer; each piece of `text` is an event.

    A call is (name, arguments); arguments that are a string are sent as they are.  `usage` is (prompt, reused,
    completion) tokens, None to tell nothing.  After `cut` pieces of text the connection is closed, after `hang` pieces
    nothing more comes.  `bytes_each` sends the stream in pieces of that size.
    """

    text: Sequence[str] = ()
    calls: Sequence[tuple[str, Mapping[str, Any] | str]] = ()
    finish: Literal["stop", "length", "refusal"] = "stop"
    usage: tuple[int, int, int] | None = (12, 4, 3)
    cut: int | None = None
    hang: int | None = None
    bytes_each: int | None = None


@dataclass(frozen=True, slots=True)
class Send:
    """Any answer at all, byte for byte."""

    status: int = 200
    body: bytes = b""
    type: str = "text/event-stream"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Silence:
    """Take the request and never answer."""


@dataclass(frozen=True, slots=True)
class Slam:
    """Close the connection without a word."""


Act: TypeAlias = Say | Send | Silence | Slam


OPENAI_OPENING, ANTHROPIC_OPENING = 1, 3
"""How many events come before the first piece of text."""


def refusal(status: int, message: str, **headers: str) -> Send:
    """Return an error as both APIs send it; underscores in the names of `headers` become hyphens."""
    body = json.dumps({"error": {"type": "error", "message": message}}).encode()
    return Send(status, body, "application/json", {name.replace("_", "-"): value for name, value in headers.items()})


def openai_events(say: Say) -> list[bytes]:
    """Return the answer as a stream of chat completion chunks."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in say.text]
    for index, (name, args) in enumerate(say.calls):
        raw = _raw(args)
        half = len(raw) // 2
        function = {"name": name, "arguments": ""}
        deltas.append({"tool_calls": [{"index": index, "id": f"id{index}", "type": "function", "function": function}]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": part}}]} for part in (raw[:half], raw[half:])
        ]
    reasons = {"stop": "tool_calls" if say.calls else "stop", "length": "length", "refusal": "content_filter"}
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reasons[say.finish]}]})
    if say.usage is not None:
        prompt, reused, completion = say.usage
        details = {"cached_tokens": reused}
        usage = {"prompt_tokens": prompt, "completion_tokens": completion, "prompt_tokens_details": details}
        chunks.append({"choices": [], "usage": usage})
    return [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks] + [b"data: [DONE]\n\n"]


def anthropic_events(say: Say) -> list[bytes]:
    """Return the answer as a stream of Messages API events."""
    prompt, reused, completion = say.usage or (0, 0, 0)
    start = {"input_tokens": prompt - reused, "cache_read_input_tokens": reused, "output_tokens": 1}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {"usage": start if say.usage else {}}}]
    events.append({"type": "ping"})
    if say.text:
        block = [{"type": "text_delta", "text": piece} for piece in say.text]
        events += _block(0, {"type": "text", "text": ""}, block)
    for index, (name, args) in enumerate(say.calls, start=1):
        raw = _raw(args)
        parts = [{"type": "input_json_delta", "partial_json": part} for part in ("", raw[:5], raw[5:])]
        events += _block(index, {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}, parts)
    reasons = {"stop": "tool_use" if say.calls else "end_turn", "length": "max_tokens", "refusal": "refusal"}
    end: dict[str, Any] = {"type": "message_delta", "delta": {"stop_reason": reasons[say.finish]}}
    events.append(end | ({"usage": {"output_tokens": completion}} if say.usage else {}))
    events.append({"type": "message_stop"})
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


def _block(index: int, block: Mapping[str, Any], deltas: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _raw(args: Mapping[str, Any] | str) -> str:
    return args if isinstance(args, str) else json.dumps(dict(args))
