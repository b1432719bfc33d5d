"""Words that take a stream over: for each word that was rare at the start, bets that it has stopped being rare.

What tells a fixation from a new topic or an edited form is its company.  A topic has its phrases and a form its place,
so that their words keep the same neighbours; a word that a model cannot leave alone turns up anywhere.  An occurrence
counts only if neither neighbour stood beside that word lately.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from guards.base import Json
from guards.memory import integer, integers, number, numbers
from guards.neighbours import EACH, KEY, LITTLE, WordPlace, word_places
from guards.reading import Reading
from guards.sequential import LIMIT
from guards.skeleton import KEPT as FUNCTION_WORDS

ROWS = 320
"""Words that are watched at once; those of which the least is known leave."""
PAID = math.log(ROWS)
"""What each word's bets must win before they count, for having been chosen among so many."""
KEPT = 1.5
"""No word's bets hold more than it pays and so many limits, so that a stream which recovers is soon forgiven."""
COMPANY = 16
"""Different neighbours on each side that a word is remembered with, the last ones."""
EARLY, LEAST, MOST = 16, 150, 5000
"""Outputs and words after which the test begins, with what is known of the start by then; words that complete it."""
FAR = 100.0
"""Nats after which the common account of what was lost begins again at nothing."""
KINDS, WIDER = 6, 1.5
"""Kinds of words by what each is allowed: a new one `rare`, each further kind half as much again; a word that was
commoner than the last kind at the start is the stream's own."""
SLACK, GROWTH = 2, 4
"""A word may come twice as often as at the start; the test bets on four times what it may."""
GRAMMAR = frozenset(mark % KEY for mark in FUNCTION_WORDS.values())
FREELY = 4
"""The kind of a function word at least: it has any company by nature, and makes up to one word in fifty of good prose,
however few of them the start had."""


@dataclass(slots=True)
class Bets:
    """What the bets on one word have won, in nats, up to the moment `since` of its kind."""

    kind: int
    nats: float
    since: float
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)

    def meets(self, left: int, right: int) -> bool:
        """Take the neighbours of an occurrence; return whether both are new company."""
        new = left not in self.left and right not in self.right
        _meet(self.left, left)
        _meet(self.right, right)
        return new


