"""The same text again and again across outputs."""

from __future__ import annotations

import random

import pytest

from guards import Call, Level, Output
from guards.reading import marks
from guards.repeat import Repeat
from guards.sketch import likeness, sketch

ENDS = ("", "na", "ro", "s")
LEXICON = [a + b + c for a in "bdfgklmnprst" for b in ("ara", "elo", "inu", "oma", "uti") for c in ENDS]
SAME = "All the boats are in and there is nothing more to report tonight."


def fresh(count: int, size: int = 30, seed: int = 1) -> list[str]:
    """Texts that share nothing but their language."""
    seeded = random.Random(seed)
    return [" ".join(seeded.choice(LEXICON) for _ in range(size)) for _ in range(count)]


def trips(texts: list[str], **options: object) -> list[int]:
    guard = Repeat(**options)
    return [row for row, text in enumerate(texts) if guard.update(Output(text)).level is Level.TRIP]


def test_trips_on_the_fifth_equal_output() -> None:
    """From the first output on, five equal texts in a row trip, and go on tripping; the third is a warning."""
    guard = Repeat()
    levels = [guard.update(Output(SAME)).level for _ in range(7)]
    assert levels == [Level.PASS] * 2 + [Level.WARN] * 2 + [Level.TRIP] * 3


def test_case_punctuation_and_spacing_do_not_make_it_new() -> None:
    """The words count, not how they are set."""
    assert trips([SAME, SAME.upper(), SAME + "!!", "  " + SAME.replace(" ", "\n"), SAME.replace(".", "")]) == [4]


def test_a_note_of_one_form_with_other_numbers_is_not_the_same() -> None:
    """A host note that says the same with new numbers, from the start and for weeks, never trips."""
    seeded = random.Random(3)
    notes = [
        f"Load is {seeded.random() * 4:.2f}, memory {seeded.randrange(20, 80)} %, disk {seeded.randrange(30, 60)} %, "
        f"up {day} days; {seeded.randrange(0, 9)} units failed and {seeded.randrange(0, 40)} errors are in the journal."
        for day in range(600)
    ]
    assert trips(notes) == []


def test_coarse_numbers_that_come_back_by_chance_do_not_trip() -> None:
    """Sixty possible notes in all: many stood word for word before, but not the same few again and again."""
    seeded = random.Random(4)
    notes = [
        f"Load {seeded.randrange(20) / 10}, memory {seeded.randrange(17, 20)} %, disk 34 %; nothing failed, no errors."
        for _ in range(1500)
    ]
    assert trips(notes) == []


@pytest.mark.parametrize("text", ["All quiet.", "HEARTBEAT_OK", "Nothing new.", "一切正常。"])
def test_a_signal_may_be_the_same_for_ever(text: str) -> None:
    """Texts of fewer than four words are what was asked for."""
    assert trips([text] * 300) == []


def test_a_short_sentence_may_be_said_twenty_times_in_a_row() -> None:
    """Undeclared, the same answer is in the end no answer; a real one begins the count anew."""
    quiet = ["Nothing new since the last look."]
    assert trips(quiet * 19 + fresh(1) + quiet * 19) == []
    assert trips(quiet * 21) == [19, 20]


def test_a_short_error_is_no_acknowledgement() -> None:
    """The same error message in a row trips, however short."""
    assert trips(["Error: the line was cut off."] * 6) == [4, 5]


def test_a_greeting_and_a_sign_off_do_not_make_an_output_the_same() -> None:
    """Fresh texts between a fixed opening and a fixed end stay healthy."""
    texts = [
        f"Good evening and welcome to the harbour hour. {body} That was all for tonight, sleep well."
        for body in fresh(300)
    ]
    assert trips(texts) == []


def test_rotation_among_three_texts_trips_by_share() -> None:
    """Twelve repeated outputs of the last twenty are enough when no two neighbours are equal, with numbers too."""
    three = [f"{text} 7" for text in fresh(3, size=12)]
    order = [0, 1, 2, 0, 2, 1, 2, 0, 1] * 4
    assert trips(fresh(30) + [three[i] for i in order])[0] == 30 + 3 + 12 - 1


def test_a_stream_that_was_much_alike_from_its_start_trips() -> None:
    """Prose of one shape with a few words exchanged is a collapse from the first output on, once there are enough."""
    seeded = random.Random(6)
    nouns = ["bell", "stairs", "roof", "lamp", "shed", "gate"]
    alike = [
        f"The log of the {(noun := seeded.choice(nouns))} calls the {noun} and it held its place in the light tonight "
        f"while I walked from the pier to the {seeded.choice(nouns)} and wrote it down."
        for _ in range(40)
    ]
    rows = trips(alike)

    assert rows
    assert 11 < rows[0] < 25


