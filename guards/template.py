"""The guard against one shape with changing words in it, output after output."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import ClassVar, Literal, TypeAlias

from guards import options
from guards.base import Guard, Json, Level, Output, Verdict, silent
from guards.edges import span
from guards.memory import HASHES, check_hashes, check_version, integer, integers
from guards.packing import pack, unpack
from guards.promise import limit
from guards.reading import NUMBER, Reading, read
from guards.sequential import Climb, Margin, load_climb
from guards.skeleton import piece, skeleton
from guards.text import MERGED, quote

RECENT, BINS = 32, 64
"""Outputs that an output is compared with, and the pieces of each that are kept."""
OFTEN = 2
"""So many of them must have a piece with other words in it: a shape is one that is filled anew again and again."""
SHARE, PIECES = 0.35, 4
"""From this share of an output's pieces, and from so many, it is made after a template."""
LEAST = 10
"""Words from which an output has a shape; "Fix a typo in the page" is everybody's."""
AT_ONCE = 5
"""Outputs whose every piece belongs to the start; of later ones what is kept, when they leave the comparison."""
USUAL = 0.12
"""Share of outputs that a healthy stream makes after a new template, at most; no start may teach more than this."""
CALM = 0.3
"""While the test stands higher, nothing is taken for the start."""
SHOWN, TOLD = 20, 4
"""Outputs that are counted for a person; those whose words tell which part of the shape is fixed."""
TRIPLES = 100
"""Word triples of each of them that are kept."""
BITS = 1 << 16
_ROW = struct.Struct(f"<{BINS}I{BINS}H")
_SPACE = 1 << 33
"""Different pieces; without its bin, 27 bits of one."""
_ALL = _SPACE - 1
PLENTY = 8
"""Pieces for each bin among which the least is looked for: of more, only so many that are little enough."""

Piece: TypeAlias = tuple[int, int]
"""27 bits of a piece's shape and 16 of its wording; (0, 0) for an empty bin."""


