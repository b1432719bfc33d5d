"""The phrases that come back in a stream, each with its own sequential test and a note of where it stood last."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from guards.base import Json
from guards.memory import integer, nested
from guards.packing import pack, unpack
from guards.places import Place
from guards.seen import Seen

MOST = 480
"""Phrases that are followed at a time; the least suspicious make room."""
PLACES = 16
"""How many of its last places are kept of a phrase; 16 neighbours of 255 kinds at random are 15 different ones."""
EARLY = 16
"""Outputs of the start after which phrases are followed already, each against what came before it."""
FLOOR = 0.01
"""The least share that is compared with: what stands in one of a hundred outputs is nobody's tic."""
LEARN, ROOM = 200, 24_000
"""Outputs, and runs of words in them, that are counted: what 40 outputs happened not to hold may still be usual."""
OWN = 0.3
"""A phrase in more of the start than this is the stream's own, whatever becomes of it."""
FAST, SLOW = 0.5, 0.09
"""Shares that the tests bet on: a phrase in every second output, and in every eleventh."""
ALWAYS = 0.95
"""The share that is asked about besides: after a short start, to which 1 % is not known, the other bets win slowly."""
BURST = 4
"""For the slow test a phrase that comes back sooner than after 4 outputs counts less: a topic comes in bursts."""
ALIKE = 0.6
"""Neighbouring keys with this share of the best one's hits are of one phrase with it."""
APART = 2
"""Keys so far apart are neighbours: their words overlap, and one key in between may be too new, or long forgotten."""
NAT = 500
"""The tests count in parts of a nat, so that a saved memory goes on exactly."""
CAP = 120 * NAT
"""Evidence beyond this is not kept, so that a stream which recovers is forgiven."""
_RECORD, _PLACE = struct.Struct("<IIIHHHHHBBB"), struct.Struct("<BBBB")


Bets: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
"""(hit, miss) of the fast and of the slow test."""


@dataclass(slots=True)
class Phrase:
    """One run of words: how often it stood since it came up, the evidence of both tests, and its last places.

    `noted` of its sightings were a phrase by themselves; in the others it was a piece of something longer.
    """

    first: int
    last: int
    before: int
    outputs: int
    hits: int = 0
    fast: int = 0
    slow: int = 0
    whole: int = 0
    noted: int = 0
    places: list[Place] = field(default_factory=list)
    bets: Bets = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.bets = _bets(self.before, self.outputs)

    def ahead(self, rows: int) -> int:
        """Return the evidence of the fast test, or of one that bets on nearly all of the `rows` since it came up."""
        hit, miss = _always(self.before, self.outputs)
        return max(self.fast, min(self.hits * hit + (rows - self.hits) * miss, CAP))


