"""How many of its long words a stream has lost: two rolling windows against the stream's own start."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from guards.base import Json
from guards.diversity import Ring, Window
from guards.memory import integers, nested, numbers

SHORT, LONG = 300, 1000
"""Long words of the two windows: one that shows a fall soon, one that is steady."""
EACH = 80
"""At most so many of one output."""
KEY = 0xFFFF
POOREST = 0.2
"""A window that began with a smaller share of different words is a form to be filled in; its share says nothing."""
RUN = 8
SHORTER, FRAME = 0.8, 0.2
"""Outputs shorter than this share of the start say their frame more often in a window: so much more may be lost."""
SHARED = 0.8
"""Characters are shared by many words: where they stand for words, fewer are lost with the words."""
PACE = 1 / 16


class Narrowing:
    """The different long words of the last 300 and 1,000, against the fewest that those windows held at the start."""

    def __init__(self, drop: float) -> None:
        self._drop = drop
        self._ring = Ring((SHORT, LONG))
        self._start = [0, 0]
        self._drops: deque[float] = deque(maxlen=RUN)
        self._fresh = self._length = self._usual_length = 0.0

    def update(self, words: Sequence[int], *, starting: bool, characters: bool) -> float:
        """Take an output's long words; return the score, 1.0 where the share `drop` is lost for RUN outputs.

        At most 0.5 for an output that brings as many words that the windows do not hold as the start's outputs did.
        `characters`: the words are characters of a script without spaces.
        """
        words = words[:EACH]
        known = self._ring.windows[-1].counts
        fresh = sum(word not in known for word in words) / max(1, len(words))
        self._ring.extend(words)
        self._length = self._length + PACE * (len(words) - self._length) if self._length else float(len(words))
        if starting:
            self._usual_length = self._length
            self._fresh += PACE * (fresh - self._fresh)
        for i, window in enumerate(self._ring.windows):
            if window.full and (starting or not self._start[i]):
                self._start[i] = min(self._start[i] or window.size, window.types)
        window, start = self.worst()
        if not start:
            return 0.0
        allowed = self._drop + (FRAME if self._length < SHORTER * self._usual_length else 0.0)
        lost = max(0.0, 1.0 - window.types / start) / (allowed * (SHARED if characters else 1.0))
        self._drops.append(round(lost, 4))
        score = min(self._drops) if len(self._drops) == RUN else 0.0
        return score if words and fresh < max(self._fresh, 0.5 / len(words)) else min(score, 0.5)

    def worst(self) -> tuple[Window, int]:
        """Return the window that lost the greater share, and how many different words it had at the start; 0: none."""
        found = [
            (window.types / start, i)
            for i, (window, start) in enumerate(zip(self._ring.windows, self._start, strict=True))
            if start >= POOREST * window.size
        ]
        i = min(found)[1] if found else 0
        return self._ring.windows[i], self._start[i] if found else 0

    def state(self) -> dict[str, Json]:
        """Return the memory, about 7 kB."""
        return {
            "start": list(self._start),
            "drops": list(self._drops),
            "means": [self._fresh, self._length, self._usual_length],
            "words": list(self._ring.words),
        }

    def load(self, state: Mapping[str, Json], key: str) -> None:
        """Continue from what stands under `key`; raises ValueError on anything else."""
        found = nested(state, key)
        self._start, means = integers(found, "start", 2, LONG), numbers(found, "means", 3)
        if len(self._start) != 2 or len(means) != 3:
            raise ValueError("'start' should hold 2 numbers and 'means' 3")
        self._fresh, self._length, self._usual_length = means
        self._drops = deque(numbers(found, "drops", RUN), maxlen=RUN)
        self._ring = Ring((SHORT, LONG), integers(found, "words", LONG, KEY))
