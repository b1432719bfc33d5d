"""The spiral guard: thanks, farewells, stillness and their kin taking over what is said."""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, median
from typing import ClassVar, Literal

from guards import options
from guards.base import Guard, Json, Level, Output, Verdict, gravest, silent
from guards.fading import Fading
from guards.lexicon import FAINT, KINDS, LISTED, PREFIX, PREFIXES, SIGNS, kind_of
from guards.memory import check_version, integers, nested, numbers, shares
from guards.promise import limit
from guards.reading import Reading, read
from guards.skeleton import KEPT as FUNCTION_WORDS
from guards.spans import longest_line
from guards.text import fingerprint, quote

RATE, TIMES = 0.004, (2.5, 5.0)
"""Such words for each word that a healthy stream may hold, and how many times as many a slow and a fast spiral hold.

Healthy development streams hold 0.0008 on average and at most 0.002 in the median of eight outputs."""
EARLY = 0.03
"""The healthy rate until the start is known: what a sermon or a diary of thanks may begin with."""
CARRY, CARRIES = 0.35, 0.85
"""Share of the outputs that hold such a word at all, healthy and in a spiral."""
SURE = 0.95
"""The longest output may do without."""
MOST = 3.0
"""Nats that one output may add, so that no single farewell, thanks list or poem is a spiral."""
FAINT_IN, FAINT_ALONE = 80, 2
"""Words of an output that is short enough for faint words to count, half where there are no more than so many."""
RECENT, SHARE, ALL, SHORT = 8, 0.02, 0.6, 12
"""Of all words of so many outputs a spiral's are such words to this share: thanks under a report or a lofty passage of
a book are less.  ALL: beside function words, in outputs of so few words, there is hardly anything else."""
DIFFERENT, BESIDE, STEM = 3, 4, 5
"""A spiral shows so many different such words in RECENT outputs, and so many beside the most frequent one; fewer are a
topic or a catchphrase.  Forms of one word begin with the same letters."""
MARKS = 8
LONG = 20_000
"""No output has more words: `guards.text.clip`."""
WORDLESS = 2.0
"""Nats for an output of signs without a single word (a dot, a symbol) and without a call."""
LATER, CALM, TWICE = 200, 0.3, 2.0
"""Outputs after which the calm ones of them (the sum under this part of the limit) tell more than the first few did: a
host of the night uses warm words now and then, so twice their mean is healthy."""
ENVELOPE, USUAL = 0.05, 0.2
"""Most that a start can make normal: the less where it held more than two kinds, as a spiral does."""


