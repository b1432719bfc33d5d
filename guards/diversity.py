"""Lexical diversity of a fixed rolling window of words, kept up to date word by word.

HD-D (McCarthy and Jarvis 2007, 2010): the chance, summed over the window's types, that a type is in a random draw of 42
words, divided by 42; the expected type-token ratio of such a draw.  It does not know which words are good ones.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable
from functools import cache

DRAW = 42


@cache
def chances(size: int) -> tuple[float, ...]:
    """Return by count the part that a type of that count adds to the HD-D of a window of `size` words."""
    found = [0.0]
    missing = 1.0
    for count in range(1, size + 1):
        missing *= max(0.0, (size - DRAW - count + 1) / (size - count + 1))
        found.append((1.0 - missing) / DRAW)
    return tuple(found)


class Window:
    """The last `size` words, as numbers, and their diversity."""

    def __init__(self, size: int, words: Iterable[int] = ()) -> None:
        self.size = size
        self._chances = chances(size)
        self._words: deque[int] = deque()
        self._counts: Counter[int] = Counter()
        self.extend(words)

    def extend(self, words: Iterable[int]) -> None:
        """Add words; the oldest leave."""
        for word in words:
            self._words.append(word)
            self._counts[word] += 1
            if len(self._words) > self.size:
                old = self._words.popleft()
                self._counts[old] -= 1
                if not self._counts[old]:
                    del self._counts[old]

    @property
    def full(self) -> bool:
        """Whether there are enough words to judge."""
        return len(self._words) == self.size

    @property
    def words(self) -> list[int]:
        """The words, oldest first."""
        return list(self._words)

    def diversity(self) -> float:
        """Return HD-D, 0 to 1, of a full window."""
        return math.fsum(self._chances[count] for count in self._counts.values())

    def commonest(self) -> tuple[int, int]:
        """Return the commonest word and its count; (0, 0) when empty."""
        return self._counts.most_common(1)[0] if self._counts else (0, 0)
