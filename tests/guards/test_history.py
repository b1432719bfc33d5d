"""What was not said in one breath is no loop: logs whose entries have times, and lists of commits."""

from __future__ import annotations

import pytest

from guards import Level, Output
from guards.loop import Loop

ENTRY = "The boats were counted, none was missing, and the lamp was trimmed."


def level(text: str) -> Level:
    return Loop().update(Output(text)).level


@pytest.mark.parametrize("form", ["- {}:48 PM: {}", "### {}:48 (harbour time)\n- {}", "At {}:48 {}"])
def test_a_log_with_a_time_for_each_entry_is_at_most_a_warning(form: str) -> None:
    """What an agent wrote again every hour, in one file, was not said in one breath; without the times it was."""
    log = "\n".join(form.format(hour, ENTRY) for hour in range(1, 12))
    assert level(log) <= Level.WARN
    assert level("\n".join(form.format(7, ENTRY) for _ in range(11))) is Level.TRIP


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_message_of_a_squashed_merge_may_list_one_line_many_times(end: str) -> None:
    """A host writes down the messages of all commits, many of them the same; a list that no title heads is a loop."""
    items = f"{end}{end}".join(["* Update harbour.md"] * 12)
    assert level(f"Translate the harbour page (#45)\n\n{items}") is Level.PASS
    assert level(items) is Level.TRIP


def test_a_talk_on_record_may_hold_the_same_question_many_times() -> None:
    """The record of a session holds what its user asked every hour; a reply that asks so itself is a loop."""
    talk = "\n".join(["user: Read the list and follow it strictly, and say so.", "assistant: All is well."] * 12)
    assert level(f"# Session 7\n\n{talk}") <= Level.WARN
    assert level(f"The tide is in.\n\n{talk}") is Level.TRIP
    assert level(f"# Session 7\n\n{talk}\nassistant: {'The lamp is lit. ' * 40}") is Level.TRIP
