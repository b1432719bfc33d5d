"""The variety of words over rolling windows, and the order they stand in."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guards import Level, Output, Verdict
from guards.base import Json
from guards.company import Company
from guards.diversity import Ring
from guards.order import Order
from guards.scripts import switches
from guards.spans import spans
from guards.vocabulary import Vocabulary

SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
LEXICON = [a + b + c for a in SYLLABLES[:20] for b in SYLLABLES[::5] for c in SYLLABLES[::9]]
FRAME = ("the {} of the {} is in the {}", "and a {} on the {} was as {} as the {}", "it is a {} for the {} to be {}")


SMALL = ("the", "of the", "in a", "and the", "to", "was a", "with", "for the", "on", "is", "by", "as a", "from the")


def text(seeded: random.Random, types: int, sentences: int = 4) -> str:
    """Sentences of small words and, after each, one of the first `types` long ones, few often, many rarely."""
    said = []
    for _ in range(sentences):
        long = [LEXICON[int(types * seeded.random() ** 2)] for _ in range(5)]
        said.append(" ".join(f"{seeded.choice(SMALL)} {word}" for word in long))
    return ". ".join(said) + "."


def texts(count: int, types: int, seed: int = 1, sentences: int = 4) -> list[str]:
    seeded = random.Random(seed)
    return [text(seeded, types, sentences) for _ in range(count)]


def verdicts(outputs: list[str]) -> list[Verdict]:
    guard = Vocabulary()
    return [guard.update(Output(said)) for said in outputs]


def trips(outputs: list[str]) -> list[int]:
    return [row for row, verdict in enumerate(verdicts(outputs)) if verdict.level is Level.TRIP]


def test_a_steady_vocabulary_is_silent_for_long() -> None:
    """A thousand outputs from one vocabulary never trip."""
    assert trips(texts(1000, 1200)) == []


def test_narrowing_trips_and_names_the_words_that_are_left() -> None:
    """A vocabulary that shrinks to thirty words is found within 80 outputs; reason, hint and evidence name some."""
    outputs = texts(100, 1200) + texts(80, 30, seed=2)
    said = verdicts(outputs)
    first = next(row for row, verdict in enumerate(said) if verdict.level is Level.TRIP)
    assert 100 < first < 180
    assert "different long words fell from" in said[first].reason
    assert said[first].evidence
    assert all(span in outputs[first] and span in said[first].hint for span in said[first].evidence)


def test_short_outputs_narrow_too() -> None:
    """Outputs of about ten words whose vocabulary shrinks are found as well, only later."""
    found = trips(texts(160, 1200, sentences=1) + texts(260, 30, seed=2, sentences=1))
    assert found
    assert found[0] > 160


def test_words_in_chance_order_trip_within_twenty_outputs() -> None:
    """The stream's own words, shuffled, keep their shares and lose their order."""
    seeded = random.Random(4)
    start = texts(60, 1200)
    salad = [" ".join(seeded.sample(said.split(), len(said.split()))) for said in texts(40, 1200, seed=5)]
    found = trips(start + salad)
    assert found
    assert 60 <= found[0] < 80
    assert "no order" in verdicts(start + salad)[found[0]].reason


def test_words_that_never_come_back_trip_within_twenty_outputs() -> None:
    """Random words of a dictionary are the opposite collapse."""
    seeded = random.Random(4)
    letters = "abcdefghijklmnop"
    salad = [" ".join("".join(seeded.choices(letters, k=7)) for _ in range(30)) for _ in range(40)]
    found = trips(texts(60, 1200) + salad)
    assert found
    assert 60 < found[0] < 80


def test_a_new_language_is_no_salad() -> None:
    """Connected sentences in other words, common ones among them, are a change of language and pass."""
    seeded = random.Random(6)
    frames = ("der {} von dem {} ist in dem {}", "und ein {} auf der {} war so {} wie die {}")
    other = []
    for _ in range(60):
        said = [frame.format(*(seeded.choice(LEXICON[200:]) for _ in range(4))) for frame in frames]
        other.append(". ".join(said))
    assert trips(texts(80, 1200) + other) == []


def test_pages_that_become_a_form_do_not_narrow() -> None:
    """Minutes whose text gives way to the same lines each time say little anew, and what they say is as varied."""
    form = texts(1, 1200, seed=8, sentences=6)[0]
    pages = [f"{form}\n{said}" for said in texts(120, 1200, seed=9, sentences=1)]
    assert trips(texts(60, 1200, sentences=6) + pages) == []


def test_korean_after_another_language_is_no_salad() -> None:
    """Its words hardly ever come back as they are, but their last syllables do; words without any are salad."""
    seeded = random.Random(6)
    stems = ["".join(chr(0xAC00 + seeded.randrange(11_000)) for _ in range(2)) for _ in range(2400)]
    said = [" ".join(stem + seeded.choice("은는이가을를에서도로") for stem in stems[i::80]) for i in range(40)]
    salad = [" ".join(stems[i::80]) for i in range(40, 80)]
    assert trips(texts(60, 1200) + said) == []
    assert trips(texts(60, 1200) + salad)


def test_a_poor_start_is_this_streams_own_way() -> None:
    """A templated note with few words from its start is silent."""
    notes = [
        f"Load is {i}, memory {i + 3}, disk {i % 9}, nothing failed, no errors in the journal." for i in range(800)
    ]
    assert trips(notes) == []


def test_outputs_of_hardly_any_word_trip_whatever_the_start_was() -> None:
    """The absolute envelope holds as soon as there are 120 words."""
    assert trips(["lamp pier lamp quay " * 5] * 12)


