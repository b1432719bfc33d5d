"""What a run that came to its own end is called."""

from __future__ import annotations

import pytest

from daemon.outcome import concluded
from daemon.types import Finish, Heartbeat, Outcome, Reply, Schedule, ToolCall, ToolResult, ToolSpec

OFFERED = (ToolSpec("host", "", {}), ToolSpec("vault", "", {}))


def heartbeat(*expect: str) -> Heartbeat:
    """A heartbeat that expects these tools to succeed."""
    return Heartbeat("watch", Schedule(), "Look.", "watch", expect=expect)


def result(name: str, ok: bool = True) -> ToolResult:
    """What one call came back with."""
    return ToolResult(ToolCall("1", name, {}), ok, "load 0.1" if ok else "error: no such note")


def said(text: str = "All is well.", finish: Finish = "stop") -> Reply:
    """A last reply."""
    return Reply(text, finish=finish)


@pytest.mark.parametrize(
    ("expect", "results", "last", "outcome"),
    [
        (("host", "vault"), [result("host"), result("vault")], said(), Outcome.OK),
        (("host", "vault"), [result("host")], said(), Outcome.FAILED),
        (("host",), [result("host", ok=False)], said(), Outcome.FAILED),
        ((), [result("host", ok=False)], said(), Outcome.FAILED),
        ((), [result("host", ok=False), result("vault")], said(), Outcome.OK),
        ((), [], said(), Outcome.NOTHING_TO_DO),
        ((), [], said(""), Outcome.NOTHING_TO_DO),
        ((), [result("host")], said("  \n"), Outcome.FAILED),
        ((), [result("host")], said(finish="length"), Outcome.FAILED),
        ((), [result("host")], said(finish="deadline"), Outcome.TIMED_OUT),
    ],
)
def test_ok_means_that_what_was_expected_happened(
    expect: tuple[str, ...], results: list[ToolResult], last: Reply, outcome: Outcome
) -> None:
    """Words alone, failed calls, silence, a cut-off end and a deadline are each told apart from ok."""
    found, reason = concluded(heartbeat(*expect), OFFERED, results, last)

    assert outcome == found
    assert (found is Outcome.OK) == (reason == "")


def test_words_are_enough_where_no_tool_was_offered() -> None:
    """A heartbeat without tools can only speak."""
    assert (Outcome.OK, "") == concluded(heartbeat(), (), [], said())
