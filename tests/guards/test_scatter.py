"""Words that stop coming back."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guards.base import Json
from guards.order import Order
from guards.scatter import OUTPUTS, SIZE, Scatter

COMMON = range(20)


def speech(seeded: random.Random, words: int = 40) -> list[int]:
    """Every other word is one of the twenty common ones, the rest are of a thousand."""
    return [seeded.randrange(20) if i % 2 else seeded.randrange(100, 1100) for i in range(words)]


def foreign(seeded: random.Random, words: int = 40) -> list[int]:
    """The same in another language."""
    return [word + 5000 for word in speech(seeded, words)]


def names(seeded: random.Random, words: int = 40) -> list[int]:
    """A list of what was never said, and one common word in twenty."""
    return [seeded.choice(COMMON) if i % 20 == 7 else seeded.randrange(10_000, 60_000) for i in range(words)]


def settled(seeded: random.Random) -> Order:
    order = Order()
    while not order.settled:
        order.learn(speech(seeded), last=False)
    return order


def scores(outputs: list[list[int]], order: Order, scatter: Scatter | None = None) -> list[float]:
    scatter = scatter or Scatter()
    return [scatter.update(words, words, order) for words in outputs]


def test_outputs_without_a_word_that_comes_back_fill_the_window_before_they_trip() -> None:
    """After speech, long lists of new words reach 1.0 with the third that finds nothing else in the window."""
    seeded = random.Random(1)
    order = settled(seeded)
    found = scores([speech(seeded) for _ in range(6)] + [names(seeded) for _ in range(6)], order)
    assert found == [0.0] * 8 + [pytest.approx(part) for part in (1 / 3, 2 / 3, 1.0, 1.0)]


def test_short_outputs_after_one_list_are_no_more_evidence_than_their_words() -> None:
    """Two titles while one list fills the window do not make three lists; twelve that find nothing else do."""
    seeded = random.Random(2)
    order = settled(seeded)
    titles = [names(seeded, 7) for _ in range(30)]
    found = scores([speech(seeded), *(names(seeded) for _ in range(3)), *titles], order)
    assert found[3] == pytest.approx(1 / OUTPUTS)
    assert found[5] < 0.5
    assert next(i for i, score in enumerate(found[4:]) if score >= 1.0) == 11


def test_an_output_with_common_words_passes_and_clears_nobody_else() -> None:
    """Connected speech among lists scores nothing itself; the list after it goes on where the lists were."""
    seeded = random.Random(3)
    order = settled(seeded)
    lists = [names(seeded) for _ in range(5)]
    found = scores([*lists[:4], speech(seeded, 6), lists[4]], order)
    assert found[4] == 0.0
    assert found[5] > found[3] > 0.0


def test_common_words_that_faded_long_ago_are_not_missed() -> None:
    """Where the start's common words left with its topic or language, one in twenty is as many as there were lately."""
    seeded = random.Random(4)
    order = settled(seeded)
    lists = [names(seeded) for _ in range(6)]
    assert max(scores([*(speech(seeded) for _ in range(100)), *lists], order)) == 1.0
    assert max(scores([*(foreign(seeded) for _ in range(100)), *lists], order)) == 0.0


def test_a_collapse_does_not_become_what_is_usual() -> None:
    """Lists that go on for a thousand outputs never fade the share that they are measured by."""
    seeded = random.Random(5)
    order = settled(seeded)
    found = scores([*(speech(seeded) for _ in range(6)), *(names(seeded) for _ in range(1000))], order)
    assert found[-1] == 1.0


@given(st.lists(st.sampled_from([speech, foreign, names]), max_size=40), st.integers(0, 39))
def test_the_scatter_goes_on_after_a_save_and_a_load(kinds: list[object], at: int) -> None:
    """Saved at any output, the scores after it are the same as if nothing had happened."""
    seeded = random.Random(6)
    order = settled(seeded)
    outputs = [kind(seeded, 30) for kind in kinds if callable(kind)]
    straight = scores(outputs, order)
    first, again = Scatter(), Scatter()
    before = scores(outputs[:at], order, first)
    kept: dict[str, Json] = {"scatter": json.loads(json.dumps(first.state()))}
    again.load(kept, "scatter")
    assert before + scores(outputs[at:], order, again) == straight


@pytest.mark.parametrize("damage", [{"loose": SIZE + 1}, {"words": [1] * (SIZE + 1)}, {"lately": "much"}])
def test_a_damaged_scatter_is_refused(damage: dict[str, Json]) -> None:
    """More words than the window holds, or a share that is no number, raise at load."""
    with pytest.raises(ValueError, match="should"):
        Scatter().load({"scatter": {**Scatter().state(), **damage}}, "scatter")
