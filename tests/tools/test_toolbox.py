"""The toolbox: limits, complaints and cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from daemon.errors import ToolError
from daemon.tools.base import Setting, Tool
from daemon.tools.toolbox import Toolbox
from daemon.types import ToolCall, ToolResult, ToolSpec

SCHEMA = {
    "type": "object",
    "properties": {
        "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
        "count": {"type": "integer", "minimum": 1, "description": "how many, from 1"},
        "where": {"type": "string"},
    },
    "required": ["count"],
    "additionalProperties": False,
}


class Paint(Tool):
    """A tool that answers with its arguments, or does what it was made to do."""

    name: ClassVar[str] = "paint"

    def __init__(self, raises: Exception | None = None, text: str | None = None, hangs: bool = False) -> None:
        super().__init__()
        self.raises, self.text, self.hangs = raises, text, hangs
        self.cancelled = False

    def spec(self) -> ToolSpec:
        return ToolSpec("paint", "Paints.", SCHEMA, timeout_seconds=0.01, max_chars=100)

    async def run(self, args: Mapping[str, Any], setting: Setting) -> str:
        if self.raises:
            raise self.raises
        try:
            if self.hangs:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return self.text if self.text is not None else str(dict(args))


def call(tool: Tool, setting: Setting, args: Mapping[str, Any], name: str = "paint") -> ToolResult:
    """One call through a toolbox."""
    return asyncio.run(Toolbox([tool], setting).run(ToolCall("1", name, args)))


def test_arguments_come_with_their_defaults(setting: Setting) -> None:
    """What the schema gives a default is filled in, and a null for an optional one is absent."""
    result = call(Paint(), setting, {"count": 2, "where": None})

    assert result.ok
    assert result.text == "{'colour': 'red', 'count': 2}"


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({}, "argument 'count' is missing: expected how many, from 1"),
        ({"count": None}, "argument 'count' is null: expected how many, from 1"),
        ({"count": 0}, "argument 'count' is 0: expected how many, from 1"),
        ({"count": 1, "colour": "green"}, "argument 'colour' is \"green\": expected one of red, blue"),
        ({"count": 1, "where": 5}, "argument 'where' is 5: expected a string"),
        ({"count": 1, "size": 5}, "there is no argument 'size': expected colour, count, where"),
    ],
)
def test_a_wrong_argument_is_named_with_what_was_expected(setting: Setting, args: dict[str, Any], told: str) -> None:
    """The model hears which argument, what it was and what it should be."""
    result = call(Paint(), setting, args)

    assert (result.ok, result.text) == (False, f"error: {told}")


def test_a_huge_wrong_argument_is_not_echoed(setting: Setting) -> None:
    """The complaint stays short however long the mistake."""
    assert len(call(Paint(), setting, {"count": "x" * 100_000}).text) < 300
    assert len(call(Paint(), setting, {"count": 1, "y" * 100_000: 1}).text) < 300


def test_an_unknown_tool_names_those_that_are_there(setting: Setting) -> None:
    """A tool that does not exist, or that this heartbeat has not got, is a failed result."""
    result = call(Paint(), setting, {}, name="shell")

    assert (result.ok, result.text) == (False, "error: no tool named shell; there are: paint")


@pytest.mark.parametrize("error", [ToolError("the wall is wet"), OSError("the wall is wet")])
def test_a_failing_tool_is_a_failed_result(setting: Setting, error: Exception) -> None:
    """What a tool cannot do is said to the model and ends nothing."""
    result = call(Paint(raises=error), setting, {"count": 1})

    assert (result.ok, result.text) == (False, "error: the wall is wet")


def test_a_mistake_in_a_tool_is_not_hidden(setting: Setting) -> None:
    """An error that no tool should raise goes up: it is a fault in the program."""
    with pytest.raises(ZeroDivisionError):
        call(Paint(raises=ZeroDivisionError()), setting, {"count": 1})


def test_a_tool_that_hangs_is_stopped(setting: Setting) -> None:
    """After its time a tool is cancelled and the model is told."""
    tool = Paint(hangs=True)
    result = call(tool, setting, {"count": 1})

    assert (result.ok, result.text) == (False, "error: paint took longer than 0.01 s and was stopped")
    assert tool.cancelled


def test_a_tools_own_timeout_is_its_own(setting: Setting) -> None:
    """A TimeoutError from inside is an OSError like others, not the toolbox's limit."""
    assert call(Paint(raises=TimeoutError("no answer")), setting, {"count": 1}).text == "error: no answer"


def test_cancelling_the_run_goes_through(setting: Setting) -> None:
    """A cancelled call raises: it never becomes a result."""

    async def cancel() -> None:
        task = asyncio.create_task(Toolbox([Paint(hangs=True)], setting).run(ToolCall("1", "paint", {"count": 1})))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())


def test_a_long_answer_is_cut_and_says_so(setting: Setting) -> None:
    """A text over the limit ends with a line that says how much is missing."""
    result = call(Paint(text="x" * 5_000), setting, {"count": 1})

    assert result.text == "x" * 100 + "\n[cut: the first 100 of 5,000 characters]"


def test_a_call_that_is_not_approved_is_not_made(setting: Setting) -> None:
    """The policy is asked with the call, and its reason reaches the model."""
    asked = []

    async def deny(asked_for: ToolCall) -> str | None:
        asked.append(asked_for)
        return "a person has to allow it"

    tool = Paint(raises=ZeroDivisionError())
    wanted = ToolCall("1", "paint", {"count": 1})
    result = asyncio.run(Toolbox([tool], setting, approve=deny).run(wanted))

    assert (result.ok, result.text) == (False, "error: not approved: a person has to allow it")
    assert asked == [wanted]


def test_the_time_of_a_call_is_told(setting: Setting) -> None:
    """Seconds are those of the clock that was given."""
    ticks = iter([10.0, 12.5])
    result = asyncio.run(
        Toolbox([Paint()], setting, clock=lambda: next(ticks)).run(ToolCall("1", "paint", {"count": 1}))
    )

    assert result.seconds == 2.5
