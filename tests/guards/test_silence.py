"""Tool calls without words, judged by turns."""

from __future__ import annotations

import random

import pytest

from guards import Call, Level, Output
from guards.silence import Silence

CALL = (Call("queue"),)


def levels(outputs: list[Output]) -> list[Level]:
    guard = Silence()
    return [guard.update(output).level for output in outputs]


def test_turns_that_fall_silent_trip_within_twenty() -> None:
    """After a start with words, silent turns trip soon, each of them until one speaks."""
    said = levels([Output("The queue holds four songs.", CALL)] * 60 + [Output("", CALL)] * 30)
    first = said.index(Level.TRIP)
    assert 60 < first < 80
    assert all(level is Level.TRIP for level in said[first:])


def test_a_turn_with_words_anywhere_is_not_silent() -> None:
    """Three calls without words make a turn that spoke when one sentence follows, or came before."""
    outputs = []
    for i in range(100):
        turn = f"run-{i}"
        outputs += [Output("", CALL, turn=turn)] * 3 + [Output("All is as it was.", turn=turn)]
        outputs += [Output("I look.", CALL, turn=turn + "b"), Output("", CALL, turn=turn + "b")]
    assert set(levels(outputs)) == {Level.PASS}


def test_a_turn_that_ends_empty_after_calls_is_silent() -> None:
    """The verdict falls on the reply that ends the turn without a word."""
    guard = Silence()
    for i in range(60):
        guard.update(Output("Fine.", turn=f"run-{i}"))
    for i in range(60, 100):
        assert guard.update(Output("", CALL, turn=f"run-{i}")).level is Level.PASS
        ended = guard.update(Output("", turn=f"run-{i}"))
        if ended.level is Level.TRIP:
            assert "without a word" in ended.reason
            assert "one sentence" in ended.hint
            return
    raise AssertionError("it never tripped")


def test_three_empty_replies_in_a_row_trip_at_once() -> None:
    """Neither words nor calls, three times, is a gate from the first output on."""
    assert levels([Output(""), Output(" \n"), Output("…"), Output("Here I am.")]) == [
        Level.PASS,
        Level.PASS,
        Level.TRIP,
        Level.PASS,
    ]


def test_a_short_silent_trajectory_is_left_alone() -> None:
    """An agent that never spoke beside its calls is not judged within its first sixty turns."""
    assert set(levels([Output("", CALL)] * 60)) == {Level.PASS}


def test_work_by_hand_may_be_silent_for_ever() -> None:
    """A coding agent that was silent from its start, or half of the time, is silent by nature."""
    by_hand = [Output("", (Call("bash", {"command": f"make part-{i}"}),)) for i in range(600)]
    assert set(levels(by_hand)) == {Level.PASS}
    mixed = [Output("I look." if i % 2 else "", (Call("edit", {"path": f"{i}.py"}),)) for i in range(100)]
    assert set(levels([*mixed, *(Output("" if i % 8 else "Next.", by_hand[i].calls) for i in range(200))])) == {
        Level.PASS
    }


def test_a_speaker_that_falls_silent_early_trips_at_the_sixteenth_turn() -> None:
    """Before the test has a start to compare with, sixteen silent turns after ten spoken ones are enough."""
    said = levels([Output("The queue holds four songs.", CALL)] * 10 + [Output("", CALL)] * 20)
    assert said.index(Level.TRIP) == 25


@pytest.mark.parametrize("seed", range(5))
def test_a_host_with_nearly_all_calls_silent_trips_within_twenty_five(seed: int) -> None:
    """97 % of the outputs silent, after a start in which nine of ten spoke, is found within 25 outputs."""
    dice = random.Random(seed)
    start = [Output("The next song is by a choir." if dice.random() < 0.9 else "", CALL) for _ in range(100)]
    said = levels([*start, *(Output("Hello." if dice.random() < 0.03 else "", CALL) for _ in range(40))])
    assert 100 < said.index(Level.TRIP) < 125


def test_silent_calls_between_answers_are_not_in_a_row() -> None:
    """An assistant that calls without words and then answers, output by output, never trips."""
    assert set(
        levels([Output("" if i % 5 == 0 else "Here it is.", CALL if i % 5 == 0 else ()) for i in range(500)])
    ) == {Level.PASS}


def test_silence_from_the_first_turn_is_no_licence_for_ever() -> None:
    """The absolute envelope trips a stream that was silent from its start, in the end."""
    assert Level.TRIP in levels([Output("", CALL)] * 400)


def test_the_share_of_the_start_is_normal() -> None:
    """Every third turn silent, as from the start, never trips."""
    assert set(levels([Output("" if i % 3 == 0 else "Done.", CALL) for i in range(2000)])) == {Level.PASS}


def test_spells_of_silence_are_learnt_only_while_they_do_not_trip() -> None:
    """A stream that falls silent now and then may do so for longer; a spell that trips teaches nothing."""
    call = (Call("queue"),)

    def spell(length: int) -> list[Output]:
        return [Output("Two songs are left.", call)] * 12 + [Output("", call)] * length

    def trips(lengths: list[int]) -> int:
        guard = Silence()
        rows = [output for length in lengths for output in spell(length)]
        return sum(guard.update(output).level is Level.TRIP for output in rows)

    assert trips([4, 8, 10, 9, 20, 24]) == 0
    assert trips([0, 30, 30]) == 2 * (30 - 15)


