"""Outputs that fade: where a stream spoke at length, a few words an output that only say again what the last ones said.

A talk that has ended without anybody ending it sounds so ("Rest." "Rest."), in whatever words it does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from statistics import median

from guards.base import Json
from guards.memory import integer, integers
from guards.reading import Reading, marks
from guards.text import fingerprint

START, WORDY = 6, 80
"""Outputs whose median length is the stream's own, and words that it must have: what was short cannot fade."""
SHARE, FEW = 0.1, 32
"""What has faded has at most such a part of that length, and so many words."""
LATELY = 8
"""Faded outputs just before, in which most of its words stand already."""
MOST = 2 / 3
"""An output says the same again when more of its words than this do."""
AGAIN, SAME, NEW, NUMBERED, ALOUD = 4, 2, 1, -4, -8
"""Points for a faded output that says the same again, for one that is the last one again (which may be an
acknowledgement), for one with other words, for one with a number, which reports something, and for one that has not
faded."""
TRIP, HELD = 20, 30
"""Points that trip, five outputs and more; a stream holds no more of them, so that it is soon forgiven."""


class Fading:
    """How far a stream has faded.

    >>> from guards.reading import read
    >>> fading = Fading()
    >>> told = [" ".join(f"word{'x' * (7 * n + i)}" for i in range(100)) for n in range(6)]
    >>> [fading.update(read(text)) for text in [*told, "Rest now.", "Here we rest.", *["Rest here.", "Now rest."] * 3]]
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3, 0.5, 0.7, 0.9, 1.1, 1.3]
    """

    def __init__(self) -> None:
        self._sizes: list[int] = []
        self._lately: deque[list[int]] = deque(maxlen=LATELY)
        self._points = 0

    @property
    def usual(self) -> int:
        """The words of an output at the start; 0 before it is known."""
        return round(median(self._sizes)) if len(self._sizes) == START else 0

    def update(self, reading: Reading) -> float:
        """Take the next output that says something and calls nothing; return the score, 0 where it has not faded."""
        words = reading.words
        if len(self._sizes) < START:
            self._sizes.append(len(words))
            return 0.0
        if self.usual < WORDY or len(words) > min(FEW, SHARE * self.usual):
            self._points = max(0, self._points + ALOUD)
            return 0.0
        said = sorted({*marks(words)} or {fingerprint(reading.text.strip())})
        known = set().union(*self._lately)
        again = not words or sum(word in known for word in said) > MOST * len(said)
        numbered = any(word[0].isdigit() for word in words)
        same = bool(self._lately) and said == self._lately[-1]
        points = NUMBERED if numbered else SAME if same else AGAIN if again else NEW
        self._points = min(max(0, self._points + points), HELD)
        self._lately.append(said)
        return self._points / TRIP if again and not numbered else 0.0

    def state(self) -> dict[str, Json]:
        """Return the memory, at most 3 kB."""
        lately: list[Json] = [list(said) for said in self._lately]
        return {"sizes": [*self._sizes], "lately": lately, "points": self._points}

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        self._sizes = integers(state, "sizes", START, 2**32)
        self._points = integer(state, "points", HELD)
        rows = state.get("lately")
        if not isinstance(rows, list) or len(rows) > LATELY:
            raise ValueError(f"'lately' should be a list of at most {LATELY} lists")
        self._lately = deque((integers({"lately": row}, "lately", FEW) for row in rows), maxlen=LATELY)
