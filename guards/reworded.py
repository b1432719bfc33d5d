"""One short note with other words in it each time, where the stream did not begin with such notes."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from operator import ne
from typing import TypeAlias

from guards.base import Json
from guards.memory import integers
from guards.sameness import DIFFERENT, MANY, RECENT, START, Sameness

SHORTEST, LONGEST = 5, 24
"""Words of a note in which an exchanged word counts: of fewer, one says which chore was done; of a longer text, word
triples tell more."""
EXCHANGED = 3
"""One word in so many may be another one."""
WORDINGS = 5
"""So many different ones among them are no acknowledgement."""

Note: TypeAlias = tuple[int, ...]
"""Marks of the words of a short output; none for another one."""


class Reworded:
    """Counts, among the last outputs, the short ones that are this one but for a third of their words.

    >>> reworded = Reworded()
    >>> free = [range(row, row + 6) for row in range(0, 180, 6)]
    >>> stuck = [[200, 201, 202, 203, 204, word] for word in range(5)]
    >>> [reworded.update(marks).score for marks in (*free, *stuck)][-6:]
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.3125]
    """

    def __init__(self) -> None:
        self._start: list[Note] = []
        self._last: deque[Note] = deque(maxlen=RECENT)

    def update(self, marks: Sequence[int]) -> Sameness:
        """Take the marks of the next output's words; return how many of the last 20 are it, none where the start was.

        An output that is too short or too long to be a note counts as another one.
        """
        note = tuple(marks) if SHORTEST <= len(marks) <= LONGEST else ()
        self._last.append(note)
        learning = len(self._start) < START
        if learning:
            self._start.append(note)
        if learning or not note:
            return DIFFERENT
        alike = [other for other in self._last if _alike(note, other)]
        if len(set(alike)) < WORDINGS or sum(_alike(note, other) for other in self._start) > 1:
            return DIFFERENT
        times = len(alike)
        why = f"{times} of the last {RECENT} outputs are this one with a word or two exchanged"
        return Sameness(times / MANY, why)

    def state(self) -> dict[str, Json]:
        """Return the memory, at most 12 kB."""
        return {"start": [[*note] for note in self._start], "last": [[*note] for note in self._last]}

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        self._start = _notes(state, "start", START)
        self._last = deque(_notes(state, "last", RECENT), maxlen=RECENT)


def _alike(one: Note, other: Note) -> bool:
    size = len(one)
    return size == len(other) and EXCHANGED * sum(map(ne, one, other)) <= size


def _notes(state: Mapping[str, Json], key: str, most: int) -> list[Note]:
    rows = state.get(key)
    if not isinstance(rows, list) or len(rows) > most:
        raise ValueError(f"{key!r} should be a list of at most {most} notes")
    return [tuple(integers({key: row}, key, LONGEST)) for row in rows]
