"""Prompts become Messages API requests, and events become a draft."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.models import wire_anthropic
from daemon.models.draft import Complaint, Draft
from daemon.models.sse import Event
from daemon.types import Message, Prompt, Role, ToolCall, ToolSpec

HOST = ToolSpec("host", "Look at the host.", {"properties": {"what": {"type": "string"}}})
CACHE = {"type": "ephemeral"}
_ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")
_THREADS = st.lists(
    st.builds(
        Message,
        st.sampled_from(_ROLES),
        st.sampled_from(["x", "", " "]),
        st.lists(st.builds(ToolCall, st.just("a"), st.just("host"), st.just({})), max_size=2).map(tuple),
        st.just("a"),
    ),
    max_size=8,
)
_EVENTS = st.recursive(
    st.none() | st.integers() | st.sampled_from(["text", "tool_use", "x", "text_delta", "input_json_delta"]),
    lambda inner: st.dictionaries(
        st.sampled_from(
            ["type", "delta", "usage", "index", "content_block", "message", "text", "partial_json", "input"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=10,
)


def _heard(*events: Any) -> Draft:
    draft = Draft()
    for event in events:
        wire_anthropic.hear(draft, Event("message", json.dumps(event)))
    return draft


def _body(*messages: Message, tools: tuple[ToolSpec, ...] = (HOST,)) -> dict[str, Any]:
    return wire_anthropic.body(Prompt("t", messages, tools), "m", {"max_tokens": 9}, CACHE)


def test_a_thread_with_a_failed_tool_call_becomes_a_request() -> None:
    """System on top, tool_use and tool_result blocks, neighbours merged, failures marked, the prefix cached."""
    call = ToolCall("x", "host", {"what": "disk"})
    body = _body(
        Message("system", "Be brief."),
        Message("user", "look"),
        Message("assistant", "I look.", (call,)),
        Message("tool", "no such disk", call_id="x", name="host", failed=True),
        Message("user", "Hint: another"),
    )
    assert body["system"] == [{"type": "text", "text": "Be brief.", "cache_control": CACHE}]
    assert body["tools"][0]["input_schema"]["type"] == "object"
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
    assert body["messages"][1]["content"][1] == {
        "type": "tool_use",
        "id": "call00001",
        "name": "host",
        "input": {"what": "disk"},
    }
    result, hint = body["messages"][2]["content"]
    assert result == {"type": "tool_result", "tool_use_id": "call00001", "content": "no such disk", "is_error": True}
    assert hint == {"type": "text", "text": "Hint: another", "cache_control": CACHE}
    assert (body["max_tokens"], body["stream"]) == (9, True)


def test_without_a_system_text_the_tools_are_the_cached_prefix() -> None:
    """The mark stands at the end of what does not change; without a cache there is none."""
    assert _body(Message("user", "hi"))["tools"][-1]["cache_control"] == CACHE
    plain = wire_anthropic.body(Prompt("t", (Message("user", "hi"),), (HOST,)), "m", {}, None)
    assert "cache_control" not in json.dumps(plain)


@given(_THREADS)
def test_any_thread_is_one_that_the_api_takes(messages: list[Message]) -> None:
    """Roles alternate from user to user, no text is blank, each tool_use has its tool_result in the next turn."""
    turns = _body(*messages)["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * (len(turns) // 2) + ["user"]
    for turn, after in zip(turns, [*turns[1:], {"content": []}], strict=True):
        assert turn["content"]
        assert all(block["text"].strip() for block in turn["content"] if block["type"] == "text")
        used = [block["id"] for block in turn["content"] if block["type"] == "tool_use"]
        results = [block["tool_use_id"] for block in after["content"] if block["type"] == "tool_result"]
        assert sorted(used) == sorted(results)


def test_a_longer_thread_keeps_its_beginning() -> None:
    """Apart from the moving cache mark, nothing that was sent before changes."""
    thread = [Message("system", "s"), Message("user", "a"), Message("assistant", "b"), Message("user", "c")]
    longer = [*thread, Message("assistant", "d"), Message("user", "e")]

    def unmarked(messages: list[Message]) -> Any:
        return json.loads(
            json.dumps(_body(*messages)["messages"]).replace(', "cache_control": {"type": "ephemeral"}', "")
        )

    assert unmarked(longer)[:3] == unmarked(thread)


def test_usage_counts_the_whole_prompt() -> None:
    """Fresh, read and written tokens make the prompt; the last completion count wins."""
    start = {"input_tokens": 10, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 5, "output_tokens": 1}
    counts = _heard(
        {"type": "message_start", "message": {"usage": start}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 42}},
    ).counts
    assert (counts.prompt, counts.reused, counts.written, counts.completion) == (95, 80, 5, 42)


@pytest.mark.parametrize(
    ("reason", "finish", "noted"),
    [
        ("end_turn", "stop", False),
        ("tool_use", "stop", False),
        ("max_tokens", "length", False),
        ("refusal", "stop", True),
        ("pause_turn", "stop", True),
        ("model_context_window_exceeded", "length", True),
    ],
)
def test_stop_reasons(reason: str, finish: str, noted: bool) -> None:
    """Each reason is told apart; what a person should know leaves a note."""
    draft = _heard({"type": "message_delta", "delta": {"stop_reason": reason}})
    assert draft.finish == finish
    assert bool(draft.notes) == noted


def test_a_call_without_arguments_is_a_call() -> None:
    """The API streams nothing at all for an empty input."""
    block = {"type": "tool_use", "id": "t", "name": "host", "input": {}}
    draft = _heard({"type": "content_block_start", "index": 1, "content_block": block})
    assert draft.settled({"host"}, calls_in_text=False)[1] == (ToolCall("t", "host", {}),)


def test_an_answer_that_was_not_streamed_is_heard_too() -> None:
    """A gateway that does not stream answers with one whole message."""
    blocks = [
        {"type": "text", "text": "hi"},
        {"type": "tool_use", "id": "t", "name": "host", "input": {"what": "load"}},
    ]
    usage = {"input_tokens": 3, "output_tokens": 2}
    draft = _heard({"type": "message", "content": blocks, "stop_reason": "tool_use", "usage": usage})
    assert draft.over
    assert draft.settled({"host"}, calls_in_text=False) == ("hi", (ToolCall("t", "host", {"what": "load"}),))


@pytest.mark.parametrize(("kind", "again"), [("overloaded_error", True), ("invalid_request_error", False)])
def test_an_error_event_is_a_complaint(kind: str, again: bool) -> None:
    """It carries the provider's words, and whether asking again makes sense."""
    with pytest.raises(Complaint, match=kind) as caught:
        _heard({"type": "error", "error": {"type": kind, "message": "busy"}})
    assert caught.value.again is again


@given(_EVENTS)
def test_no_event_does_more_than_the_named_errors(event: Any) -> None:
    """Whatever a server sends, it is heard or refused in one of the ways that the caller knows."""
    with contextlib.suppress(ValueError, TypeError, AttributeError, KeyError, Complaint):
        _heard(event).settled({"host"}, calls_in_text=False)


@given(
    st.sampled_from(
        ["message_start", "content_block_start", "content_block_delta", "message_delta", "message", "error"]
    ),
    _EVENTS,
)
def test_no_known_event_with_odd_insides_does_either(kind: str, inside: Any) -> None:
    """The same for events whose type is right and whose fields are not."""
    fields = {name: inside for name in ("message", "content_block", "delta", "usage", "content", "error")}
    with contextlib.suppress(ValueError, TypeError, AttributeError, KeyError, Complaint):
        _heard({"type": kind, **fields}).settled({"host"}, calls_in_text=False)
