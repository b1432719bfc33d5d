"""One note with other numbers in it each time, where the stream did not begin with such notes.

"Request timed out after 31 s." is the same output as "Request timed out after 47 s."; but a watch that says "Load 0.4,
disk 61 %" from its first day does what it was asked to.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from guards.base import Json
from guards.memory import integers
from guards.sameness import DIFFERENT, MANY, RECENT, START, Sameness
from guards.text import fingerprint

LONG = 120
"""Words of a note that may have a form; a longer one with other numbers is told by its wording."""
NOTHING = 0
"""Stands for an output that is no note."""


def masked(said: Sequence[str]) -> list[str]:
    """Return the words with every one that holds a digit as the same.

    >>> masked(("load", "0.4", "at", "12:30"))
    ['load', '0', 'at', '0']
    """
    return [word if word.isalpha() or not any(map(str.isdigit, word)) else "0" for word in said]


class Numbered:
    """Counts, among the last outputs, those that are this one but for the words that hold a digit."""

    def __init__(self) -> None:
        self._start: list[int] = []
        self._last: deque[int] = deque(maxlen=RECENT)

    def pass_by(self) -> None:
        """Take an output that says too little to be a note, or nothing: it belongs to the start too."""
        if len(self._start) < START:
            self._start.append(NOTHING)

    def update(self, said: Sequence[str]) -> Sameness:
        """Take the next output's words; return how many of the last 20 have its form, none where the start had it."""
        marked = masked(said) if len(said) <= LONG else []
        form = fingerprint(" ".join(marked))
        if len(self._start) < START:
            self._start.append(form)
        self._last.append(form)
        at_start = len(self._start) < START or self._start.count(form) > 1
        if at_start or "0" not in marked:
            return DIFFERENT
        times = self._last.count(form)
        return Sameness(times / MANY, f"{times} of the last {RECENT} outputs are this one with other numbers")

    def state(self) -> dict[str, Json]:
        """Return the memory, 40 numbers at most."""
        return {"start": list(self._start), "last": list(self._last)}

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        self._start = integers(state, "start", START)
        self._last = deque(integers(state, "last", RECENT), maxlen=RECENT)
