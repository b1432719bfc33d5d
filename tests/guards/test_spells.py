"""How long spells last in a stream, and when one is too long to be another."""

from __future__ import annotations

import random

import pytest

from guards.base import Json
from guards.spells import GROSS, Spells


def told(turns: list[bool], limit: float = 13.9) -> Spells:
    spells = Spells(limit)
    for turn in turns:
        spells.update(turn)
    return spells


def test_without_spells_before_it_a_spell_is_too_long_at_sixteen() -> None:
    """Nothing is known of a stream that never had one."""
    assert told([False] * 30 + [True] * (GROSS - 1)).too_long < 1
    assert told([False] * 30 + [True] * GROSS).too_long == 1


def test_the_longer_spells_last_the_longer_another_may() -> None:
    """Spells of ten turns allow a hundred; spells of one turn allow no more than sixteen."""
    assert told(([False] * 40 + [True] * 10) * 50 + [False] * 40 + [True] * 60).too_long < 1
    assert told(([False] * 40 + [True]) * 50 + [False] * 40 + [True] * GROSS).too_long == 1


def test_a_spell_that_was_told_teaches_nothing() -> None:
    """The mean stays what it was, whenever that spell ends."""
    spells = told([False] * 30 + [True] * 30)
    spells.tell()
    for _ in range(40):
        spells.update(False)
    assert spells.mean == 1.0


def test_a_memory_goes_on_as_if_it_had_never_been_saved() -> None:
    """At any moment, the state of a stream leads to the same lengths and means."""
    dice = random.Random(4)
    one, other = Spells(13.9), Spells(13.9)
    for _ in range(400):
        turn = dice.random() < 0.5
        one.update(turn)
        other.update(turn)
        other, saved = Spells(13.9), other.state()
        other.load(saved)
        assert (one.length, one.mean, one.too_long) == (other.length, other.mean, other.too_long)


@pytest.mark.parametrize(
    "damage",
    [{"told": 2}, {"past": [3, 1, 0, 0]}, {"past": [1, 2, 3]}, {"here": [1, -1, 0, 0]}, {"here": "none"}],
    ids=["flag", "spells of no length", "too few", "negative", "no list"],
)
def test_a_damaged_memory_is_refused(damage: dict[str, Json]) -> None:
    """What no stream could have left raises."""
    with pytest.raises(ValueError, match="should"):
        Spells(13.9).load({**Spells(13.9).state(), **damage})


def test_the_share_is_that_of_spells_that_have_ended() -> None:
    """A spell that is going on says nothing of what is usual, however long; it counts once it has ended."""
    spells = Spells(limit=13.9)
    for belongs in [True] * 2 + [False] * 18:
        spells.update(belongs)
    before = spells.share
    for _ in range(40):
        spells.update(True)
    assert before == spells.share == 0.1
    for _ in range(40):
        spells.update(False)
    assert spells.share > 0.3
