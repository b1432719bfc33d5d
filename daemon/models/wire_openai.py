"""Prompt → the JSON of `/v1/chat/completions`, and its stream → Draft.  Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from daemon.models.draft import CallDraft, Complaint, Draft
from daemon.models.exchange import exchanged, system_text
from daemon.models.sse import Event
from daemon.types import Finish, Message, Prompt, ToolSpec

_FINISH: dict[str, Finish] = {"length": "length", "max_tokens": "length"}
_AGAIN = frozenset({"429", "500", "502", "503", "504", "529"})
_arguments = json.JSONEncoder(ensure_ascii=False).encode
_NOTES = {"content_filter": "refused: the provider's content filter ended the answer"}


def body(prompt: Prompt, model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request; `settings` are further fields, as the API names them."""
    system = system_text(prompt.messages)
    messages = [{"role": "system", "content": system}] if system else []
    messages += [_message(message) for message in exchanged(prompt.messages)]
    request: dict[str, Any] = {"model": model, "messages": messages}
    if prompt.tools:
        request["tools"] = tools(prompt.tools)
    return request | {"stream": True, "stream_options": {"include_usage": True}} | dict(settings)


def tools(specs: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    """Return the tools as the API lists them."""
    return [
        {
            "type": "function",
            "function": {"name": s.name, "description": s.description, "parameters": dict(s.parameters)},
        }
        for s in specs
    ]


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    plain: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.calls:
        plain["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _arguments(dict(call.args))},
            }
            for call in message.calls
        ]
    return plain


def hear(draft: Draft, event: Event) -> str:
    """Add one event to the draft and return the new piece of text.

    Raises ValueError when it is not what the format says, Complaint when the provider reports an error.
    """
    if event.data.strip() == "[DONE]":
        draft.over = True
        return ""
    chunk = json.loads(event.data)
    if not isinstance(chunk, dict):
        raise ValueError("a chunk that is not an object")
    if error := chunk.get("error"):
        told = error if isinstance(error, dict) else {"message": error}
        raise Complaint(told.get("message"), again=str(told.get("code")) in _AGAIN)
    if isinstance(usage := chunk.get("usage"), dict):
        _count(draft, usage)
    piece = ""
    for choice in chunk.get("choices") or ():
        if choice.get("index", 0) == 0:
            piece += _choice(draft, choice)
    return piece


def _choice(draft: Draft, choice: Mapping[str, Any]) -> str:
    delta = choice.get("delta") or choice.get("message") or {}
    thought = delta.get("reasoning_content") or delta.get("reasoning") or ""
    draft.thought_chars += len(thought)
    piece = draft.say(delta.get("content") or "")
    if refusal := delta.get("refusal"):
        piece += draft.say(refusal)
        draft.note("refused by the model")
    for position, part in enumerate(delta.get("tool_calls") or ()):
        piece += _call(draft, part, position)
    if reason := choice.get("finish_reason"):
        draft.finish = _FINISH.get(reason, "stop")
        draft.note(_NOTES.get(reason, ""))
    return piece


def _call(draft: Draft, part: Mapping[str, Any], position: int) -> str:
    index, new_id = part.get("index"), part.get("id")
    if index is None:  # some servers leave it out and send whole calls, one a chunk
        begun = position in draft.calls and new_id not in (None, draft.calls[position].id)
        index = len(draft.calls) if begun else position
    call, function = draft.calls.setdefault(int(index), CallDraft()), part.get("function") or {}
    call.id = call.id or new_id or ""
    call.name = call.name or function.get("name") or ""
    fragment = function.get("arguments") or ""
    return draft.argue(int(index), fragment if isinstance(fragment, str) else json.dumps(fragment))


def _count(draft: Draft, usage: Mapping[str, Any]) -> None:
    """Take the newest counts: some servers send them with every chunk, growing."""
    details = usage.get("prompt_tokens_details") or {}
    draft.counts.prompt = int(usage.get("prompt_tokens") or 0)
    draft.counts.completion = int(usage.get("completion_tokens") or 0)
    draft.counts.reused = int(details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or 0)