def test_nearly_the_same_trips_against_the_streams_own_start() -> None:
    """Two of forty words changed each time is found within 60 outputs of a start that was varied."""
    seeded = random.Random(5)
    base = fresh(1, size=40, seed=9)[0].split()
    near = []
    for _ in range(80):
        text = list(base)
        for _ in range(2):
            text[seeded.randrange(40)] = seeded.choice(LEXICON)
        near.append(" ".join(text))
    first = trips(fresh(60) + near)[0]
    assert 60 < first < 120


def test_nearly_the_same_from_the_start_is_this_streams_own_way() -> None:
    """A stream that was alike from its start is not called a collapse by the near test."""
    seeded = random.Random(5)
    base = fresh(1, size=30, seed=9)[0]
    assert trips([f"{base} {' '.join(seeded.choice(LEXICON) for _ in range(12))}" for _ in range(400)]) == []


def test_the_same_preamble_of_each_run_is_not_a_repeat() -> None:
    """What a named turn says beside its calls counts within that turn only."""
    guard = Repeat()
    preamble = "I will look at the host first and then write down what I found."
    for i, note in enumerate(fresh(60)):
        asked = guard.update(Output(preamble, (Call("host"),), turn=f"run-{i}"))
        told = guard.update(Output(note, turn=f"run-{i}"))
        assert asked.level is told.level is Level.PASS


def test_the_same_preamble_five_times_in_one_run_is_a_repeat() -> None:
    """Within one turn the same words again and again trip even beside calls."""
    guard = Repeat()
    said = [guard.update(Output(SAME, (Call("host", {"n": i}),), turn="one")).level for i in range(5)]
    assert said[-1] is Level.TRIP


def test_one_new_output_ends_the_row() -> None:
    """After a trip a different answer passes at once."""
    guard = Repeat()
    for _ in range(8):
        guard.update(Output(SAME))
    assert guard.update(Output(fresh(1)[0])).level is Level.PASS


def test_likeness_estimates_shared_wording() -> None:
    """Equal texts are alike, unrelated ones are not, half of one is in between."""
    a, b = (text.split() for text in fresh(2, size=200))
    assert likeness(sketch(marks(a)), sketch(marks(a))) == 1.0
    assert likeness(sketch(marks(a)), sketch(marks(b))) < 0.1
    assert 0.15 < likeness(sketch(marks(a)), sketch(marks(a[:100] + b[:100]))) < 0.55
    assert likeness(sketch([]), sketch([])) == 0.0


def test_equal_outputs_are_a_gate_and_nearly_equal_ones_are_not() -> None:
    """In a row, of twenty and in one run need no statistics; the test of likeness does, and calls itself no gate."""
    text = "All the boats are in and there is nothing more to report tonight."
    others = ["The lamp at the end of the long pier is lit again for you.", "Fog lies over the harbour and its bells."]
    guard = Repeat()
    assert [v.gate for v in (guard.update(Output(text)) for _ in range(5))] == [False, False, True, True, True]
    guard = Repeat()
    said = [guard.update(Output([text, *others][i % 3])) for i in range(20)]
    assert {v.gate for v in said if v.level is Level.TRIP} == {True}
    dice = random.Random(5)
    words = [f"{a}{b}{c}" for a in "bdfgkl" for b in "aeiou" for c in "mnprst"]
    guard = Repeat()
    for _ in range(60):
        guard.update(Output(" ".join(dice.choices(words, k=30)) + " 7"))
    core = dice.choices(words, k=30)
    near = [guard.update(Output(" ".join([*core, *dice.choices(words, k=6)]) + " 7")) for _ in range(40)]
    assert {v.gate for v in near if v.level is Level.TRIP} == {False}


@pytest.mark.parametrize("note", ["Request timed out after {} s.", "HTTP 503, attempt {}", "Upstream req{}f says no."])
def test_a_note_with_other_numbers_each_time_is_the_same_note(note: str) -> None:
    """An error message that takes the place of the outputs trips at the sixteenth, whatever numbers are in it."""
    assert trips(fresh(30) + [note.format(7 * number) for number in range(20)])[0] == 45


def test_a_numbered_note_from_the_start_is_what_was_asked_for() -> None:
    """A watch that says its load from the first day may do so for ever, beside other outputs."""
    assert trips(["Load 1, disk 2 %.", *fresh(10), "Load 5, disk 6 %.", *fresh(20, seed=2)]) == []
    assert trips(["Load 1, disk 2 %.", "Load 3, disk 4 %."] + [f"Load {n}, disk {n} %." for n in range(60)]) == []


def test_a_numbered_note_counts_the_same_after_a_save() -> None:
    """What the start was like and the last twenty outputs survive a save in mid-stream."""
    texts = fresh(30) + [f"Request timed out after {number} s." for number in range(20)]
    guard, levels = Repeat(), []
    for text in texts:
        state, guard = guard.state(), Repeat()
        guard.load(state)
        levels.append(guard.update(Output(text)).level)
    assert levels.index(Level.TRIP) == 45


