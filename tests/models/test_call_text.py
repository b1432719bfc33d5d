"""Tool calls written as text: each family's markup, what stays text, and time that stays linear."""

from __future__ import annotations

import itertools
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.models import call_text
from daemon.models.call_text import parse
from daemon.types import ToolCall

READ = {"name": "vault_read", "arguments": {"path": "a b/ü.md", "lines": 3}}
ARGS = READ["arguments"]
JSON = json.dumps(READ, ensure_ascii=False)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
objects = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), json_values, max_size=4)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
markup = st.sampled_from(
    ["<tool_call>", "</tool_call>", "[TOOL_CALLS]", "[ARGS]", "```json\n", "```", "{", "}", "[", "]", '"', "\\", "\n",
     '"name"', ":", '"arguments"', "<think>", "</think>", "<|python_tag|>", "\ud800", "1e999", "NaN", JSON]
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (f"<tool_call>\n{JSON}\n</tool_call>", ""),
        (f"Let me look.\n<tool_call>{JSON}</tool_call>", "Let me look."),
        (f"<tool_call>\n{JSON}", ""),
        (JSON, ""),
        (f" {JSON} \n", ""),
        (f"<|python_tag|>{JSON}", ""),
        (JSON.replace("arguments", "parameters"), ""),
        (f'{{"type": "function", "function": {JSON}}}', ""),
        (f"[TOOL_CALLS] [{JSON}]", ""),
        (f"[TOOL_CALLS]vault_read[ARGS]{json.dumps(ARGS)}", ""),
        (f"[TOOL_CALLS]vault_read[CALL_ID]abcdefghi[ARGS]{json.dumps(ARGS)}", ""),
        (f"I do this:\n```json\n{JSON}\n```\nand wait.", "I do this:\n\nand wait."),
        (f"```\n{JSON}\n```", ""),
        (f"<think>Shall I?</think>\n{JSON}", "<think>Shall I?</think>"),
        (json.dumps({"name": "vault_read", "arguments": json.dumps(ARGS)}), ""),
    ],
)
def test_every_family_is_read(text: str, rest: str) -> None:
    """Each model family's way of writing a call gives the same call, and the text around it stays."""
    said, calls = parse(text)

    assert (said, [(call.name, call.args) for call in calls]) == (rest, [("vault_read", ARGS)])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No call here.",
        '{"name": "Ada", "age": 36}',
        '{"name": "host", "arguments": 3}',
        '{"name": "", "arguments": {}}',
        '<tool_call>{"name": "host", "arguments": {"what": "lo',
        "<tool_call>not JSON</tool_call>",
        '<tool_call>{"arguments": {}}</tool_call>',
        '<tool_call>{"name": "a", "arguments": {"x": NaN}}</tool_call>',
        '<tool_call>{"name": "a", "arguments": {"x": 1e999}}</tool_call>',
        '<tool_call>{"name": "a", "arguments": {"x": "\\ud800"}}</tool_call>',
        '```json\n{"name": "Ada", "email": "a@b"}\n```',
        f"```json\n{JSON}\n",
        f"<think>I could say <tool_call>{JSON}</tool_call> here.",
        f"<think><tool_call>{JSON}</tool_call></think>No, I will not.",
        f'[TOOL_CALLS] [{JSON}, {{"nam": 1}}]',
        '<tool_call>{"name": "a", "arguments": ' + "[" * 100_000,
        '{"name": "a", "arguments": {"x": ' + "1" * 5_000 + "}}",
    ],
)
def test_what_is_not_a_whole_call_stays_text(text: str) -> None:
    """Data, half a call, a thought and values that could not be stored again all stay text, unchanged."""
    assert parse(text) == (text, ())


def test_a_broken_call_does_not_hide_the_next() -> None:
    """A call that is cut off in the middle leaves the whole one behind it readable."""
    _, calls = parse(f'<tool_call>{{"name": "a", "arguments": {{"x": "cut}}</tool_call>\n<tool_call>{JSON}</tool_call>')

    assert [call.name for call in calls] == ["vault_read"]


def test_ids_come_from_the_argument() -> None:
    """The caller may name the calls; otherwise each id is nine letters and digits, and new."""
    count = itertools.count(1)
    two = call_text.write([ToolCall("", "a", {}), ToolCall("", "b", {})])

    assert [call.id for call in parse(two, lambda: str(next(count)))[1]] == ["1", "2"]
    fresh = [call.id for call in parse(two)[1]]
    assert len(set(fresh)) == 2
    assert all(len(one) == 9 and one.isalnum() for one in fresh)


@given(st.lists(st.tuples(names, objects), min_size=1, max_size=5))
def test_written_calls_are_read_back(calls: list[tuple[str, dict[str, object]]]) -> None:
    """Whatever the names and arguments are, what `write` wrote is what `parse` reads."""
    rest, found = parse("Said.\n" + call_text.write(ToolCall("x", name, args) for name, args in calls))

    assert rest == "Said."
    assert [(call.name, call.args) for call in found] == calls


@given(st.lists(st.text() | markup).map("".join))
def test_any_text_is_answered(text: str) -> None:
    """No text raises; what is found is storable, and without a find the text comes back unchanged."""
    rest, calls = parse(text)

    assert calls or rest == text
    json.dumps([[call.name, dict(call.args)] for call in calls], ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize(
    "unit", ["<tool_call>", '<tool_call>{"a":', "[TOOL_CALLS][", "```json\n{", "<tool_call>\n\n\n\n", "[", "`", '{"a":']
)
def test_ten_megabytes_take_linear_time(unit: str) -> None:
    """Text made to provoke the parser costs about ten times as much when it is ten times as long, never a hundred."""

    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        began = time.process_time()
        parse(text)
        return time.process_time() - began

    assert seconds(10_000_000) < 40 * seconds(1_000_000) + 0.5
