"""One short note with other numbers, or other words, in it each time, where the stream did not begin with such notes.

"Request timed out after 31 s." is the same output as "Request timed out after 47 s."; but a watch that says "Load 0.4,
disk 61 %" from its first day does what it was asked to.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from operator import ne
from typing import TypeAlias

from guards.base import Json
from guards.memory import integers
from guards.text import fingerprint

START, RECENT = 20, 20
"""Outputs that say how the stream began, and the last ones that are counted."""
LONG = 120
"""Words of a note that may have a form; a longer one with other numbers is told by its wording."""
MANY = 16
"""So many of the last with one form, and numbers in it, are one output."""
SHORTEST, LONGEST = 5, 24
"""Words of a note in which an exchanged word counts: of fewer, one says which chore was done; of a longer text, word
triples tell more."""
EXCHANGED = 3
"""One word in so many may be another one."""
WORDINGS = 5
"""So many different ones among them are no acknowledgement."""
NOTHING = 0
"""Stands for an output that is no note."""


def masked(said: Sequence[str]) -> list[str]:
    """Return the words with every one that holds a digit as the same.

    >>> masked(("load", "0.4", "at", "12:30"))
    ['load', '0', 'at', '0']
    """
    return [word if word.isalpha() or not any(map(str.isdigit, word)) else "0" for word in said]


Note: TypeAlias = tuple[int, ...]
"""Marks of the words of a short output; none for another one."""


class Numbered:
    """Counts, among the last outputs, those that are this one but for the words that hold a digit."""

    def __init__(self) -> None:
        self._start: list[int] = []
        self._last: deque[int] = deque(maxlen=RECENT)

    def pass_by(self) -> None:
        """Take an output that says too little to be a note, or nothing: it belongs to the start too."""
        if len(self._start) < START:
            self._start.append(NOTHING)

    def update(self, said: Sequence[str]) -> int:
        """Take the next output's words; return how many of the last 20 have its form, 0 where the start had it."""
        marked = masked(said) if len(said) <= LONG else []
        form = fingerprint(" ".join(marked))
        if len(self._start) < START:
            self._start.append(form)
        self._last.append(form)
        at_start = len(self._start) < START or self._start.count(form) > 1
        return 0 if at_start or "0" not in marked else self._last.count(form)

    def state(self) -> dict[str, Json]:
        """Return the memory, 40 numbers at most."""
        return {"start": list(self._start), "last": list(self._last)}

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        self._start = integers(state, "start", START)
        self._last = deque(integers(state, "last", RECENT), maxlen=RECENT)


class Reworded:
    """Counts, among the last outputs, the short ones that are this one but for a third of their words.

    >>> reworded = Reworded()
    >>> free = [range(row, row + 6) for row in range(0, 180, 6)]
    >>> stuck = [[200, 201, 202, 203, 204, word] for word in range(5)]
    >>> [reworded.update(marks) for marks in (*free, *stuck)][-6:]
    [0, 0, 0, 0, 0, 5]
    """

    def __init__(self) -> None:
        self._start: list[Note] = []
        self._last: deque[Note] = deque(maxlen=RECENT)

    def update(self, marks: Sequence[int]) -> int:
        """Take the marks of the next output's words; return how many of the last 20 are it, 0 where the start had it.

        No marks stand for an output that is too short or too long to be a note.
        """
        note = tuple(marks) if SHORTEST <= len(marks) <= LONGEST else ()
        self._last.append(note)
        learning = len(self._start) < START
        if learning:
            self._start.append(note)
        if learning or not note:
            return 0
        alike = [other for other in self._last if _alike(note, other)]
        if len(set(alike)) < WORDINGS or sum(_alike(note, other) for other in self._start) > 1:
            return 0
        return len(alike)

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