def dialogue(answers: list[str]) -> list[str]:
    """The answers, each after a question of its own."""
    return [text for pair in zip(fresh(len(answers), size=9, seed=7), answers, strict=True) for text in pair]


def test_one_answer_to_every_question_trips_at_the_fourth() -> None:
    """In a dialogue, where every second row is the other side's, the fourth equal answer trips and no question does."""
    assert trips(dialogue([*fresh(2), SAME, SAME, SAME, SAME, SAME])) == [11, 13]


def test_a_real_answer_now_and_then_does_not_hide_it() -> None:
    """Four of the last six answers are enough."""
    one, two = fresh(2)
    assert trips(dialogue([SAME, one, SAME, SAME, two, SAME])) == [11]


def test_a_short_error_to_every_question_trips() -> None:
    """An error is no acknowledgement, however short."""
    assert trips(dialogue(["Error: no such table"] * 5)) == [7, 9]


def test_an_error_with_other_numbers_each_time_is_one_answer() -> None:
    """Times and identifiers in a message of failure change by themselves; in other answers they are the answer."""
    failed = [f"Error: the rate limit is reached, to be reset at 17672839{number}." for number in range(60, 65)]
    prices = [f"The boat is still free and would be {number} euros for the whole day." for number in range(60, 65)]
    assert trips(dialogue(failed)) == [7, 9]
    assert trips(dialogue(prices)) == []


def test_calls_between_are_no_other_side() -> None:
    """A note after one call each run is in a row: the fifth equal one trips, as without calls, and not the fourth."""
    guard, levels = Repeat(), []
    for run in range(5):
        guard.update(Output("", (Call("host", {"n": run}),), turn=f"run-{run}"))
        levels.append(guard.update(Output(SAME, turn=f"run-{run}")).level)
    assert levels.index(Level.TRIP) == 4


def test_an_acknowledgement_of_every_second_output_is_healthy() -> None:
    """Fewer than eight words between reports are what was asked for."""
    assert trips(dialogue(["Nothing new since the last look."] * 40)) == []


def test_a_sentence_that_has_long_come_now_and_then_is_the_streams_own_way() -> None:
    """One output in eight, by chance, over a thousand rows: it is often the fourth of six, but was there before."""
    seeded = random.Random(8)
    assert trips([SAME if seeded.random() < 0.125 else text for text in fresh(1000, size=12)]) == []


@pytest.mark.parametrize("period", [3, 4, 5])
def test_a_cycle_of_answers_trips_in_its_fourth_round(period: int) -> None:
    """Three to five long answers in turn, again and again."""
    wheel = fresh(period, size=40)
    first = trips(fresh(20, seed=3) + [wheel[i % period] for i in range(5 * period)])[0]
    assert first <= 20 + 3 * period


def test_three_texts_by_turns_trip_at_the_ninth_whatever_their_order() -> None:
    """Nine outputs that hold only three texts trip, unless all of them are short."""
    one, two, three = fresh(3, size=20)
    order = [one, two, two, three, one, one, three, two, one]
    assert trips(fresh(20, seed=3) + order) == [28]
    short = [" ".join(text.split()[:9]) for text in order]
    assert trips(fresh(20, seed=3) + short) == []


def test_a_whole_passage_seven_times_of_twenty_trips() -> None:
    """A text of sixteen words is never the same by chance; one of ten words may be, more often."""
    now = [0, 1, 5, 8, 9, 14, 19]
    for size, found in ((30, [59]), (10, [])):
        texts = fresh(40, seed=3) + fresh(20, size=20, seed=4)
        for at in now:
            texts[40 + at] = fresh(1, size=size, seed=9)[0]
        assert trips(texts) == found


def test_a_message_that_comes_again_among_others_is_not_what_the_stream_says() -> None:
    """Twelve close outputs count only where they are half of the last twenty-four: a merge among commits is not."""
    seeded = random.Random(9)
    merges = [f"Merge the remote branch of {name} into the main line of work" for name in ("origin", "harbour")]
    texts = [text for i in range(60) for text in (*(f"{one} {i}" for one in fresh(2, 9, i)), seeded.choice(merges))]
    assert trips(texts) == []


def test_what_comes_round_counts_the_same_after_a_save() -> None:
    """The last outputs survive a save in mid-stream."""
    guard, levels = Repeat(), []
    for text in dialogue([*fresh(2), SAME, SAME, SAME, SAME]):
        state, guard = guard.state(), Repeat()
        guard.load(state)
        levels.append(guard.update(Output(text)).level)
    assert levels.index(Level.TRIP) == 11