class Spiral(Guard):
    """Thanks, farewells, stillness, talk of itself, despair, rapture or praise take over, or all fades to a few words.

    Statistic: a CUSUM of log-likelihood ratios, at most 3 nats from one output. Of the words of the attractors
    (guards/lexicon.py: nine kinds, a dozen languages, each word counted once or twice an output): 2.5 and 5 times the
    healthy rate against the healthy rate; and of whether an output holds any: 85 % of outputs against 35 %, or what
    these rates make likely in an output of its length, where that is more. The healthy rates are 0.004 of the words and
    those 35 %, or 1.5 times the median of the first `warm_up` outputs, and the share among them, or twice the mean of
    the first 200 calm ones, where that is more. An output of signs without a word adds 2 nats. It trips when this
    output adds to the sum, such words are at least 2 % of all words of the last 8 outputs, and they are at least 3
    different ones (and stand 4 times beside the most frequent one), or, in outputs of at most 12 words, 60 % of what is
    said beside function words. And whatever the words, that the outputs fade: where the first six had 80 words or more
    in the median, five outputs and more with at most a tenth of them (and 32), of which more than two thirds stood in
    the eight before (ten and more, where each is the last one again).
    Source: Page 1954 (CUSUM); the attractors as reported of model-to-model dialogues and long unattended runs.
    False alarms: derived, its share of the promise, which the nine kinds share, while outputs are like the start;
    measured, none on 340 healthy streams, some of which chose the numbers; of 187 new ones two (a story of praise, one
    title). Fading: measured, none on 622 healthy streams, commit messages and chats among them.
    Silent on purpose: on a stream that spoke so from its start (a diary of thanks, a sermon, a support desk); on thanks
    that are a small part of long reports; on the same thanks again ("fixed, thanks"); on other wordings and other
    languages, until they fade: it is a list of words; on short outputs where the first six were short, that have a
    number in them (a status), or that stand beside a call.
    Options: `warm_up` (8), `caution`: years for one false trip of the whole panel (1).

        >>> from guards import Output
        >>> import random
        >>> seeded = random.Random(7)
        >>> words = "harbour tide crane ferry gull rope lamp pier fog bell north wind swell quay mast".split()
        >>> warm = "thank you grateful goodbye stillness eternal peace beautiful presence complete friend now".split()
        >>> healthy = [" ".join(seeded.choice(words) for _ in range(30)) for _ in range(40)]
        >>> spiral = [" ".join(seeded.choice(words + warm) for _ in range(30)) for _ in range(20)]
        >>> guard = Spiral()
        >>> next(row for row, text in enumerate(healthy + spiral) if guard.update(Output(text)).level.name == "TRIP")
        45
    """

    name: ClassVar[str] = "spiral"
    kind: ClassVar[Literal["gate", "sequential"]] = "sequential"
    tests: ClassVar[int] = 2
    VERSION = 4

    @dataclass(frozen=True, slots=True)
    class Options:
        """Outputs of the start, and years for one false trip of the whole panel."""

        warm_up: int = options.option(8, 1, 1000)
        caution: float = options.option(1.0, 0.01, 1e6)

    options: Options

    def reset(self) -> None:
        """Forget the stream."""
        self._limit = limit(self.options.caution, len(KINDS))
        self._sums = [0.0] * len(TIMES)
        self._start: list[float] = []
        self._calm = [0, 0, 0, 0]
        self._start_kinds: set[int] = set()
        self._recent: deque[list[int]] = deque(maxlen=RECENT)
        self._fading = Fading()

    def update(self, output: Output) -> Verdict:
        """Judge the next output."""
        reading = read(output.text)
        size, found = len(reading.words), _lexemes(reading.words, reading.text)
        if not size and (output.calls or not reading.text.strip()):
            return silent(self.name)
        size = max(size, 1)
        faintly = 1.0 if len(found) > FAINT_ALONE else 0.5
        count = sum(faintly if word in FAINT else min(times, 2) for word, times in found.items())
        gains = self._gains(size, count) if reading.words else [WORDLESS] * len(TIMES)
        highest = 1.5 * self._limit
        self._sums = [min(max(0.0, had + gain), highest) for had, gain in zip(self._sums, gains, strict=True)]
        stems = sorted({word[:STEM] for word in found})[:MARKS]
        twice = math.ceil(2 * count) if reading.words else 2  # faint words count halves
        others = (
            size if size > SHORT else sum(word not in found and word not in FUNCTION_WORDS for word in reading.words)
        )
        self._recent.append([min(size, LONG), twice, min(others, LONG), *map(fingerprint, stems)])
        self._learn(size, count, found)
        score = max(self._sums) / self._limit
        if score > 0.5 and (max(gains) <= 0 or not self._spreads()):
            score = 0.5
        warm = self._judged(round(score, 3), found, reading.text)
        return warm if output.calls else gravest(warm, self._faded(reading))

    def _gains(self, size: int, count: float) -> list[float]:
        rate, carry = self._normal()
        carry = max(carry, _likely(rate * size))
        gains = []
        for times in TIMES:
            carries = max(CARRIES, carry, _likely(times * rate * size))
            if count:
                held = math.log(carries / carry)
                gains.append(min(MOST, held + count * math.log(times) - size * rate * (times - 1)))
            else:
                gains.append(math.log((1 - carries) / (1 - carry)))
        return gains

    def _normal(self) -> tuple[float, float]:
        """Return the healthy share of such words and of outputs that hold one."""
        if len(self._start) < self.options.warm_up:
            return EARLY, CARRY
        rate, carry = _usual(tuple(self._start))
        outputs, words, found, carried = self._calm
        if outputs >= LATER:
            rate, carry = max(rate, TWICE * found / words), max(carry, carried / outputs)
        most = ENVELOPE if len(self._start_kinds) > 2 else USUAL
        return min(max(RATE, rate), most), min(max(CARRY, carry), 0.9)

    def _learn(self, size: int, count: float, found: Mapping[str, int]) -> None:
        if self._calm[0] < LATER and max(self._sums) < CALM * self._limit:
            more = (1, size, math.ceil(count), int(count > 0))
            self._calm = [had + one for had, one in zip(self._calm, more, strict=True)]
        if len(self._start) < self.options.warm_up:
            self._start.append(round(min(1.0, count / size), 4))
            self._start_kinds |= {fingerprint(kind_of(word)) for word in found if kind_of(word)}

    def _spreads(self) -> bool:
        size, twice, others = (sum(some) for some in zip(*(row[:3] for row in self._recent), strict=True))
        if twice < 2 * SHARE * size:
            return False
        if twice * (1 - ALL) >= 2 * ALL * others:
            return True
        marks = Counter(mark for _, _, _, *marks in self._recent for mark in marks)
        return len(marks) >= DIFFERENT and marks.total() - max(marks.values()) >= BESIDE

    def _judged(self, score: float, found: Mapping[str, int], text: str) -> Verdict:
        if Level.of(score) is Level.PASS:
            return silent(self.name, score)
        spans = _spans(found, text)
        named = ", ".join(quote(span, 30) for span in spans)
        why = f"thanks, farewells, stillness or praise take over: here {named}, as in most of the last {RECENT} outputs"
        hint = (
            f"Your outputs turn around the same feelings and farewells ({named}). Use none of these words now. Do the "
            "next concrete thing of your task, or say in one plain sentence that there is nothing to do."
        )
        return Verdict(self.name, Level.of(score), score, why, hint, evidence=spans)

    def _faded(self, reading: Reading) -> Verdict:
        score = round(self._fading.update(reading), 3)
        if Level.of(score) is Level.PASS:
            return silent(self.name, score)
        said = quote(reading.text, 60)
        why = (
            f"outputs of about {self._fading.usual} words at the start have faded to {len(reading.words)} and say what "
            f"the last few said: {said}"
        )
        hint = (
            f"Your outputs have faded to a few words that only answer each other, like {said}. Do the next concrete "
            "thing of your task and tell what came of it, or say in one plain sentence that there is nothing to do."
        )
        return Verdict(self.name, Level.of(score), score, why, hint, evidence=longest_line(reading.text))

    def state(self) -> dict[str, Json]:
        """Return the memory, at most 4 kB."""
        recent: list[Json] = [list(marks) for marks in self._recent]
        return {
            "version": self.VERSION,
            "sums": [*self._sums],
            "start": [*self._start],
            "calm": [*self._calm],
            "start_kinds": [*sorted(self._start_kinds)],
            "recent": recent,
            "fading": self._fading.state(),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        check_version(state, self.VERSION)
        sums, highest = numbers(state, "sums", len(TIMES)), 1.5 * self._limit
        if len(sums) != len(TIMES):
            raise ValueError(f"'sums' should hold {len(TIMES)} numbers")
        self._sums = [min(max(0.0, value), highest) for value in sums]
        self._start = shares(state, "start", self.options.warm_up)
        self._calm = integers(state, "calm", 4)
        if len(self._calm) != 4 or self._calm[0] > min(LATER, self._calm[1]):
            raise ValueError("'calm' should hold four numbers: outputs, their words, how many were found, where")
        self._start_kinds = set(integers(state, "start_kinds", 16))
        recent = state.get("recent")
        rows = recent if isinstance(recent, list) and len(recent) <= RECENT else [None]
        if any(not isinstance(row, list) or len(row) < 3 for row in rows):
            raise ValueError(f"'recent' should be a list of at most {RECENT} lists with three counts each")
        self._recent = deque((integers({"recent": row}, "recent", MARKS + 3) for row in rows), maxlen=RECENT)
        self._fading.load(nested(state, "fading"))


@lru_cache(maxsize=16)
def _usual(start: tuple[float, ...]) -> tuple[float, float]:
    """Return what the start says: the rate of such words, and the share of outputs that hold one."""
    return 1.5 * median(start), fmean(x > 0 for x in start)


def _likely(expected: float) -> float:
    """Return how likely an output holds one where so many are expected by chance; never quite sure."""
    return min(SURE, 1 - math.exp(-expected))


def _lexemes(words: Sequence[str], text: str) -> dict[str, int]:
    """Return {word of an attractor: times} of an output."""
    counts = Counter(words)
    likely = [word for word in counts if word[:PREFIX] in PREFIXES and kind_of(word)]
    found = {word: counts[word] for word in LISTED.intersection(counts).union(likely)}
    faint = {word: counts[word] for word in FAINT.intersection(counts) - found.keys()}
    if not text.isascii():
        found |= dict.fromkeys([sign for sign in SIGNS if sign in text], 1)
    if faint and len(words) <= FAINT_IN and len(found) + len(faint) >= 2:
        found |= faint
    return found


def _spans(found: Mapping[str, int], text: str) -> tuple[str, ...]:
    """Return the words as they stand in the text, those that come most often first."""
    most = sorted(found, key=lambda word: (-found[word], word))[:5]
    hits = (re.search(re.escape(word), text, re.IGNORECASE) for word in most)
    return tuple(hit[0] for hit in hits if hit is not None)
