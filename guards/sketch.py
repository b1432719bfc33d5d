"""A sketch of a text's wording: 48 numbers that tell how much of it two texts share, whatever their length.

One-permutation MinHash (Li, Owen and Zhang 2012): each word triple falls into one of 48 bins, each bin keeps its
least hash, and the share of equal bins estimates the Jaccard similarity.  Paraphrase is invisible to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

BINS = 48
EMPTY = 0
PLENTY = 8
"""Triples for each bin among which the least is looked for: of more, only so many that are little enough."""
_NONE = 1 << 32
_ALL = _NONE - 1


class Sketch(NamedTuple):
    """The least hash of each bin, which is its remainder, and a bit for each bin that has one."""

    least: frozenset[int]
    bins: int


def sketch(words: Sequence[int]) -> Sketch:
    """Return the sketch of a text's word triples; the words are numbers, as `guards.reading.marks` gives them.

    The hashes are Python's own: see `guards.memory.HASHES`.
    """
    least = [_NONE] * BINS
    most = min(1.0, PLENTY * BINS / max(1, len(words))) * _NONE
    for found in map(hash, zip(words, words[1:], words[2:], strict=False)):
        mixed = found & _ALL
        if mixed < most and mixed < least[mixed % BINS]:
            least[mixed % BINS] = mixed
    return _sketch(mixed for mixed in least if mixed != _NONE)


def _sketch(least: Iterable[int]) -> Sketch:
    kept = frozenset(least)
    return Sketch(kept, sum([1 << mixed % BINS for mixed in kept]))


def likeness(a: Sketch, b: Sketch) -> float:
    """Return the estimated share of word triples that two texts have in common, 0 to 1."""
    either = (a.bins | b.bins).bit_count()
    return len(a.least & b.least) / either if either else 0.0


def flat(one: Sketch) -> list[int]:
    """Return a sketch as BINS numbers, EMPTY for a bin that has none."""
    row = [EMPTY] * BINS
    for mixed in one.least:
        row[mixed % BINS] = mixed // BINS + 1
    return row


def restored(row: Sequence[int]) -> Sketch:
    """Return the sketch that `flat` wrote."""
    return _sketch((value - 1) * BINS + bin_ for bin_, value in enumerate(row) if value != EMPTY)