@pytest.mark.parametrize("seed", range(4))
def test_spells_of_silence_as_long_as_those_before_are_healthy(seed: int) -> None:
    """A stream that falls silent for ten turns on average, at random, trips no more once some spells have ended."""
    dice, guard, silent, late = random.Random(seed), Silence(), False, 0
    for row in range(8_000):
        silent = dice.random() < (0.9 if silent else 0.025)
        tripped = guard.update(Output("" if silent else "Two songs are left.", CALL)).level is Level.TRIP
        late += tripped and row > 600
    assert late == 0


def test_a_stream_that_falls_silent_for_good_trips_although_it_has_spells() -> None:
    """After years of spells of ten turns, a silence that goes on and on is found within 200 turns."""
    dice, guard, silent = random.Random(1), Silence(), False
    for _ in range(8_000):
        silent = dice.random() < (0.9 if silent else 0.025)
        guard.update(Output("" if silent else "Two songs are left.", CALL))
    assert Level.TRIP in [guard.update(Output("", CALL)).level for _ in range(200)]


def test_the_stuttering_onset_of_a_collapse_is_no_spell_that_has_ended() -> None:
    """A few silent turns, a word, and silence from there on trip as soon as silence at once would, or nearly."""
    said = levels(
        [Output("Two songs are left.", CALL)] * 40
        + [Output("" if i not in (2, 5) else "Well.", CALL) for i in range(40)]
    )
    assert said.index(Level.TRIP) < 40 + 25


def test_empty_replies_and_the_count_of_silent_turns_are_gates() -> None:
    """What is counted needs no second opinion; a share that has climbed is open to one."""
    empty, counted, climbed = Silence(), Silence(), Silence()
    assert [empty.update(Output("")).gate for _ in range(3)] == [False, False, True]
    said = [counted.update(o) for o in [Output("Four songs are left.", CALL)] * 10 + [Output("", CALL)] * 20]
    assert {v.gate for v in said if v.level is Level.TRIP} == {True}
    said = [climbed.update(Output("", CALL)) for _ in range(400)]
    assert {v.gate for v in said if v.level is Level.TRIP} == {False}


def test_turns_of_one_wordless_output_each_trip_as_turns_without_names_do() -> None:
    """A turn that only the next one ends is answered for by the next one's first output, unless that has words."""
    spoke = [Output("Four songs are left.", CALL, turn=str(i)) for i in range(10)]
    said = levels([*spoke, *(Output("", CALL, turn=str(i)) for i in range(10, 1010))])
    first = said.index(Level.TRIP)
    assert first == 26  # sixteen turns are over
    assert set(said[first:]) == {Level.TRIP}
    assert Level.TRIP in levels([Output("", CALL, turn=str(i)) for i in range(200)])
    guard = Silence()
    for output in [*spoke, *(Output("", CALL, turn=str(i)) for i in range(10, 40))]:
        guard.update(output)
    assert guard.update(Output("Nothing has changed.", CALL, turn="40")).level is Level.PASS


def test_signs_that_a_person_understands_are_answers() -> None:
    """Four faces and thumbs in a row are a chat; eight in a row are silence, as three dots or symbols are."""
    faces = [
        ":(",
        ">.<",
        "(!)",
        "\N{THUMBS UP SIGN}",
        "\N{WAVING HAND SIGN}",
        "?",
        ";)",
        "\N{SMILING FACE WITH SUNGLASSES}",
    ]
    assert levels([Output(face) for face in faces]) == [Level.PASS] * 7 + [Level.TRIP]
    assert levels([Output(text) for text in ("\N{INFINITY}", "~", "*...*")])[-1] is Level.TRIP


def test_empty_replies_and_signs_count_together_after_a_save() -> None:
    """Two empty replies and three signs are more than either alone; words end the count."""
    guard, found = Silence(), []
    for text in ("", "?", "", "?", "?", "Here I am.", ""):
        state, guard = guard.state(), Silence()
        guard.load(state)
        found.append(guard.update(Output(text)).level)
    assert found == [Level.PASS] * 4 + [Level.TRIP] + [Level.PASS] * 2


def test_who_works_by_hand_may_be_silent_for_longer_but_not_for_ever() -> None:
    """A coding agent with spells of silence at its start may have one of forty turns; then one that does not end."""
    edit, read = (Call("edit", {"diff": "+ a line"}),), (Call("read", {"what": "a file"}),)
    spells = "w" * 10 + ("s" * 3 + "w" * 9) * 4
    outputs = [Output("I look." if c == "w" else "", edit if i % 2 else read) for i, c in enumerate(spells)]
    outputs += [Output("", edit)] * 40 + [Output("I look.", read)] * 40
    found = levels(outputs + [Output("", edit)] * 200)
    assert Level.TRIP not in found[: len(outputs)]
    assert found[-1] is Level.TRIP
    spoken = [Output("I look.", edit)] * 40 + [Output("", edit)] * 16
    assert levels(spoken)[-1] is Level.TRIP
