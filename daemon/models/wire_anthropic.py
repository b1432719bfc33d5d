"""Prompt → the JSON of the Messages API, and its stream → Draft.  Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from daemon.models.draft import CallDraft, Complaint, Draft
from daemon.models.exchange import exchanged, system_text
from daemon.models.sse import Event
from daemon.types import Finish, Message, Prompt

_FINISH: dict[str, Finish] = {"max_tokens": "length", "model_context_window_exceeded": "length"}
_AGAIN = frozenset({"overloaded_error", "rate_limit_error", "api_error", "timeout_error"})
_NOTES = {
    "refusal": "refused by the model",
    "pause_turn": "the provider paused a long turn; it was not taken up again",
    "model_context_window_exceeded": "the model's context is full",
}
_GO_ON = {"role": "user", "content": [{"type": "text", "text": "Go on."}]}

Block = dict[str, Any]


def body(prompt: Prompt, model: str, settings: Mapping[str, Any], cache: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the request.  `cache` marks the end of the stable prefix and of the thread, so that they are reused."""
    tools: list[Block] = [
        {"name": t.name, "description": t.description, "input_schema": _schema(t.parameters)} for t in prompt.tools
    ]
    system: list[Block] = [{"type": "text", "text": text}] if (text := system_text(prompt.messages)) else []
    messages = _alternating(exchanged(prompt.messages))
    if cache is not None:
        for blocks in (system or tools, messages[-1]["content"]):
            if blocks:
                blocks[-1]["cache_control"] = dict(cache)
    request: dict[str, Any] = {"model": model, "messages": messages}
    request |= {"system": system} if system else {}
    request |= {"tools": tools} if tools else {}
    return request | {"stream": True} | dict(settings)


def _schema(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The API insists on an object; a tool without parameters may have an empty schema."""
    return {"type": "object"} | dict(parameters)


def _alternating(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Merge neighbours of the same role; begin and end with the user, as the API wants it."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        if not turns or turns[-1]["role"] != role:
            turns.append({"role": role, "content": []})
        turns[-1]["content"] += _blocks(message)
    if not turns or turns[0]["role"] == "assistant":
        turns.insert(0, _copy(_GO_ON))
    if turns[-1]["role"] == "assistant":
        turns.append(_copy(_GO_ON))
    return turns


def _copy(turn: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": turn["role"], "content": [dict(block) for block in turn["content"]]}


def _blocks(message: Message) -> list[Block]:
    if message.role == "tool":
        result: Block = {"type": "tool_result", "tool_use_id": message.call_id}
        result |= {"content": message.text} if message.text.strip() else {}
        return [result | ({"is_error": True} if message.failed else {})]
    blocks: list[Block] = [{"type": "text", "text": message.text}] if message.text.strip() else []
    return blocks + [{"type": "tool_use", "id": c.id, "name": c.name, "input": dict(c.args)} for c in message.calls]


def hear(draft: Draft, event: Event) -> str:
    """Add one event to the draft and return the new piece of text.

    Raises ValueError when it is not what the format says, Complaint when the provider reports an error.
    """
    data = json.loads(event.data)
    if not isinstance(data, dict):
        raise ValueError("an event that is not an object")
    kind = data.get("type")
    if kind == "error":
        error = data.get("error") or {}
        called = str(error.get("type", "error"))
        raise Complaint(f"{called}: {error.get('message', '')}", again=called in _AGAIN)
    if kind == "message_start":
        _count(draft, (data.get("message") or {}).get("usage") or {})
    elif kind == "content_block_start":
        return _block(draft, int(data.get("index", 0)), data.get("content_block") or {})
    elif kind == "content_block_delta":
        return _delta(draft, int(data.get("index", 0)), data.get("delta") or {})
    elif kind == "message_delta":
        _count(draft, data.get("usage") or {})
        _finish(draft, (data.get("delta") or {}).get("stop_reason"))
    elif kind == "message_stop":
        draft.over = True
    elif kind == "message":  # the answer of a server that does not stream
        return _at_once(draft, data)
    return ""


def _at_once(draft: Draft, data: Mapping[str, Any]) -> str:
    _count(draft, data.get("usage") or {})
    _finish(draft, data.get("stop_reason"))
    draft.over = True
    return "".join(_block(draft, index, block) for index, block in enumerate(data.get("content") or ()))


def _block(draft: Draft, index: int, block: Mapping[str, Any]) -> str:
    if block.get("type") == "tool_use":
        given = block.get("input")
        draft.calls[index] = CallDraft(str(block.get("id", "")), str(block.get("name", "")))
        return draft.argue(index, json.dumps(given)) if given else ""
    return draft.say(block.get("text") or "") if block.get("type") == "text" else ""


def _delta(draft: Draft, index: int, delta: Mapping[str, Any]) -> str:
    kind = delta.get("type")
    if kind == "text_delta":
        return draft.say(delta.get("text") or "")
    if kind == "input_json_delta":
        return draft.argue(index, delta.get("partial_json") or "")
    if kind == "thinking_delta":
        draft.thought_chars += len(delta.get("thinking") or "")
    return ""


def _finish(draft: Draft, reason: str | None) -> None:
    if reason:
        draft.finish = _FINISH.get(reason, "stop")
        draft.note(_NOTES.get(reason, ""))


def _count(draft: Draft, usage: Mapping[str, Any]) -> None:
    """Take what is told: the prompt's parts come first, the completion grows, and later events may leave parts out."""
    counts = draft.counts
    if "input_tokens" in usage:
        counts.reused = int(usage.get("cache_read_input_tokens") or counts.reused)
        counts.written = int(usage.get("cache_creation_input_tokens") or counts.written)
        counts.prompt = int(usage["input_tokens"] or 0) + counts.reused + counts.written
    if "output_tokens" in usage:
        counts.completion = int(usage["output_tokens"] or 0)
