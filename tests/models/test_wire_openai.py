"""Prompts become chat completion requests, and chunks become a draft."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.models import wire_openai
from daemon.models.draft import Complaint, Draft
from daemon.models.sse import Event
from daemon.types import Message, Prompt, ToolCall, ToolSpec

HOST = ToolSpec("host", "Look at the host.", {"type": "object", "properties": {"what": {"type": "string"}}})
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_KEYS = (
    "choices",
    "delta",
    "tool_calls",
    "function",
    "usage",
    "error",
    "content",
    "index",
    "finish_reason",
    "arguments",
)
_CHUNKS = st.recursive(
    _JSON,
    lambda inner: st.dictionaries(st.sampled_from(_KEYS), inner, max_size=4) | st.lists(inner, max_size=2),
    max_leaves=20,
)


def _heard(*chunks: Any) -> Draft:
    draft = Draft()
    for chunk in chunks:
        wire_openai.hear(draft, Event("message", chunk if isinstance(chunk, str) else json.dumps(chunk)))
    return draft


def _delta(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def test_a_thread_with_a_tool_call_becomes_a_request() -> None:
    """Roles, ids, arguments as JSON text and the tools stand where the API wants them."""
    call = ToolCall("x", "host", {"what": "disk"})
    thread = (
        Message("system", "Be brief."),
        Message("user", "look"),
        Message("assistant", "", (call,)),
        Message("tool", "89 %", call_id="x", name="host"),
    )
    body = wire_openai.body(Prompt("t", thread, (HOST,)), "m", {"temperature": 0})
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "look"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "call00001", "type": "function", "function": {"name": "host", "arguments": '{"what": "disk"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call00001", "content": "89 %"},
    ]
    assert body["tools"][0]["function"]["parameters"] == HOST.parameters
    assert (body["stream"], body["stream_options"], body["temperature"]) == (True, {"include_usage": True}, 0)


def test_without_tools_none_are_mentioned() -> None:
    """Some servers refuse an empty list of tools."""
    assert "tools" not in wire_openai.body(Prompt("t", (Message("user", "hi"),)), "m", {})


@given(st.dictionaries(st.text(max_size=8), _JSON, max_size=4), st.data())
def test_arguments_come_out_whole_however_they_were_cut(args: dict[str, Any], data: st.DataObject) -> None:
    """Fragments of arguments are put together by index."""
    raw = json.dumps(args)
    cut = data.draw(st.integers(0, len(raw)))
    parts = [
        {"index": 1, "id": "b", "function": {"name": "vault", "arguments": ""}},
        {"index": 0, "id": "a", "function": {"name": "host", "arguments": "{}"}},
        {"index": 1, "function": {"arguments": raw[:cut]}},
        {"index": 1, "function": {"arguments": raw[cut:]}},
    ]
    draft = _heard(*(_delta(tool_calls=[part]) for part in parts), _delta("tool_calls"))
    _, calls = draft.settled({"host", "vault"}, calls_in_text=True)
    assert calls == (ToolCall("a", "host", {}), ToolCall("b", "vault", args))


def test_whole_calls_without_an_index_stay_apart() -> None:
    """A server that leaves the index out sends each call in a chunk of its own."""
    calls = [{"id": i, "function": {"name": "host", "arguments": "{}"}} for i in "ab"]
    _, got = _heard(*(_delta(tool_calls=[call]) for call in calls)).settled({"host"}, calls_in_text=True)
    assert [call.id for call in got] == ["a", "b"]


@pytest.mark.parametrize("raw", ["{bad", "[1]", '"text"', "null", '{"a": NaN}', "1" * 5000, "[" * 100_000])
def test_arguments_that_are_no_object_become_text(raw: str) -> None:
    """Such a call is not made; what the model said is kept, and a note says so."""
    draft = _heard(_delta(content="hm", tool_calls=[{"index": 0, "function": {"name": "host", "arguments": raw}}]))
    text, calls = draft.settled({"host"}, calls_in_text=True)
    assert calls == ()
    assert text.startswith("hm\n<tool_call>\nhost ")
    assert "not a JSON object" in draft.notes[0]


def test_calls_in_the_text_are_read_only_where_they_make_sense() -> None:
    """A server without a parser leaves calls in the text; quoted markup of an unknown tool is left alone."""
    said = 'ok <tool_call>\n{"name": "host", "arguments": {"what": "load"}}\n</tool_call>'
    text, calls = _heard(_delta("stop", content=said)).settled({"host"}, calls_in_text=True)
    assert (text, [(c.name, c.args) for c in calls]) == ("ok", [("host", {"what": "load"})])
    for offered, allowed in (({"vault"}, True), ({"host"}, False), (set[str](), True)):
        assert _heard(_delta("stop", content=said)).settled(offered, calls_in_text=allowed) == (said, ())


@pytest.mark.parametrize(
    ("reason", "finish"), [("stop", "stop"), ("tool_calls", "stop"), ("length", "length"), ("content_filter", "stop")]
)
def test_finish_reasons(reason: str, finish: str) -> None:
    """Only a cut at the token limit is not a stop; a filter leaves a note."""
    draft = _heard(_delta(reason, content="x"))
    assert draft.finish == finish
    assert bool(draft.notes) == (reason == "content_filter")


def test_reasoning_is_counted_and_not_said() -> None:
    """Thoughts are neither text nor shown to whoever watches the stream."""
    draft = Draft()
    event = Event("message", json.dumps(_delta(reasoning_content="let me see", content="yes")))
    assert wire_openai.hear(draft, event) == "yes"
    assert (draft.text, draft.thought_chars) == ("yes", 10)


def test_usage_and_cached_tokens() -> None:
    """The newest counts win; cached tokens are found under both of their names."""
    draft = _heard(
        {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1}},
        {"usage": {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}},
    )
    assert (draft.counts.prompt, draft.counts.completion, draft.counts.reused) == (9, 2, 4)
    assert _heard({"usage": {"prompt_tokens": 9, "prompt_cache_hit_tokens": 7}}).counts.reused == 7


def test_an_answer_that_was_not_streamed_is_heard_too() -> None:
    """A server that ignores `stream` answers with one whole message."""
    message = {
        "role": "assistant",
        "content": "hi",
        "tool_calls": [{"id": "a", "function": {"name": "host", "arguments": "{}"}}],
    }
    draft = _heard({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    assert draft.text == "hi"
    assert draft.settled({"host"}, calls_in_text=True)[1] == (ToolCall("a", "host", {}),)


def test_halves_of_a_character_are_joined() -> None:
    """A surrogate pair that came in two chunks is one character; a half that stayed alone is replaced."""
    assert _heard(_delta(content="\ud83d"), _delta(content="\ude00")).text == "😀"
    assert _heard(_delta(content="a\ud83d")).text == "a\ufffd"


@pytest.mark.parametrize(("code", "again"), [(429, True), ("502", True), (400, False), (None, False)])
def test_an_error_inside_the_stream_is_a_complaint(code: Any, again: bool) -> None:
    """It carries the provider's words, and whether asking again makes sense."""
    with pytest.raises(Complaint, match="no more") as caught:
        _heard({"error": {"message": "no more", "code": code}})
    assert caught.value.again is again


@given(_CHUNKS)
def test_no_chunk_does_more_than_the_named_errors(chunk: Any) -> None:
    """Whatever a server sends, it is heard or refused in one of the ways that the caller knows."""
    with contextlib.suppress(ValueError, TypeError, AttributeError, KeyError, Complaint):
        _heard(chunk).settled({"host"}, calls_in_text=True)
