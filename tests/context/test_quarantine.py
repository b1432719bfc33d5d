"""What a quarantine takes out of a thread, and what it must leave for every wire format to stay whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from daemon.context.quarantine import LATEST, infected_by, quarantined
from daemon.context.summary import HEADING, Summary, parsed
from daemon.models.exchange import exchanged
from daemon.types import Message, ToolCall
from guards import Level, Output, Verdict
from guards.panel import guard_class

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

    assert Summary(lines=(lines[2],)) == parsed(kept.text)
    assert [] == left([Message("user", "\n".join(lines[:2]), name="summary")], BAD)


FACTS = [
    said("Backup key is careful-42; rest of the car is now in the garage."),
    said("I care for it and now there is a rest."),
    said("The scarecrow is at rest."),
]


@pytest.mark.parametrize(
    "evidence",
    [
        ("care", "car"),
        ("a", "it", "now", "and"),
        ("now", "rest"),
        ("care",),
        ("is", "the"),
        ("it", "scarecrow"),
        ("garage",),
    ],
)
def test_words_that_guards_name_delete_no_facts(evidence: tuple[str, ...]) -> None:
    """A part of a word, a short word and a word alone are no evidence against a text that holds them."""
    assert FACTS[:1] == left(FACTS[:1], *evidence)
    assert FACTS[2:] == left(FACTS[2:], *evidence)


def test_two_words_of_the_evidence_in_one_text_are() -> None:
    """Several of the words that a guard named, together, are the collapse."""
    assert FACTS[:1] == left([*FACTS[:1], said("Such gratitude, such stillness.")], "gratitude", "stillness", "care")


def test_a_text_that_is_the_evidence_goes_however_short() -> None:
    """Nothing else is lost with it."""
    assert [] == left([said("All quiet.")], "all quiet.")
    assert 1 == len(left([said("All quiet. The key is 42.")], "All quiet."))


def test_a_guards_own_evidence_finds_what_it_tripped_on() -> None:
    """The spans of the real guards, as they come, take out the collapse and leave what only shares words with it."""
    chant = "Such gratitude, so much stillness, and thank you, dear friend, goodbye."
    guard, verdict = guard_class("repeat")(), Verdict("repeat")
    for _ in range(8):
        verdict = guard.update(Output(chant))
    fact = said("Thank you: the friend's key is 42.")

    assert Level.TRIP is verdict.level
    assert [fact] == left([said(chant), fact], *verdict.evidence)


@pytest.mark.parametrize(
    ("span", "text", "stays"),
    [
        ("今天一切正常", "报告：今天一切正常。", False),
        ("正常", "今天一切正常。", True),
        ("कर दो अब", "करि दो अब", True),
        ("Straße ist frei", "die STRASSE ist frei", False),
        ("a" * 50, "So: " + "a" * 50, False),
        ("-" * 50, "Title\n" + "-" * 50, True),
        ("infrastructure", "The infrastructure key is 42.", True),
    ],
)
def test_words_are_whole_in_every_script(span: str, text: str, stays: bool) -> None:
    """Where no spaces are, a span of some length is enough; a vowel sign belongs to its word."""
    assert stays == bool(left([said(text)], span))


def test_no_line_of_a_summary_goes_for_single_words() -> None:
    """It may be the only trace of a fact that is left in the thread."""
    lines = [HEADING, "- 2026-11-20 20:00 watch: With gratitude and stillness: the key is 42."]
    summary = Message("user", "\n".join(lines), name="summary")

    assert [summary] == left([summary], "gratitude", "stillness", "x" * 40)


def test_without_evidence_the_repeats_among_the_latest_texts_go() -> None:
    """What a guard cannot name is taken to be recent and the same; what was said once stays."""
    thread = [said(f"Entry {number}.") for number in range(20)]
    again = [said("Entry 19."), *thread, said("Entry 19.")]

    assert thread == left(thread)
    assert thread[:-1] == left(again)
    assert [said("Same."), *thread[:LATEST]] == left([said("Same."), *thread[:LATEST]])


def test_empty_evidence_is_no_evidence() -> None:
    """A span of nothing is in every text; it must not empty the thread."""
    thread = [said(f"Entry {number // 2}.") for number in range(20)]

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


WRITTEN = {"vault.append": ("text",)}


def noting(text: str, said_too: str = "", action: str = "append") -> Message:
    """Return a reply that writes a note."""
    return said(said_too, ToolCall("c2", "vault", {"action": action, "path": "journal", "text": text}))


def test_what_a_call_writes_for_a_person_is_emptied() -> None:
    """A note that carries the evidence loses its text; its call, its result, other arguments and other notes stay."""
    fine, bad = noting("The fog came."), noting(f"{BAD} So it is.", "Noted.")
    shown = quarantined([TASK, fine, bad], infected_by([BAD], []), WRITTEN)

    assert shown[:2] == [TASK, fine]
    assert shown[2] == Message(
        "assistant", "Noted.", (ToolCall("c2", "vault", {"action": "append", "path": "journal", "text": ""}),)
    )


def test_what_was_not_declared_is_left_as_it_is() -> None:
    """An argument of another action, of another tool, or of any where nothing is declared, is no text of the agent."""
    messages = [noting(BAD, action="search"), said("", ToolCall("c3", "shell", {"text": BAD}))]

    assert messages == quarantined(messages, infected_by([BAD], []), WRITTEN)
    assert [noting(BAD)] == quarantined([noting(BAD)], infected_by([BAD], []))


def test_without_evidence_notes_that_were_written_again_are_emptied() -> None:
    """As for what was said: a reply that says once what its note says is no repetition."""
    again = [TASK, noting("All calm.", "All calm."), TASK, noting("All calm."), TASK, noting("Fog came.", "Fog came.")]
    shown = quarantined(again, infected_by([], again, WRITTEN), WRITTEN)
    texts = [call.args["text"] for message in shown if message is not None for call in message.calls]

    assert ["", "", "Fog came."] == texts
    assert ["Fog came."] == [one.text for one in shown if one is not None and one.role == "assistant" and one.text]
