"""How many different words stand in the last ones of a stream: rolling windows over one ring, kept up word by word.

A window of a fixed number of words needs no correction for length: its number of different words is compared with
itself.  Words are numbers; which ones are good ones is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable


class Window:
    """The last `size` words and how often each stands among them."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.held = 0
        self.counts: dict[int, int] = {}

    @property
    def full(self) -> bool:
        """Whether there are enough words to judge."""
        return self.held == self.size

    @property
    def types(self) -> int:
        """How many different words it holds."""
        return len(self.counts)

    def commonest(self, most: int) -> int:
        """Return how many words its `most` commonest ones are."""
        return sum(sorted(self.counts.values(), reverse=True)[:most])


class Ring:
    """The last words of a stream, seen through several windows that end at the newest word.

    >>> ring = Ring((2, 4))
    >>> ring.extend([1, 2, 3, 3])
    >>> [window.types for window in ring.windows]
    [1, 3]
    """

    def __init__(self, sizes: Iterable[int], words: Iterable[int] = ()) -> None:
        self.windows = tuple(Window(size) for size in sorted(sizes))
        self._words: list[int] = []
        self.extend(words)

    def extend(self, words: Iterable[int]) -> None:
        """Add words; the oldest leave."""
        new, line = list(words), self._words
        line += new
        for window in self.windows:
            counts = window.counts
            for word in new:
                counts[word] = counts.get(word, 0) + 1
            begin = len(line) - len(new) - window.held
            window.held = min(window.size, window.held + len(new))
            for word in line[begin : len(line) - window.held]:
                if counts[word] == 1:
                    del counts[word]
                else:
                    counts[word] -= 1
        if len(line) > 2 * self.windows[-1].size:
            del line[: -self.windows[-1].size]

    @property
    def words(self) -> list[int]:
        """The words, oldest first."""
        return self._words[-self.windows[-1].size :]
