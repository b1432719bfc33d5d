"""What a quarantine takes out of a thread, and what it must leave for every wire format to stay whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from daemon.context.quarantine import LATEST, infected_by, quarantined
from daemon.context.summary import HEADING
from daemon.models.exchange import exchanged
from daemon.types import Message, ToolCall

TASK = Message("user", "Heartbeat watch, Fri 2026-11-20 21:00 UTC.\nLook around.", name="watch")
CALL = ToolCall("c1", "look", {"at": "the lamp"})
FACT = Message("tool", "a lamp, a lamp, a lamp", call_id="c1", name="look")
BAD = "The lamp is lit."


def said(text: str, *calls: ToolCall) -> Message:
    """Return what the agent said."""
    return Message("assistant", text, calls, token_ids=(1, 2), token_model="m")


def left(messages: list[Message], *evidence: str) -> list[Message]:
    """Return what is left of these messages."""
    return [one for one in quarantined(messages, infected_by(evidence, messages)) if one is not None]


def test_an_infected_text_goes_with_the_task_that_asked_for_it() -> None:
    """A heartbeat's task without its answer is noise, and the newest one says the same."""
    assert [TASK, said("Fog.")] == left([TASK, said(BAD), TASK, said("Fog.")], BAD)


def test_case_and_spacing_do_not_hide_an_infection() -> None:
    """The same words on two lines are the same words."""
    assert [] == left([TASK, said("the LAMP\n is  lit.")], BAD)


def test_a_call_and_its_result_stay_together() -> None:
    """Only the words beside a call are taken out, and with them the ids that would bring them back."""
    kept = left([TASK, said(BAD, CALL), FACT, said(BAD)], BAD)

    assert [TASK, Message("assistant", "", (CALL,)), FACT] == kept


def test_what_people_and_tools_said_stays_whatever_it_holds() -> None:
    """Facts are not infected by being quoted."""
    person = Message("user", f"I read: {BAD}", name="ann")

    assert [person, FACT] == left([person, said(BAD), FACT], BAD, "a lamp")


def test_a_hint_that_quotes_the_evidence_goes_too() -> None:
    """It would only say the phrase once more."""
    hint = Message("user", f"Hint: You keep saying '{BAD}'", name="hint")

    assert [TASK, said("Fog.")] == left([TASK, hint, said("Fog.")], BAD)


def test_infected_lines_leave_a_summary() -> None:
    """The summary of a compaction is an extract of what was said, so the phrase is in it as well."""
    lines = [HEADING, f"- 2026-11-20 20:00 watch: {BAD}", "- 2026-11-20 20:30 watch: Fog."]
    summary = Message("user", "\n".join(lines), name="summary")
    (kept,) = left([summary], BAD)

    assert [HEADING, lines[2]] == kept.text.splitlines()
    assert [] == left([Message("user", "\n".join(lines[:2]), name="summary")], BAD)


def test_without_evidence_the_latest_texts_and_their_repeats_go() -> None:
    """What a guard cannot name is taken to be recent."""
    thread = [said(f"Entry {number}.") for number in range(20)]
    again = [said("Entry 19."), *thread]

    assert [f"Entry {number}." for number in range(20 - LATEST)] == [one.text for one in left(thread)]
    assert "Entry 19." not in [one.text for one in left(again)]


def test_empty_evidence_is_no_evidence() -> None:
    """A span of nothing is in every text; it must not empty the thread."""
    thread = [said(f"Entry {number}.") for number in range(20)]

    assert left(thread) == left(thread, "", "  \n")


TEXTS = some.sampled_from([BAD, "Fog.", "", f"Yes. {BAD}"])
CALLS = some.integers(0, 2).map(lambda n: tuple(ToolCall(f"c{i}", "look", {}) for i in range(n)))


@some.composite
def threads(draw: some.DrawFn) -> list[Message]:
    """Draw whole runs: a task, steps with calls and results, hints, last words."""
    messages: list[Message] = []
    for _ in range(draw(some.integers(0, 5))):
        messages.append(draw(some.sampled_from([TASK, Message("user", f"And? {BAD}", name="ann")])))
        for _ in range(draw(some.integers(0, 3))):
            calls = draw(CALLS)
            messages.append(said(draw(TEXTS), *calls))
            messages += [Message("tool", BAD, call_id=call.id, name="look") for call in calls]
            messages += draw(some.sampled_from([[], [Message("user", f"Hint: not '{BAD}'", name="hint")]]))
    return messages


@given(threads())
def test_any_thread_stays_whole(messages: list[Message]) -> None:
    """Every result keeps its call, no fact is lost, the span is gone, and twice is as good as once."""
    kept = left(messages, BAD)

    assert [m for m in messages if m.role == "tool"] == [m for m in kept if m.role == "tool"]
    assert [m for m in messages if m.name == "ann"] == [m for m in kept if m.name == "ann"]
    assert not any(BAD in m.text for m in kept if m.role == "assistant")
    assert [m.calls for m in messages if m.calls] == [m.calls for m in kept if m.calls]
    assert kept == left(kept, BAD)
    assert not any("no result was recorded" in m.text for m in exchanged(kept))
