"""The phrases that the catchphrase guard follows: their runs within an output, and the table that keeps them."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from guards.phrases import MOST, Phrase, Phrases, runs
from guards.places import EDGE, Place, is_island
from guards.seen import Seen


@given(st.lists(st.one_of(st.none(), st.integers(3, 20)), max_size=30))
def test_runs_lie_apart_and_are_hot_throughout(hits: list[int | None]) -> None:
    """A run misses one key at most in a row, runs do not overlap, each phrase is the one with most hits of its run."""
    found = {i: Phrase(0, 0, 0, 40, hits=n) for i, n in enumerate(hits) if n is not None}
    end = -1
    for first, last, phrase in sorted(runs(range(len(hits)), found), key=lambda run: run[0]):
        assert end < first <= last
        inside = [hits[i] for i in range(first, last + 1)]
        assert None not in (inside[0], inside[-1])
        assert all(pair != (None, None) for pair in pairwise(inside))
        assert phrase.hits == max(n for n in inside if n is not None)
        end = last


@given(st.lists(st.lists(st.integers(0, 2**32 - 1), max_size=20), max_size=20), st.integers(0, 2**32 - 1))
def test_the_start_is_never_counted_too_low(outputs: list[list[int]], key: int) -> None:
    """The sketch of the start may count a key too often and never too seldom."""
    seen = Seen()
    for keys in outputs:
        seen.learn(dict.fromkeys(keys))
    for known in {key, *(k for keys in outputs for k in keys)}:
        assert seen.count(known) >= sum(known in keys for keys in outputs)


def test_a_seldom_phrase_beside_a_frequent_one_is_a_run_of_its_own() -> None:
    """Between the two lie keys that hold words of both and come seldom; a piece of the frequent one is not yielded."""
    hits = [40, 40, 3, 4, 3, 18, 18]
    found = {i: Phrase(0, 0, 0, 40, hits=n) for i, n in enumerate(hits)}
    assert [(first, last) for first, last, _ in runs(range(7), found)] == [(0, 1), (5, 6)]
    piece = {i: Phrase(0, 0, 0, 40, hits=n) for i, n in enumerate((40, 40, 18, 18))}
    assert [(first, last) for first, last, _ in runs(range(4), piece)] == [(0, 1)]


def test_a_phrase_with_one_key_that_is_not_followed_is_one_phrase() -> None:
    """The words of the keys on both sides overlap, so that nothing is missing; two keys in a row are a gap."""
    one = {i: Phrase(0, 0, 0, 40, hits=9) for i in (0, 2, 3)}
    assert [(first, last) for first, last, _ in runs(range(4), one)] == [(0, 3)]
    two = {i: Phrase(0, 0, 0, 40, hits=9) for i in (0, 3)}
    assert [(first, last) for first, last, _ in sorted(runs(range(4), two), key=lambda run: run[0])] == [(0, 0), (3, 3)]


def test_the_table_keeps_the_most_suspicious() -> None:
    """A phrase that grows is still followed after ten thousand others have come and gone."""
    phrases = Phrases(16)
    for row in range(200):
        noise = [row // 2 * 1000 + i for i in range(1, 80)]
        found = phrases.take([4_000_000_007, *noise] if row >= 40 and row % 3 == 0 else noise, [])
    assert phrases.rows == 200
    last = phrases.take([4_000_000_007], [])[4_000_000_007]
    assert last.hits > 50
    assert len(found) <= MOST


def test_a_short_warm_up_makes_no_form() -> None:
    """A run in two of the first sixteen outputs is an eighth of them, however short the warm-up is."""
    phrases = Phrases(8)
    for row in range(20):
        phrases.take([row + 1, 900] if row in (3, 12) else [row + 1], [])
    assert phrases.form == 2 / 16


def test_a_phrase_that_always_begins_the_output_and_runs_on_is_a_label() -> None:
    """Behind a label stands something else each time; a sentence that begins each output is no label."""
    first = [Place(EDGE, 1 + n, 0, 0, 6) for n in range(16)]
    assert not is_island(first, formed=False, whole=False)
    assert is_island(first, formed=False, whole=True)
    assert is_island([Place(40, 1, 3, 0, 6), *first[:15]], formed=False, whole=False)