class Template(Guard):
    """One shape with changing words in it, or a few in turn, output after output.

    Statistic: a text becomes its skeleton: function words, numbers and pauses stay, every run of other words is a gap.
    Of its pieces of 7 parts 64 are kept (MinHash). An output is made after a template when at least four of its
    pieces, and 35 % of them, stand in two or more of the last 32 outputs with other words in the gaps, and in none of
    the stream's start. The shared sequential test bets that this happens in more than an eighth of the outputs.
    Source: Shaib et al. 2024 (templates as patterns behind the words), Broder 1997 and Li, Owen and Zhang 2012
    (MinHash); Shin, Ramdas and Rinaldo 2022 for the test.
    False alarms: derived, with the limit of guards/promise.py, while at most an eighth of a stream's outputs have new
    shapes; measured, two of 505 healthy streams of people and agents (titles that took to one form), a bot;
    2 of 160 Debian changelogs, into which a new form of entry really came.
    Silent on purpose: on shapes that were there at the start (the first five outputs, and later ones of the first
    `warm_up` when they are 32 outputs old); on what is carried over word for word, as in minutes and agendas, which
    the guard `repeat` looks at; on messages of merges, which git writes; on outputs of fewer than ten words or with
    calls.
    Options: `warm_up` outputs of the start (40), `caution`: years for one false trip (1).

        >>> from guards import Output
        >>> import random
        >>> seeded = random.Random(7)
        >>> words = "harbour tide crane ferry gull rope lamp pier fog bell north wind swell quay mast".split()
        >>> free = [" ".join(seeded.choice([*words, "of", "the", "and,"]) for _ in range(30)) for _ in range(40)]
        >>> fill = lambda: " ".join(seeded.sample(words, 2))
        >>> stuck = [f"Tonight on {fill()}: the story of {fill()}, and what {fill()} was." for _ in range(40)]
        >>> guard = Template()
        >>> next(row for row, text in enumerate(free + stuck) if guard.update(Output(text)).level.name == "TRIP")
        49
    """

    name: ClassVar[str] = "template"
    kind: ClassVar[Literal["gate", "sequential"]] = "sequential"
    tests: ClassVar[int] = 1
    VERSION = 3

    Options = options.Sequential
    options: options.Sequential

    def reset(self) -> None:
        """Forget the stream."""
        self._recent: deque[list[Piece]] = deque(maxlen=RECENT)
        self._times: dict[int, int] = {}
        self._made: deque[int] = deque(maxlen=SHOWN)
        self._phrases: deque[list[int]] = deque(maxlen=TOLD)
        self._known = bytearray(BITS // 8)
        self._outputs = self._learnt = 0
        margin = Margin(floor=USUAL, early=USUAL, ceiling=USUAL, first=AT_ONCE, slack=0.0)
        self._climb = Climb(margin, AT_ONCE, limit(self.options.caution))

    def update(self, output: Output) -> Verdict:
        """Judge the next output."""
        reading = read(output.text)
        self._outputs += bool(output.text.strip())
        if output.calls or len(reading.spoken) < LEAST or MERGED.match(reading.text):
            return silent(self.name)
        found, wording = _placed(reading)
        kept = _kept(found, wording)
        keys, times = _keys(kept), self._times
        often = [key for key in keys if times.get(key, 0) >= OFTEN]
        again = sum(self._comes_again(key % BINS, *kept[key % BINS]) for key in often)
        made = again >= PIECES and again >= SHARE * len(keys)
        self._learn(found)
        self._keep(kept, keys)
        self._made.append(int(made))
        score = round(self._climb.update(float(made)), 3)
        if not made:
            return silent(self.name, min(score, 0.5))
        before = {phrase for phrases in self._phrases for phrase in phrases}
        self._phrases.append(_phrases(reading))
        if Level.of(score) is Level.PASS:
            return silent(self.name, score)
        counted = f"{sum(self._made)} of the last {len(self._made)} outputs"
        why = f"{counted} fill the same shapes with other words, this one too: {quote(output.text)}"
        hint = (
            f"You have built {counted} after the same pattern, like {quote(output.text, 60)}. "
            "Build this one differently: other sentences in another order, about what is new."
        )
        return Verdict(self.name, Level.of(score), score, why, hint, evidence=_fixed(reading, before))

    def _comes_again(self, place: int, shape: int, wording: int) -> bool:
        """Whether a piece came several times with other words, and is none of the start's."""
        if self._knows(place, shape):
            return False
        others = [old[place][1] for old in self._recent if old[place][0] == shape]
        return sum(other != wording for other in others) >= OFTEN

    def _keep(self, kept: list[Piece], keys: list[int]) -> None:
        times = self._times
        for key in _keys(self._recent[0]) if len(self._recent) == RECENT else ():
            if times[key] > 1:
                times[key] -= 1
            else:
                del times[key]
        self._recent.append(kept)
        for key in keys:
            times[key] = times.get(key, 0) + 1

    def _learn(self, found: Sequence[int]) -> None:
        if self._outputs <= AT_ONCE:
            for value in found:
                self._add(value % BINS, _shape(value))
            self._learnt += 1
        elif len(self._recent) == RECENT and self._climb.score < CALM and self._learnt < self.options.warm_up:
            for place, (shape, _) in enumerate(self._recent[0]):
                self._add(place, shape)
            self._learnt += 1

    def _add(self, place: int, shape: int) -> None:
        bit = (shape * BINS + place) % BITS
        self._known[bit >> 3] |= 1 << (bit & 7)

    def _knows(self, place: int, shape: int) -> bool:
        bit = (shape * BINS + place) % BITS
        return bool(self._known[bit >> 3] >> (bit & 7) & 1)

    def state(self) -> dict[str, Json]:
        """Return the memory, at most 40 kB."""
        return {
            "version": self.VERSION,
            "hashes": HASHES,
            "recent": [pack(_ROW.pack(*chain(*zip(*row, strict=True)))) for row in self._recent],
            "made": list(self._made),
            "phrases": [list(phrases) for phrases in self._phrases],
            "known": pack(self._known),
            "outputs": min(self._outputs, 2**40),
            "learnt": self._learnt,
            "climb": self._climb.state(),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        self.reset()
        check_version(state, self.VERSION)
        check_hashes(state)
        rows = state.get("recent")
        if not isinstance(rows, list) or len(rows) > RECENT:
            raise ValueError(f"'recent' should be a list of at most {RECENT} rows")
        self._made = deque(integers(state, "made", SHOWN, 1), maxlen=SHOWN)
        for row in rows:
            kept = _unpacked(row)
            self._keep(kept, _keys(kept))
        said = state.get("phrases")
        if not isinstance(said, list) or len(said) > TOLD:
            raise ValueError(f"'phrases' should be a list of at most {TOLD} lists")
        self._phrases = deque((integers({"phrases": row}, "phrases", TRIPLES) for row in said), maxlen=TOLD)
        self._known = bytearray(unpack(state, "known"))
        if len(self._known) != BITS // 8:
            raise ValueError(f"'known' should hold {BITS} bits")
        self._outputs, self._learnt = integer(state, "outputs"), integer(state, "learnt", 10_000)
        load_climb(self._climb, state, "climb")


def _placed(reading: Reading) -> tuple[list[int], list[int]]:
    """Return a number of each piece, whose remainder is its bin, and codes of the words in order."""
    shapes, wording = skeleton(reading)
    return [shape & _ALL for shape in shapes], wording


def _keys(kept: Sequence[Piece]) -> list[int]:
    """Return a number for each bin that is not empty: the shape of its piece, and the bin."""
    return [shape * BINS + place for place, (shape, _) in enumerate(kept) if shape]


def _shape(value: int) -> int:
    return value // BINS or 1


def _kept(found: Sequence[int], wording: list[int]) -> list[Piece]:
    """Return the least piece of each bin, so that equal shapes keep equal pieces (one-permutation MinHash)."""
    least, where = [_SPACE] * BINS, [0] * BINS
    most = min(1.0, PLENTY * BINS / max(1, len(found))) * _SPACE
    for at, value in enumerate(found):
        if value < most and value < least[value % BINS]:
            least[value % BINS], where[value % BINS] = value, at
    return [
        (_shape(value), piece(wording, at) & 0xFFFF) if value < _SPACE else (0, 0)
        for value, at in zip(least, where, strict=True)
    ]


def _unpacked(row: Json) -> list[Piece]:
    data = unpack({"recent": row}, "recent")
    if len(data) != _ROW.size:
        raise ValueError("a row of 'recent' should hold what this version wrote")
    numbers = _ROW.unpack(data)
    return list(zip(numbers[:BINS], numbers[BINS:], strict=True))


def _phrases(reading: Reading) -> list[int]:
    marks = reading.marks[: TRIPLES + 2]
    return [(3 * a + 5 * b + 7 * c) % (1 << 32) for a, b, c in zip(marks, marks[1:], marks[2:], strict=False)]


def _fixed(reading: Reading, before: set[int]) -> tuple[str, ...]:
    """Return the longest stretches that the outputs just before have word for word, as they stand in the text."""
    runs: list[tuple[int, int]] = []
    for at, phrase in enumerate(_phrases(reading)):
        if phrase not in before or NUMBER in reading.spoken[at : at + 3]:
            continue
        runs = [*runs[:-1], (runs[-1][0], at + 3)] if runs and runs[-1][1] >= at + 2 else [*runs, (at, at + 3)]
    longest = sorted(runs, key=lambda run: run[0] - run[1])[:5]
    found = (span(reading.text, reading.spoken[start:end], "") for start, end in longest)
    return tuple(words for words in found if words)
