"""The test behind opener and sign-off: one key in ever more outputs of a stream in which it was rare."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from guards.base import Json
from guards.edges import BLOCK, FIELD, Edge
from guards.memory import integer, integers
from guards.onset import BEFORE, MOST_START, RECENT, evidence
from guards.promise import limit
from guards.reading import Reading
from guards.text import fingerprint

SHOWN = 20
"""Outputs of which a person is told."""
FEWEST = 4
"""Outputs with the key from which it is worth testing."""
RARE = (0.1, 0.1, 0.2)
"""The share of outputs in which each kind of key may stand in a healthy stream, at least."""
FIXED = 0.3
"""From this share of the start that said the same at this edge, another sentence instead is an edit of the form."""
NEW = 0.5
"""The share of its neighbours that differ where a sentence is a habit of speech; the lines of a form stand together."""
CANDIDATES = 32
"""Keys that can be common among the last outputs at one time; they share the promise."""
ASKED = 1.25
"""Times the promise's limit: people take up a phrase for a season, eight outputs in a row or half of thirty."""
KINDS, BEYOND, FORM, WHOLE, NEAR, FURTHER, OWN, WIDE = 3, 3, 4, 5, 6, 7, 8, 9

Row: TypeAlias = tuple[int, ...]
"""Three keys, what lies beyond the sentence, the form of the edge, a fingerprint of the whole text, what stands beside
the sentence and its neighbour, and what the text itself has at this edge."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the test says of an output: its score in units of the limit, by which keys, in how many of the last."""

    score: float
    kinds: tuple[int, ...]
    hits: int
    of: int


def row(found: Edge, reading: Reading) -> Row:
    """Return what is kept of an output."""
    return (*found.keys, found.beyond, found.form, fingerprint(" ".join(reading.spoken)), *found.beside, found.own)


class Habit:
    """The keys of a stream's outputs, and how much more often one comes than it did before.

    The test is that of guards/onset.py.  Outputs that are the same in all their words count once.  Where the start
    said one thing at this edge, only a sentence that comes on top of it counts, not one in its place.  A sentence that
    came together with the one beside it is a piece of a new form: each pair counts once.
    """

    def __init__(self, warm_up: int, caution: float) -> None:
        self._warm_up = min(max(warm_up, BEFORE), MOST_START)
        self._limit = ASKED * limit(caution, CANDIDATES)
        self._outputs = 0
        self._start: list[Row] = []
        self._recent: deque[Row] = deque(maxlen=RECENT)

    def update(self, now: Row) -> Found:
        """Take the next output."""
        self._recent.append(now)
        self._outputs += 1
        hits = [self._hits(kind, now[kind]) for kind in range(KINDS)]
        scores = [self._score(kind, hits[kind]) for kind in range(KINDS)]
        best = max(scores)
        kinds = tuple(kind for kind in range(KINDS) if scores[kind] and scores[kind] >= best / 2)
        if best < 1.0 and len(self._start) < self._warm_up:
            self._start.append(now)
        shown = max((sum(hits[kind][-SHOWN:]) for kind in kinds), default=0)
        return Found(best, kinds, shown, min(SHOWN, len(self._recent)))

    def _hits(self, kind: int, key: int) -> list[bool]:
        """Return which of the last outputs have the key; nothing when too few have, or this one does not count."""
        if not key or [row[kind] for row in self._recent].count(key) < FEWEST:
            return []
        usual, alone = self._usual(kind, key), self._alone(kind, key)
        seen: set[int] = set()
        hits, new = [], []
        for row in self._recent:
            hit = row[kind] == key and row[WHOLE] not in seen and (not usual or row[BEYOND] in usual)
            beside = _beside(row) or {row[WHOLE]}
            hits.append(hit)
            new.append(hit and (not beside <= seen or not beside.isdisjoint(alone)))
            if hit:
                seen |= {row[WHOLE], *beside}
        counted = hits if sum(new) >= NEW * sum(hits) else new
        return counted if counted[-1] else []

    def _alone(self, kind: int, key: int) -> set[int]:
        """Return what stands at this edge without the key about as often as beside it: no piece of one form with it."""
        start = Counter(row[OWN] for row in self._start if row[kind] != key)
        lately = Counter(row[OWN] for row in self._recent if row[kind] != key)
        together = Counter(near for row in self._recent if row[kind] == key for near in _beside(row))
        often = max(1.0, RARE[0] * len(self._start))
        return {near for near, times in together.items() if start[near] > often or lately[near] >= max(2, times)}

    def _usual(self, kind: int, key: int) -> set[int]:
        """Return what the start said at this edge, if that was fixed before the key came; otherwise nothing."""
        first = next(at for at, row in enumerate(self._recent) if row[kind] == key) + self._outputs - len(self._recent)
        start = [row[FORM] for row in self._start[: max(first, BEFORE)]]
        said = [form for form in start if form > BLOCK]
        if len(said) - len(set(said)) < max(1.0, FIXED * len(start)):
            return set()
        often = Counter(row[FORM] for row in self._start)
        return {form for form, times in often.items() if form and times > 1} | {FIELD, BLOCK}

    def _score(self, kind: int, hits: Sequence[bool]) -> float:
        if not hits:
            return 0.0
        start = [row[kind] == self._recent[-1][kind] for row in self._start]
        return evidence(hits, start, self._outputs, RARE[kind]) / self._limit

    def state(self) -> dict[str, Json]:
        """Return the memory, about 13 kB."""
        return {
            "outputs": min(self._outputs, 2**40),
            "start": [key for row in self._start for key in row],
            "recent": [key for row in self._recent for key in row],
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        self._outputs = integer(state, "outputs")
        self._start = _rows(state, "start", MOST_START)
        self._recent = deque(_rows(state, "recent", RECENT), maxlen=RECENT)
        if self._outputs < max(len(self._start), len(self._recent)):
            raise ValueError("'outputs' should not be less than the rows that are kept")


def _beside(row: Row) -> set[int]:
    return {row[NEAR], row[FURTHER]} - {0}


def _rows(state: Mapping[str, Json], key: str, most: int) -> list[Row]:
    flat = integers(state, key, most * WIDE)
    if len(flat) % WIDE:
        raise ValueError(f"{key!r} should hold rows of {WIDE} numbers")
    return [tuple(flat[i : i + WIDE]) for i in range(0, len(flat), WIDE)]
