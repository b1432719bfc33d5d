"""A sketch of a text's wording: 48 numbers that tell how much of it two texts share, whatever their length.

One-permutation MinHash (Li, Owen and Zhang 2012): each word triple falls into one of 48 bins, each bin keeps its
least hash, and the share of equal bins estimates the Jaccard similarity.  Paraphrase is invisible to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple
from zlib import crc32

BINS = 48
EMPTY = 0
_MIXED, _NONE = 0x9E3779B1, 1 << 32


class Sketch(NamedTuple):
    """The least hash of each bin, which is its remainder, and a bit for each bin that has one."""

    least: frozenset[int]
    bins: int


def sketch(words: Sequence[str]) -> Sketch:
    """Return the sketch of a text's word triples; the words hold no spaces."""
    text = " ".join(words)
    data = text.encode("utf-8", "surrogatepass")
    parts = words if len(data) == len(text) else data.split(b" ")
    starts = [0, *accumulate([size + 1 for size in map(len, parts)])]
    least = [_NONE] * BINS
    for start, end in zip(starts, starts[3:], strict=False):
        mixed = crc32(data[start : end - 1]) * _MIXED & 0xFFFFFFFF
        bin_ = mixed % BINS
        if mixed < least[bin_]:
            least[bin_] = mixed
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