def test_an_output_that_brings_variety_back_passes() -> None:
    """While the window is still poor, an answer in fresh words is not blamed for it."""
    guard = Vocabulary()
    for said in texts(100, 1200) + texts(150, 30, seed=2):
        last = guard.update(Output(said))
    assert last.level is Level.TRIP
    fresh = FRAME[1].format(*LEXICON[-4:]) + ". " + FRAME[0].format(*LEXICON[-9:-6])
    assert guard.update(Output(fresh)).level is Level.PASS
    assert guard.update(Output(text(random.Random(3), 30))).level is Level.TRIP


def test_sentences_after_salad_pass() -> None:
    """An output whose words stand in order again is not blamed for those before it."""
    guard = Vocabulary()
    seeded = random.Random(4)
    for said in texts(60, 1200):
        guard.update(Output(said))
    for said in texts(20, 1200, seed=5):
        last = guard.update(Output(" ".join(seeded.sample(said.split(), len(said.split())))))
    assert last.level is Level.TRIP
    assert guard.update(Output(texts(1, 1200, seed=9)[0])).level is Level.PASS


def test_scripts_mixed_word_by_word_trip_in_one_output() -> None:
    """Neighbouring words in three scripts are salad at once; a list of language names is not."""
    salad = "lamp причал harbour 港 verde лодка boot ύδωρ rope якорь fog θάλασσα pier море bell ветер quay"
    assert Vocabulary().update(Output(salad)).level is Level.TRIP
    names = "English, Русский, Ελληνικά, עברית, Deutsch, Українська, Français, العربية, Español, 中文, Italiano, 日本語"
    assert Vocabulary().update(Output(names)).level is Level.PASS
    assert switches("two words of Αθήνα") == 0.0


def test_a_language_without_spaces_has_words_too() -> None:
    """Chinese text that shrinks to a few words is found by its characters."""
    seeded = random.Random(6)
    han = [chr(0x4E00 + i) for i in range(900)]
    rich = ["".join(seeded.choice(han) for _ in range(60)) for _ in range(100)]
    poor = ["".join(seeded.choice(han[:25]) for _ in range(60)) for _ in range(120)]
    assert trips(rich + poor)[0] >= 100


@given(st.lists(st.integers(0, 9), max_size=90))
def test_windows_kept_word_by_word_equal_the_last_words(words: list[int]) -> None:
    """Each window counts exactly the last words of its size."""
    ring = Ring((7, 30), words)
    for window in ring.windows:
        last = words[-window.size :]
        assert {word: last.count(word) for word in last} == dict(window.counts)
        assert window.held == len(last)
        assert window.commonest(len(set(last))) == len(last)
    assert ring.words == words[-30:]


@given(st.lists(st.lists(st.integers(0, 6), min_size=2, max_size=40), min_size=1, max_size=60), st.integers(0, 59))
def test_the_order_goes_on_after_a_save_and_a_load(outputs: list[list[int]], at: int) -> None:
    """Saved at any output of the start or after it, the bets are the same as if nothing had happened."""
    straight, saved = Order(), Order()
    for i, words in enumerate(outputs):
        if i == at:
            fresh = Order()
            kept: dict[str, Json] = {"order": json.loads(json.dumps(saved.state()))}
            fresh.load(kept, "order")
            saved = fresh
        for order in (straight, saved):
            if order.settled:
                order.update(words)
            else:
                order.learn(words, last=i >= 3)
    assert saved.state() == straight.state()


def test_an_order_with_a_torn_table_is_refused() -> None:
    """A table that does not fit its symbols raises at load."""
    state: dict[str, Json] = {**Order().state(), "symbols": [1, 2], "scores": [0, 0]}
    with pytest.raises(ValueError, match="each pair"):
        Order().load({"order": state}, "order")


@given(st.lists(st.integers(0, 30), max_size=60), st.integers(0, 60), st.integers(1, 2))
def test_company_goes_on_after_a_save_and_a_load(marks: list[int], at: int, reach: int) -> None:
    """What was said before a save is remembered after it, and every place that is new is one that was asked about."""
    straight, saved, places = Company(), Company(), range(len(marks))
    found = straight.new(marks, places, reach)
    first = saved.new(marks, places[:at], reach)
    kept: dict[str, Json] = {"company": json.loads(json.dumps(saved.state()))}
    again = Company()
    again.load(kept, "company")
    assert first + again.new(marks, places[at:], reach) == found
    assert straight.new(marks, found[-1:], reach) == []


def test_a_torn_table_of_company_is_refused() -> None:
    """Fewer tags than the table has raise at load."""
    with pytest.raises(ValueError, match="tags"):
        Company().load({"company": {"tags": "AAAA"}}, "company")


@given(st.text(max_size=60), st.text(min_size=1, max_size=4))
def test_spans_stand_in_the_text(said: str, word: str) -> None:
    """Whatever is looked for, what comes back can be found in the text exactly."""
    assert all(span in said for span in spans(said, [word]))


def test_what_is_absolute_is_a_gate() -> None:
    """Mixed scripts and five words of 120 are wrong in any stream; what is compared with a start is no gate."""
    mixed = Vocabulary().update(Output("fog причал θάλασσα " * 5))
    assert mixed.level is Level.TRIP
    assert mixed.gate
    dice = random.Random(2)
    guard = Vocabulary()
    words = ["lamp", "rope", "tide", "crane", "pier"]
    few = [guard.update(Output(" ".join(dice.choices(words, k=14)))) for _ in range(20)]
    assert {v.gate for v in few if v.level is Level.TRIP} == {True}
    said = verdicts(texts(100, 1200) + texts(80, 30, seed=2))
    assert {v.gate for v in said if v.level is Level.TRIP} == {False}
