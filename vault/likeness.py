"""Which notes say nearly the same: those that share most of their runs of words.

Each text is first known by the few smallest hashes of its runs (a bottom-k sketch, Broder 1997), so that only texts
that share some of them are compared in full.
"""

from __future__ import annotations

import heapq
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Final

LIKE: Final = 0.7
"""The share of runs in common (of all that either has) from which two notes are near duplicates."""

_RUN, _FEWEST_RUNS = 3, 12
_SKETCH, _SHARED = 12, 4  # two texts that are 0.7 alike share 4 of 12 with a chance of 98 %
_MOST_WITH_ONE_HASH, _MOST_COMPARED = 50, 5_000
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two notes, and the share of word runs that they have in common."""

    one: str
    other: str
    likeness: float

    @property
    def paths(self) -> tuple[str, str]:
        return self.one, self.other


def near_duplicates(texts: Iterable[tuple[str, str]]) -> list[Pair]:
    """Return the pairs of (path, text) that are nearly the same, the likest first.

    >>> text = "the blue boat has a red sail and it lies in the harbour of the old town since May"
    >>> [pair] = near_duplicates([("a.md", text), ("b.md", text + " 2026"), ("c.md", "something else")])
    >>> pair.one, pair.other, round(pair.likeness, 2)
    ('a.md', 'b.md', 0.94)
    """
    holders, runs = defaultdict[int, list[str]](list), dict[str, str]()
    for path, text in texts:
        hashes = _runs(text)
        if len(hashes) >= _FEWEST_RUNS:
            runs[path] = text
            for each in heapq.nsmallest(_SKETCH, hashes):
                holders[each].append(path)
    shared = Counter[tuple[str, str]]()
    for paths in holders.values():
        if 1 < len(paths) <= _MOST_WITH_ONE_HASH:
            shared.update(combinations(sorted(paths), 2))
    likely = [pair for pair, count in shared.most_common(_MOST_COMPARED) if count >= _SHARED]
    pairs = [Pair(one, other, _likeness(runs[one], runs[other])) for one, other in likely]
    return sorted((pair for pair in pairs if pair.likeness >= LIKE), key=lambda pair: (-pair.likeness, pair.one))


def _likeness(one: str, other: str) -> float:
    mine, theirs = _runs(one), _runs(other)
    return len(mine & theirs) / len(mine | theirs)


def _runs(text: str) -> set[int]:
    words = _WORD.findall(text)
    return {zlib.crc32(" ".join(words[at : at + _RUN]).encode()) for at in range(len(words) - _RUN + 1)}
