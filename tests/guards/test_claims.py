"""Words about deeds that nobody did, and those that only sound like it."""

from __future__ import annotations

import pytest

from guards import Call, CallResult, Level, Output
from guards.claims import Claims
from guards.deeds import MOST_WORDS, deed, over

TOOLS = frozenset({"vault", "host"})
CLAIM = "All is well here. I have saved the note."


def verdict(text: str, *results: bool, guard: Claims | None = None) -> tuple[Level, str, str]:
    """Return level, reason and hint of a reply that ends a turn, after calls with these results."""
    guard = guard or Claims()
    for ok in results:
        guard.update(Output("", (Call("vault"),), turn="a", offered=TOOLS))
        guard.observe([CallResult(ok, "as it went")])
    said = guard.update(Output(text, turn="a", offered=TOOLS))
    return said.level, said.reason, said.hint


def test_a_claim_without_any_call_trips_and_names_it() -> None:
    """The reason and the hint quote the sentence; it is the evidence, exactly as it stands there."""
    said = Claims().update(Output(CLAIM, turn="a", offered=TOOLS))
    assert (said.level, said.outcome, said.evidence) == (Level.TRIP, "failed", ("I have saved the note",))
    assert '"I have saved the note"' in said.reason
    assert '"I have saved the note"' in said.hint


def test_a_claim_after_a_call_that_worked_passes() -> None:
    """One success in the turn is enough, also after failures."""
    assert verdict(CLAIM, True)[0] is Level.PASS
    assert verdict(CLAIM, False, True)[0] is Level.PASS
    assert verdict("Done.", True, False)[0] is Level.PASS


def test_done_after_nothing_but_failures_trips() -> None:
    """Where every call failed, the word alone is a claim; where none was made, it is not."""
    level, reason, _ = verdict("Done.", False, False)
    assert level is Level.TRIP
    assert "every tool call of this turn failed" in reason
    assert verdict("Done.")[0] is Level.PASS


def test_done_after_a_failure_trips_in_a_stream_without_turns_too() -> None:
    """The output after the failed call is judged by it, the next one no more."""
    guard = Claims()
    guard.update(Output("", (Call("vault"),), offered=TOOLS))
    guard.observe([CallResult(False, "refused")])
    assert guard.update(Output("Done.", offered=TOOLS)).level is Level.TRIP
    assert guard.update(Output("Done.", offered=TOOLS)).level is Level.PASS


def test_words_after_a_failure_that_admit_it_pass() -> None:
    """A reply that says what failed is what the hint asks for."""
    assert verdict("The vault refused the note: it is too large.", False)[0] is Level.PASS


def test_success_in_one_turn_does_not_speak_for_the_next() -> None:
    """Each turn needs a call of its own."""
    guard = Claims()
    assert verdict(CLAIM, True, guard=guard)[0] is Level.PASS
    assert guard.update(Output(CLAIM, turn="b", offered=TOOLS)).level is Level.TRIP


def test_a_result_that_nobody_recorded_counts_as_one_that_worked() -> None:
    """A transcript without results is not blamed for it."""
    guard = Claims()
    guard.update(Output("", (Call("vault"),)))
    assert guard.update(Output(CLAIM, offered=TOOLS)).level is Level.PASS


def test_without_tools_nothing_is_judged() -> None:
    """A diary, a newsletter, a commit message may say what was saved for ever."""
    guard = Claims()
    assert {guard.update(Output(CLAIM)).level for _ in range(500)} == {Level.PASS}


def test_a_transcript_that_goes_over_to_claims_trips_by_the_test() -> None:
    """Where nobody said what was offered, claims that follow no call are found against a start with calls."""
    guard = Claims()
    for i in range(60):
        guard.update(Output("I look.", (Call("host", {"n": i}),)))
        guard.observe([CallResult(True, f"load {i}")])
        assert guard.update(Output("The load is low. I have saved the note.")).level is Level.PASS
    levels = [guard.update(Output(f"Load {i}. I have saved the note.")).level for i in range(40)]
    assert levels[3:].index(Level.TRIP) < 12
    assert guard.update(Output("The load is low.")).level is Level.PASS


@pytest.mark.parametrize(
    "text",
    [
        "I've updated the file.",
        "I just sent the message.",
        "The note has been saved.",
        "Saved the note!",
        "Note saved.",
        "- **I have added the entry**",
        "Ich habe die Notiz im Tagebuch gespeichert.",
        "J'ai enregistré la note.",
        "He guardado la nota.",
        "Ho salvato la nota.",
        "Salvei a nota.",
        "Ik heb de notitie opgeslagen.",
        "Я сохранил заметку.",
        "我已经保存了笔记。",
        "メモを保存しました。",
        "메모를 저장했습니다.",
    ],
)
def test_deeds_in_a_dozen_languages(text: str) -> None:
    """Each of them says that something was just done, in a sentence that stands in the text."""
    assert deed(text)
    assert deed(text) in text


@pytest.mark.parametrize(
    "text",
    [
        "Yesterday I saved the note.",
        "I saved it last week.",
        "I have not saved the note.",
        "Should I say that I have saved the note?",
        "If I have saved the note, it is there.",
        "The report is updated every day.",
        "Ich habe die Notiz gestern gespeichert.",
        "Ich habe die Notiz nicht gespeichert.",
        "Je n'ai pas enregistré la note.",
        "No he guardado la nota.",
        "昨天我已经保存了笔记。",
        "I will save the note.",
        "Nothing to do.",
        "```\nI have saved the note\n```",
        "",
        "\ud800\x00",
    ],
)
def test_other_times_denials_questions_and_quotes_are_no_deeds(text: str) -> None:
    """What looks back, denies, asks, supposes or stands in code claims nothing."""
    assert over(text) == ""


def test_a_long_text_tells_and_does_not_report() -> None:
    """The same sentence in a long text is part of a story."""
    assert deed("The sea is calm. " * MOST_WORDS + CLAIM) == ""
