"""The variety of words over a rolling window."""

from __future__ import annotations

import random
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guards import Level, Output
from guards.diversity import DRAW, Window
from guards.vocabulary import Vocabulary

SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
LEXICON = [a + b + c for a in SYLLABLES[:20] for b in SYLLABLES[::5] for c in SYLLABLES[::9]]


def texts(count: int, types: int, seed: int = 1, size: int = 50) -> list[str]:
    """Texts with the few-often-many-rarely shape of language over `types` words."""
    seeded = random.Random(seed)
    return [" ".join(LEXICON[int(types * seeded.random() ** 2)] for _ in range(size)) for _ in range(count)]


def trips(outputs: list[str]) -> list[int]:
    guard = Vocabulary()
    return [row for row, text in enumerate(outputs) if guard.update(Output(text)).level is Level.TRIP]


def test_a_steady_vocabulary_is_silent_for_long() -> None:
    """A thousand outputs from one vocabulary never trip."""
    assert trips(texts(1000, 1200)) == []


def test_narrowing_trips_once_the_window_is_full_of_it() -> None:
    """A vocabulary that shrinks to thirty words is found within 80 outputs."""
    found = trips(texts(100, 1200) + texts(80, 30, seed=2))
    assert found
    assert 100 < found[0] < 180


def test_word_salad_trips() -> None:
    """Words that never come back are the opposite collapse."""
    seeded = random.Random(4)
    salad = [
        " ".join("".join(seeded.choice("abcdefghijklmnop") for _ in range(7)) for _ in range(50)) for _ in range(80)
    ]
    found = trips(texts(100, 700) + salad)
    assert found
    assert 100 < found[0] < 160


def test_a_poor_start_is_this_streams_own_way() -> None:
    """A templated note with few words from its start is silent."""
    assert (
        trips(
            [
                f"Load is {i}, memory {i + 3}, disk {i % 9}, nothing failed, no errors in the journal."
                for i in range(800)
            ]
        )
        == []
    )


def test_words_that_have_all_become_one_trip_whatever_the_start_was() -> None:
    """The absolute envelope holds from the first full window on."""
    assert trips(["lamp"] * 2000)


def test_an_output_that_brings_variety_back_passes() -> None:
    """While the window is still poor, an answer in fresh words is not blamed for it."""
    guard = Vocabulary()
    for text in texts(100, 1200) + texts(150, 30, seed=2):
        last = guard.update(Output(text))
    assert last.level is Level.TRIP
    rich = " ".join(random.Random(8).sample(LEXICON, 50))
    assert guard.update(Output(rich)).level is Level.PASS
    assert guard.update(Output(texts(1, 30, seed=3)[0])).level is Level.TRIP


def test_scripts_mixed_word_by_word_trip_in_one_output() -> None:
    """Neighbouring words in three scripts are salad at once; a list of language names is not."""
    salad = "lamp причал harbour 港 verde лодка boot ύδωρ rope якорь fog θάλασσα pier море bell ветер quay"
    assert Vocabulary().update(Output(salad)).level is Level.TRIP
    names = "English, Русский, Ελληνικά, עברית, Deutsch, Українська, Français, العربية, Español, 中文, Italiano, 日本語"
    assert Vocabulary().update(Output(names)).level is Level.PASS


def test_a_language_without_spaces_has_words_too() -> None:
    """Chinese text that shrinks to one sentence is found by pairs of characters."""
    seeded = random.Random(6)
    han = [chr(0x4E00 + i) for i in range(900)]
    rich = ["".join(seeded.choice(han) for _ in range(60)) for _ in range(100)]
    poor = ["今晚港口很安静灯亮着水面没有动静" * 3] * 120
    assert trips(rich + poor)[0] >= 100


@given(st.lists(st.integers(0, 9), min_size=60, max_size=120))
def test_diversity_kept_step_by_step_equals_the_formula(words: list[int]) -> None:
    """The rolling sum is HD-D as it is defined, over the last 60 words."""
    window = Window(60, words)
    last = words[-60:]
    direct = sum(1 - comb(60 - last.count(w), DRAW) / comb(60, DRAW) for w in set(last)) / DRAW
    assert window.diversity() == pytest.approx(direct)
    assert window.words == last