class Takeover:
    """The words of a stream that may be taking it over.

    For each word a CUSUM e-detector (Shin, Ramdas and Rinaldo 2022) on "it stood in this output, in new company",
    against a word of which each word of the output is `rare` likely to be one.
    """

    def __init__(self, rare: float, warm_up: int, limit: float = LIMIT) -> None:
        self._most = round(PAID + KEPT * limit, 1)
        self._rare, self._warm_up = rare, warm_up
        self._outputs = self._seen = 0
        self._start: Counter[int] = Counter()
        self._kinds: dict[int, int] = {}
        self._armed, self._learning = False, True
        self._lost = [0.0] * KINDS
        self._rows: dict[int, Bets] = {}
        self._ahead: dict[int, Bets] = {}  # those of the rows that have won more than they pay

    def update(self, reading: Reading) -> dict[int, float]:
        """Take the next output; return the words whose bets have won more than they pay, with what is left."""
        places = word_places(reading, self._outputs)
        if not places:
            return {}
        self._outputs += 1
        if self._learning:
            self._learn(places)
        if not self._armed:
            return {}
        self._bet(places)
        if self._learning and self._seen >= LEAST and (self._outputs >= self._warm_up or self._seen >= MOST):
            self._judge_anew()
        self._ahead = {
            key: bets for key, bets in self._ahead.items() if bets.nats > PAID and self._rows.get(key) is bets
        }
        current = {key: self._now(bets) - PAID for key, bets in self._ahead.items()}
        return {key: nats for key, nats in current.items() if nats > 0}

    def _learn(self, places: Sequence[WordPlace]) -> None:
        self._start.update(key for _, key, _, _ in places)
        self._seen += len(places)
        if not self._armed and self._outputs >= min(EARLY, self._warm_up) and self._seen >= LEAST:
            self._kinds, self._armed = self._sorted(), True

    def _sorted(self) -> dict[int, int]:
        """Return the kind of each word of the start that is not rare; KINDS for one that is the stream's own."""
        found = {}
        for key, count in self._start.items():
            allowed, kind = SLACK * (count + 1) / self._seen, 0
            while kind < KINDS and allowed > self._rare * WIDER**kind:
                kind += 1
            if kind:
                found[key] = kind
        return found

    def _kind(self, key: int) -> int:
        kind = self._kinds.get(key, 0)
        return max(kind, FREELY) if key < LITTLE or key in GRAMMAR else kind

    def _judge_anew(self) -> None:
        """The start is complete: bets that have won little are taken back where it had the word more often."""
        self._kinds, self._start, self._learning = self._sorted(), Counter(), False
        for key, bets in list(self._rows.items()):
            kind = self._kind(key)
            if bets.nats <= PAID and kind >= KINDS:
                del self._rows[key]
            elif bets.nats <= PAID and kind != bets.kind:
                bets.kind, bets.nats, bets.since = kind, 0.0, self._lost[kind]

    def _bet(self, places: Sequence[WordPlace]) -> None:
        hit, miss = _gains(self._rare, len(places))
        before = self._lost
        self._lost = [round(lost + more, 3) for lost, more in zip(before, miss, strict=True)]
        if min(self._lost) < -FAR:
            before = self._begin_again(before)
        done: set[int] = set()
        for _, key, left, right in places:
            bets = self._rows.get(key) or self._watch(key, before)
            if bets is None or not bets.meets(left, right) or key in done:
                continue
            done.add(key)
            won = max(0.0, bets.nats + before[bets.kind] - bets.since) + hit[bets.kind]
            bets.nats, bets.since = round(min(won, self._most), 3), self._lost[bets.kind]
            if bets.nats > PAID:
                self._ahead[key] = bets

    def _begin_again(self, before: Sequence[float]) -> list[float]:
        """Keep the numbers small: what all words of a kind lost is taken off both sides."""
        for bets in self._rows.values():
            bets.nats = max(0.0, round(bets.nats + before[bets.kind] - bets.since, 3))
            bets.since = 0.0
        self._lost = [round(lost - old, 3) for lost, old in zip(self._lost, before, strict=True)]
        return [0.0] * KINDS

    def _watch(self, key: int, before: Sequence[float]) -> Bets | None:
        kind = self._kind(key)
        if kind >= KINDS:
            return None
        if len(self._rows) >= ROWS:
            best = sorted(self._rows, key=lambda known: -self._now(self._rows[known]))[: ROWS // 2]
            kept = set(best)
            self._rows = {known: bets for known, bets in self._rows.items() if known in kept}
        self._rows[key] = Bets(kind, 0.0, before[kind])
        return self._rows[key]

    def _now(self, bets: Bets) -> float:
        return max(0.0, bets.nats + self._lost[bets.kind] - bets.since)

    def state(self) -> dict[str, Json]:
        """Return the memory, at most 60 kB."""
        return {
            "outputs": min(self._outputs, 2**40),
            "seen": self._seen,
            "armed": int(self._armed),
            "learning": int(self._learning),
            "start": [n for pair in self._start.items() for n in pair],
            "kinds": [n for pair in self._kinds.items() for n in pair],
            "lost": list(self._lost),
            "words": [
                [key, bets.kind, bets.nats, bets.since, _packed(bets.left), _packed(bets.right)]
                for key, bets in self._rows.items()
            ],
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        self._outputs, self._seen = integer(state, "outputs"), integer(state, "seen", 2**40)
        self._armed, self._learning = bool(integer(state, "armed", 1)), bool(integer(state, "learning", 1))
        start, kinds = (integers(state, name, 4 * MOST, KEY) for name in ("start", "kinds"))
        self._start = Counter(dict(zip(start[::2], start[1::2], strict=True)))
        self._kinds = dict(zip(kinds[::2], kinds[1::2], strict=True))
        self._lost = [_lost(value) for value in numbers(state, "lost", KINDS)]
        if len(self._lost) != KINDS or not all(kind <= KINDS for kind in self._kinds.values()):
            raise ValueError(f"'lost' should hold {KINDS} numbers and 'kinds' none above {KINDS}")
        rows = state.get("words")
        if not isinstance(rows, list) or len(rows) > ROWS:
            raise ValueError(f"'words' should be a list of at most {ROWS} rows")
        self._rows = dict(_row(row, self._most) for row in rows)
        self._ahead = dict(self._rows)


def _meet(known: list[int], one: int) -> None:
    """Make it the newest of the last different neighbours."""
    if one in known:
        known.remove(one)
    known.append(one)
    if len(known) > COMPANY:
        del known[0]


@lru_cache(maxsize=2 * EACH)
def _gains(rare: float, words: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return what the bets of each kind win in an output of so many words that holds the word, and in another."""
    chances = [min(0.5, rare * WIDER**kind) for kind in range(KINDS)]
    few = [1.0 - (1.0 - chance) ** words for chance in chances]
    many = [1.0 - (1.0 - min(0.9, GROWTH * chance)) ** words for chance in chances]
    pairs = list(zip(few, many, strict=True))
    return tuple(math.log(b / a) for a, b in pairs), tuple(math.log((1.0 - b) / (1.0 - a)) for a, b in pairs)


def _lost(value: float) -> float:
    return min(max(value, -10 * FAR), 0.0)


def _packed(neighbours: Sequence[int]) -> str:
    return "%03x" * len(neighbours) % tuple(neighbours)


def _unpacked(value: object) -> list[int]:
    if not isinstance(value, str) or len(value) % 3 or len(value) > 3 * COMPANY:
        raise ValueError(f"neighbours should be at most {COMPANY} numbers of three hexadecimal digits")
    return [int(value[i : i + 3], 16) for i in range(0, len(value), 3)]


def _row(value: Json, most: float) -> tuple[int, Bets]:
    if not isinstance(value, list) or len(value) != 6:
        raise ValueError("each of 'words' should be a row of six values")
    named: dict[str, Json] = dict(zip(("key", "kind", "nats", "since"), value, strict=False))
    bets = Bets(
        integer(named, "kind", KINDS - 1),
        min(max(number(named, "nats"), 0.0), most),
        _lost(number(named, "since")),
        _unpacked(value[4]),
        _unpacked(value[5]),
    )
    return integer(named, "key", KEY), bets
