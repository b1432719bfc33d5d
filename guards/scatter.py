"""Whether words have stopped coming back: hardly one stands twice, and those that were common are gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from guards.base import Json
from guards.diversity import Ring, Window
from guards.memory import integer, integers, nested, number
from guards.narrowing import KEY
from guards.order import Order

SIZE, MOST = 120, 80
"""Words of the window that tells if any comes back, and at most so many of one output."""
OUTPUTS = 3
"""The outputs among which no word comes back should fill the window, each at most one part of so many: short ones that
share it with a long one before them are one piece of evidence, looked at again."""
USUAL = 0.2
"""The common words are gone where they have less than this part of the share that they had at the start."""
FADED = 0.25
"""Where not even this part was left before, they went slowly, as the words of a topic do, and their loss says less: the
part that may be missing shrinks with what was left."""
LATELY = 1000
"""The words over which what is left of the common ones is averaged: as many as chose them at the start.  A collapse
is not averaged in."""
SCATTERED, VARIED = 0.1, 0.7
"""Connected words of any language: the five commonest of 120 are more than a tenth; seldom more than 0.7 differ."""


class Scatter:
    """The last words of a stream, and how many of them were said while none came back."""

    def __init__(self) -> None:
        self._ring = Ring((SIZE,))
        self._loose = 0
        self._lately = 1.0

    @property
    def window(self) -> Window:
        """The last words."""
        return self._ring.windows[0]

    def update(self, returning: Sequence[int], words: Sequence[int], order: Order) -> float:
        """Take an output's words; return the score, 1.0 where outputs without a word that comes back fill the window.

        `returning`: what comes back of each word in connected speech.  0.0 for an output that has common words.
        """
        self._ring.extend(returning[:MOST])
        if not (order.settled and self.window.full):
            return 0.0
        here, missed = order.common(words), USUAL * min(1.0, self._lately / FADED)
        loose = (
            self.window.types >= VARIED * SIZE
            and order.common(self._ring.words) <= missed
            and self.window.commonest(5) <= SCATTERED * SIZE
        )
        if not loose:
            self._loose = 0
            self._lately = round(self._lately + (here - self._lately) * min(1.0, len(words) / LATELY), 6)
        elif here <= 2 * USUAL:
            self._loose = min(self._loose + min(len(words), SIZE // OUTPUTS), SIZE)
            return self._loose / SIZE
        return 0.0

    def state(self) -> dict[str, Json]:
        """Return the memory, at most 1 kB."""
        return {"loose": self._loose, "lately": self._lately, "words": list(self._ring.words)}

    def load(self, state: Mapping[str, Json], key: str) -> None:
        """Continue from what stands under `key`; raises ValueError on anything else."""
        found = nested(state, key)
        self._loose, self._lately = integer(found, "loose", SIZE), max(0.0, number(found, "lately"))
        self._ring = Ring((SIZE,), integers(found, "words", SIZE, KEY))
