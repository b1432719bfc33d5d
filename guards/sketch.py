"""A sketch of a text's wording: 48 numbers that tell how much of it two texts share, whatever their length.

One-permutation MinHash (Li, Owen and Zhang 2012): each word triple falls into one of 48 bins, each bin keeps its
least hash, and the share of equal bins estimates the Jaccard similarity.  Paraphrase is invisible to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import eq, or_
from zlib import crc32

BINS = 48
EMPTY = 0
_MIXED = 0x9E3779B1


def sketch(words: Sequence[str]) -> list[int]:
    """Return the sketch of a text's word triples."""
    least = [EMPTY] * BINS
    for triple in zip(words, words[1:], words[2:], strict=False):
        mixed = crc32(" ".join(triple).encode("utf-8", "surrogatepass")) * _MIXED & 0xFFFFFFFF
        bin_, value = mixed % BINS, mixed // BINS + 1
        if least[bin_] == EMPTY or value < least[bin_]:
            least[bin_] = value
    return least


def likeness(a: Sequence[int], b: Sequence[int]) -> float:
    """Return the estimated share of word triples that two texts have in common, 0 to 1."""
    equal = sum(map(eq, a, b))
    neither = list(map(or_, a, b)).count(EMPTY) if EMPTY in a else 0
    return (equal - neither) / (BINS - neither) if neither < BINS else 0.0