class Phrases:
    """The table: counts of the start, and a test for each phrase that comes back, against what was before it.

    Each output is given as the keys of its word runs in order, 0 where there is nothing to follow.  The counts go on
    for 200 outputs of ordinary length; a phrase keeps those that it was first compared with while it is suspicious.
    """

    def __init__(self, warm_up: int) -> None:
        self.warm_up = warm_up
        self.rows = 0
        self._common = self._learnt = self._kept = 0
        self._seen = Seen()
        self._table: dict[int, Phrase] = {}
        self._own: set[int] = set()  # keys known to be the stream's own: saves counting them again, never saved

    @property
    def form(self) -> float:
        """The share of the start's outputs that hold its commonest run of words: high where outputs have a form."""
        return self._common / max(1, min(EARLY, self._learnt))

    def usual(self, key: int) -> float:
        """Return the share of the counted outputs that hold a key."""
        return self._seen.count(key) / max(1, self._learnt)

    def take(self, keys: Sequence[int], words: Sequence[int]) -> dict[int, Phrase]:
        """Take an output, as the keys of its runs and of its words; return the phrases of those that have one."""
        found = self._follow(keys) if self.rows >= EARLY else {}
        if self.rows < self.warm_up or (self.rows < LEARN and self._kept < ROOM):
            highest = self._seen.learn(key for key in dict.fromkeys(keys) if key)
            self._seen.learn(dict.fromkeys(words))
            self._learnt += 1
            self._kept += len(keys)
            self._own.clear()
            if self.rows < EARLY:
                self._common = max(self._common, highest)
        self.rows += 1
        return found

    def _follow(self, keys: Sequence[int]) -> dict[int, Phrase]:
        table, own = self._table, self._own
        unique = set(keys)
        unique.discard(0)
        found = {key: table[key] for key in unique & table.keys()}
        unique.difference_update(found)
        for key in self._seen.again(unique):
            if key not in own and (phrase := self._new(key)) is not None:
                table[key] = found[key] = phrase
        for key, phrase in found.items():
            self._hit(key, phrase)
        if len(table) > MOST:
            self._make_room()
        return found

    def _new(self, key: int) -> Phrase | None:
        before = min(max(0, self._seen.count(key) - 1), 0xFF)  # the one time before was its own first sighting
        if before > OWN * self._learnt:
            if len(self._own) >= ROOM:
                self._own.clear()
            self._own.add(key)
            return None
        lately = max(0, self.rows - BURST)
        phrase = Phrase(lately, lately, before, self._learnt, 1)
        (phrase.fast, _), (phrase.slow, _) = phrase.bets
        return phrase

    def _hit(self, key: int, phrase: Phrase) -> None:
        (hit, miss), (seldom, absent) = phrase.bets
        gap = self.rows - phrase.last or 1
        slow = phrase.slow + absent * (gap - 1)
        if slow <= 0:  # nothing speaks for a change so far: all sightings up to here are what is normal
            slow = 0
            phrase.first, phrase.hits, phrase.whole, phrase.noted, phrase.fast = self.rows, 0, 0, 0, 0
            phrase.places = []
            phrase.before, phrase.outputs = min(self._seen.count(key), 0xFF), self._learnt
            phrase.bets = (hit, _), (seldom, _) = _bets(phrase.before, phrase.outputs)
        fast, slow = phrase.fast + miss * (gap - 1), slow + seldom * min(gap, BURST) // BURST
        fast = fast + hit if fast > 0 else hit
        phrase.fast = fast if fast < CAP else CAP
        phrase.slow = slow if slow < CAP else CAP
        phrase.hits = min(phrase.hits + 1, 0xFFFF)
        phrase.last = self.rows

    def _make_room(self) -> None:
        worth = {key: self._worth(phrase) for key, phrase in self._table.items()}
        ranked = sorted(worth, key=lambda key: (worth[key], key))
        for key in ranked[: len(ranked) - MOST * 3 // 4]:
            del self._table[key]

    def _worth(self, phrase: Phrase) -> int:
        _, absent = phrase.bets[1]
        return phrase.slow + absent * (self.rows - phrase.last)

    def state(self) -> dict[str, Json]:
        """Return the memory, at most 150 kB."""
        table = b"".join(_packed(key, phrase) for key, phrase in sorted(self._table.items()))
        counts = {"rows": self.rows, "common": self._common, "learnt": self._learnt, "kept": self._kept}
        return {**counts, "seen": self._seen.state(), "table": pack(table)}

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        rows, data = integer(state, "rows", 2**32 - 1), unpack(state, "table")
        common, learnt, kept = (
            integer(state, key, most) for key, most in (("common", 256), ("learnt", 255), ("kept", 2**32))
        )
        table: dict[int, Phrase] = {}
        at = 0
        while at < len(data):
            key, phrase, at = _unpacked(data, at)
            if len(table) >= MOST or not phrase.first <= phrase.last <= rows or max(phrase.fast, phrase.slow) > CAP:
                raise ValueError("'table' should hold what this version wrote")
            table[key] = phrase
        self._seen.load(nested(state, "seen"))
        self.rows, self._common, self._learnt, self._kept, self._table = rows, common, learnt, kept, table
        self._own.clear()


def runs(keys: Sequence[int], found: Mapping[int, Phrase], least: int = 3) -> Iterator[tuple[int, int, Phrase]]:
    """Yield (first, last, phrase) for each longest run of keys that stood together: one phrase of more words.

    Keys with fewer than `least` hits do not count, and one of them may stand inside a run.  A run is cut where the hits
    fall below 0.6 of its best; what is cut off is another phrase if it does not lean on one with more hits.
    """
    hot = {key: phrase.hits for key, phrase in found.items() if phrase.hits >= least}
    hits = {i: hot[key] for i, key in enumerate(keys) if key in hot}
    todo = _stretches(list(hits))
    while todo:
        stretch = todo.pop()
        best = max([hits[i] for i in stretch])
        seldom = [i for i in stretch if hits[i] < ALIKE * best]
        for part in _stretches([i for i in stretch if hits[i] >= ALIKE * best]) if seldom else [stretch]:
            first, last = part[0], part[-1]
            most = max([hits[i] for i in part])
            if max(hits.get(first - 1, 0), hits.get(last + 1, 0)) < most:
                yield first, last, found[keys[next(i for i in part if hits[i] == most)]]
        todo += _stretches(seldom, 1)  # between these may stand what was yielded


def _stretches(places: Sequence[int], apart: int = APART) -> list[list[int]]:
    """Return the places cut wherever the next one is further apart."""
    if not places:
        return []
    cut: list[list[int]] = [[places[0]]]
    for before, after in pairwise(places):
        if after <= before + apart:
            cut[-1].append(after)
        else:
            cut.append([after])
    return cut


@lru_cache(maxsize=512)
def _bets(before: int, outputs: int) -> Bets:
    """Return (hit, miss) of the fast and of the slow test for a phrase that stood in so many of the outputs before.

    The slow test, whose bet is near, compares with a share that the phrase may well have had all the time.
    """
    normal = max(FLOOR, (before + 1) / (outputs + 4))
    at_most = max(FLOOR, (before + 0.75 + math.sqrt(before + 0.75)) / (outputs + 4))
    return _bet(normal, max(FAST, 3 * normal)), _bet(at_most, max(SLOW, 2.5 * at_most))


@lru_cache(maxsize=512)
def _always(before: int, outputs: int) -> tuple[int, int]:
    normal = min(max(FLOOR, (before + 1) / (outputs + 4)), 0.9)
    return round(NAT * math.log(ALWAYS / normal)), round(NAT * math.log((1 - ALWAYS) / (1 - normal)))


def _bet(normal: float, more: float) -> tuple[int, int]:
    normal = min(normal, 0.9)
    more = min(more, (1 + normal) / 2)
    return round(NAT * math.log(more / normal)), round(NAT * math.log((1 - more) / (1 - normal)))


def _packed(key: int, phrase: Phrase) -> bytes:
    tests = phrase.hits, phrase.fast, phrase.slow, phrase.whole, phrase.noted, phrase.before, phrase.outputs
    head = _RECORD.pack(key, phrase.first, phrase.last, *tests, len(phrase.places))
    return head + bytes([n for b, a, where, marks, size in phrase.places for n in (b, a, where << 4 | marks, size)])


def _unpacked(data: bytes, at: int) -> tuple[int, Phrase, int]:
    after = at + _RECORD.size
    if after > len(data):
        raise ValueError("'table' should end with a whole phrase")
    key, first, last, *tests, count = _RECORD.unpack_from(data, at)
    end = after + _PLACE.size * count
    if count > PLACES or end > len(data):
        raise ValueError("'table' should hold whole phrases with their places")
    places = [Place(b, a, at >> 4, at & 15, size) for b, a, at, size in _PLACE.iter_unpack(data[after:end])]
    hits, fast, slow, whole, noted, before, outputs = tests
    return key, Phrase(first, last, before, outputs, hits, fast, slow, whole, noted, places), end
