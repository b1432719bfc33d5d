"""The fixation guard: a word or a few words take the stream over."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from guards import options
from guards.base import Guard, Json, Level, Output, Verdict, gravest, silent
from guards.memory import check_version, integer, nested
from guards.neighbours import is_character, key_at
from guards.promise import limit
from guards.reading import NUMBER, Reading, read
from guards.spans import spans
from guards.takeover import Takeover
from guards.text import quote

SHOWN = 3
CARRIES = 2.0
"""An output carries the fixation when its share of the words is at least this many times what is rare."""
WHOLE, SPEECH = 0.5, 10
"""One word that is half of an output of at least so many words: a sentence never is."""
IN_A_ROW, LONG = 3, 60
"""So many such outputs one after another, or one of so many words, are a spiral."""


class Fixation(Guard):
    """A word, or a few words, turn up in ever more of what is said, wherever a word can stand.

    Statistic: for each word (pair of characters where a script has no spaces) that made up at most 4.5 in 1,000 of the
    start (2.3 in 100 for a function word, or one of three letters), or twice its share there for a commoner one: an
    e-detector on "it stands in this output, and neither its left nor its right neighbour is among its last 16". Each
    word pays log 320 for having been chosen; what is left is summed over the words, so that several that rise together
    are found earlier. At most 64 words of an output are looked at. At once: one word is half of three outputs in a row,
    or of one of 60 words or more.
    Source: Shin, Ramdas and Rinaldo 2022 for the test; the neighbours are the second witness that keeps a new topic
    (which has its phrases) and an edited template (which has its place) apart from a fixation.
    False alarms: it counts as two tests of the panel. Derived for one word, at most one in 10^6 outputs while none that
    was new comes in new company more often than `rare`; for the sum over several, and for what is found at once, not
    derived but measured: none on 340 healthy streams, some of which chose the numbers, the highest at 0.71 of the limit
    (the weekly news of one project).
    Silent on purpose: on a word that keeps its neighbours (a catchphrase, a template); on words that were common at the
    start; on words of one or two letters; on one that is fewer than about 1 in 100 words.
    Options: `rare` (0.0045), the share of words that a new word may have; `warm_up` (40); `caution`: years
    for one false trip of the test (1).

        >>> from guards import Output
        >>> import random
        >>> seeded = random.Random(7)
        >>> sound = lambda: seeded.choice("bdfgklmnprst") + seeded.choice("aeiou")
        >>> lexicon = [sound() + sound() + sound() for _ in range(800)]
        >>> word = lambda: lexicon[int(800 * seeded.random() ** 2)]
        >>> texts = [[word() for _ in range(40)] for _ in range(160)]
        >>> stuck = [["lantern" if seeded.random() < 0.05 else w for w in words] for words in texts]
        >>> guard = Fixation()
        >>> stream = [" ".join(words) for words in texts + stuck]
        >>> next(row for row, text in enumerate(stream) if guard.update(Output(text)).level.name == "TRIP")
        183
    """

    name: ClassVar[str] = "fixation"
    kind: ClassVar[Literal["gate", "sequential"]] = "sequential"
    tests: ClassVar[int] = 2
    VERSION = 2

    @dataclass(frozen=True, slots=True)
    class Options(options.Sequential):
        """The share that a word rare at the start may have."""

        rare: float = options.option(0.0045, 0.0001, 0.05)

    options: Options

    def reset(self) -> None:
        """Forget the stream."""
        self._limit = limit(self.options.caution)
        self._takeover = Takeover(self.options.rare, self.options.warm_up, self._limit)
        self._whole = self._run = 0

    def update(self, output: Output) -> Verdict:
        """Judge the next output."""
        reading = read(output.text)
        if not reading.spoken:
            return silent(self.name)
        spiral = self._spiral(reading)
        risen = self._takeover.update(reading)
        slow = self._judge(reading, risen) if risen else silent(self.name)
        return gravest(spiral, slow)

    def _spiral(self, reading: Reading) -> Verdict:
        """One word is most of what is said."""
        total = len(reading.spoken)
        word, count = "", 0
        if total >= SPEECH and len(set(reading.spoken)) <= (1 - WHOLE) * total + 1:  # more cannot stand beside it
            counts = Counter(reading.spoken)
            counts.pop(NUMBER, None)
            word, count = counts.most_common(1)[0] if counts else ("", 0)
        if not count or count < WHOLE * total:
            self._whole = self._run = 0
            return silent(self.name)
        key = key_at(reading, reading.spoken.index(word))
        self._run = min(self._run + 1, IN_A_ROW) if key == self._whole else 1
        self._whole = key
        score = 1.0 if total >= LONG else self._run / IN_A_ROW
        why = f"one word is {count} of the {total} words of this output"
        said = self._said(score, reading, {word: count}, why)
        return replace(said, gate=said.level > Level.PASS)

    def _judge(self, reading: Reading, risen: Mapping[int, float]) -> Verdict:
        score = math.fsum(risen.values()) / self._limit
        total = len(reading.spoken)
        here: Counter[str] = Counter()
        for i, word in enumerate(reading.spoken):
            if key_at(reading, i) in risen:
                pair = is_character(word) and i + 1 < total
                here[word + reading.spoken[i + 1] if pair else word] += 1
        if here.total() < CARRIES * self.options.rare * total:
            return silent(self.name, round(min(score, 0.5), 3))
        what = "a word takes" if len(risen) == 1 else f"{len(risen)} words take"
        why = f"{what} the stream over, in ever new company: {here.total()} of the {total} words of this output"
        return self._said(score, reading, dict(here.most_common(SHOWN)), why)

    def _said(self, score: float, reading: Reading, words: Mapping[str, int], why: str) -> Verdict:
        score = round(score, 3)
        if Level.of(score) is Level.PASS:
            return silent(self.name, score)
        named = ", ".join(quote(word, 40) for word in words)
        hint = f"You keep coming back to {named}. Write this one about something else, without that."
        level = Level.of(score)
        return Verdict(self.name, level, score, f"{why} ({named})", hint, evidence=spans(reading.text, words))

    def state(self) -> dict[str, Json]:
        """Return the memory, at most 60 kB."""
        return {
            "version": self.VERSION,
            "whole": self._whole,
            "run": self._run,
            "takeover": self._takeover.state(),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        check_version(state, self.VERSION)
        self._whole, self._run = integer(state, "whole", 2**32), integer(state, "run", IN_A_ROW)
        self._takeover.load(nested(state, "takeover"))
