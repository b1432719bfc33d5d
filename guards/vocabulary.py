"""The vocabulary guard: words become few and alike, or stop making sense."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from guards import options
from guards.base import Guard, Json, Level, Output, Verdict, gravest, silent
from guards.company import Company
from guards.diversity import Window
from guards.memory import check_version, integer
from guards.narrowing import EACH, KEY, Narrowing
from guards.order import Order
from guards.promise import limit
from guards.reading import NUMBER, Reading, read
from guards.scatter import MOST, Scatter
from guards.scripts import switches
from guards.spans import spans
from guards.text import UNSPACED_FROM, quote

LETTERS = 5
"""A long word has so many: the short ones are the language's, the long ones are what is said.  Eastern scripts are
denser: there every word, or character, is as good as long."""
NEAR = 160
"""At most so many neighbouring words of one output are looked at, each time from another place in it."""
FEW, SPEECH = 5, 12
"""Whatever the start was: so few different words of 120, in an output of so many, are a collapse."""
HANGUL = "\uac00", "\ud7a3"
"""Korean writes its small words as the last syllables of its long ones: there those are what comes back."""
SWITCHES = 0.3
HINTS = {
    "narrow": "Your words have become few and alike ({words}). Write about what is different now, in other words.",
    "wild": "Your last outputs read like unconnected words. Write plain, connected sentences in one language.",
}


class Vocabulary(Guard):
    """The words of a stream become few, or stop making sense.

    Statistic: narrow: how many different long words (5 letters; characters where a script has no spaces) stand in the
    last 300 and in the last 1,000 of the prose (at most 80 of an output; none between neighbours that it had lately, as
    in a form), against the fewest of the stream's own start (`warm_up` outputs, or the first full window); it trips
    when one of the two has lost the share `drop` for 8 outputs in a row (0.2 more where outputs became shorter), and,
    whatever the start was, at 5 different words of 120 in outputs of 12. Wild: bets that words stand in chance order,
    on pairs of the start's 40 commonest (at most 4 nats an output; a pair that was surprising lately counts for
    nothing); or less than a fifth of the start's share of common words (a smaller part where these had faded before)
    where hardly a word (of Korean: a last syllable) comes back in 120, in outputs that fill those 120, each at most a
    third; or, at once, neighbouring words of one output that keep changing between three scripts. An output that brings
    as many new words as the start's did, whose words stand in order, or that has common words passes.
    Source: McCarthy and Jarvis 2010 (a window of fixed size needs no correction for length); Shin, Ramdas and Rinaldo
    2022 for the bets.
    False alarms: it counts as three tests of the panel. Of the bets: derived, at most one in 10^6 outputs while pairs
    of words come as at the start. Of all: measured, on 606 healthy streams, some of which chose the numbers: one (a
    digest in one form that came to say the same every day); the next reached 0.9. A sorted collection of manual pages
    trips.
    Silent on purpose: until a window is full; on a start of under a fifth different words (a form); on phrases that
    come again, however few their words (a form, a template, an echo); on a new language or topic with words that come
    back; on new words in chance order that come back often (of a small stock, or where the start's common words had
    faded to nothing); on shuffled clauses of a script without spaces.
    Options: `drop` (0.45), `warm_up` (40), `caution`: years for one false trip of the bets (1).

        >>> from guards import Output
        >>> import random
        >>> seeded = random.Random(7)
        >>> sound = lambda: seeded.choice("bdfgklmnprst") + seeded.choice("aeiou")
        >>> lexicon = sorted(sound() + sound() + sound() for _ in range(40))
        >>> some = lambda: seeded.sample(lexicon, 20)
        >>> sentences, salad = [" ".join(sorted(some())) for _ in range(80)], [" ".join(some()) for _ in range(20)]
        >>> guard = Vocabulary()
        >>> stream = sentences + salad
        >>> next(row for row, text in enumerate(stream) if guard.update(Output(text)).level.name == "TRIP")
        83
    """

    name: ClassVar[str] = "vocabulary"
    kind: ClassVar[Literal["gate", "sequential"]] = "sequential"
    tests: ClassVar[int] = 3
    VERSION = 4

    @dataclass(frozen=True, slots=True)
    class Options(options.Sequential):
        """The share of different words that may be lost."""

        drop: float = options.option(0.45, 0.01, 0.95)

    options: Options

    def reset(self) -> None:
        """Forget the stream."""
        self._limit = limit(self.options.caution)
        self._narrowing = Narrowing(self.options.drop)
        self._order = Order(self._limit)
        self._company = Company()
        self._scatter = Scatter()
        self._outputs = 0

    def update(self, output: Output) -> Verdict:
        """Judge the next output."""
        reading = read(output.text)
        mixed = switches(reading.prose)
        if mixed >= SWITCHES:
            why = f"{100 * mixed:.0f} % of neighbouring words change script: {quote(reading.prose)}"
            return Verdict(self.name, Level.TRIP, round(mixed / SWITCHES, 3), why, HINTS["wild"], gate=True)
        spoken, marks = reading.spoken, reading.marks
        begin = 0 if len(marks) <= NEAR else 37 * self._outputs % (len(marks) - NEAR)
        piece = [i for i in range(begin, min(begin + NEAR, len(marks))) if spoken[i] != NUMBER]
        if not piece:
            return silent(self.name)
        self._outputs += 1
        words = [marks[i] & KEY for i in piece]
        plain = reading.text.isascii()
        last = words if plain else [_returning(spoken[i], marks[i]) for i in piece[:MOST]]
        ordered = self._order_of(reading, words)
        loose = self._scatter.update(last, words, self._order)
        scattered = self._wild(loose, "hardly a word comes back, and the common words are gone", reading)
        return gravest(ordered, scattered, self._narrow(reading, piece))

    def _narrow(self, reading: Reading, piece: Sequence[int]) -> Verdict:
        spoken, marks = reading.spoken, reading.marks
        long = [i for i in piece if len(spoken[i]) >= LETTERS or spoken[i] >= UNSPACED_FROM]
        characters = 2 * sum([len(spoken[i]) == 1 for i in long]) > len(long)
        said = self._company.new(marks, long[:EACH], reach=2 if characters else 1)
        score = self._narrowing.update(
            [marks[i] & KEY for i in said],
            starting=self._outputs <= self.options.warm_up,
            characters=characters,
        )
        last = self._scatter.window
        if last.full and last.types <= FEW and len(piece) >= SPEECH:
            few = self._few(reading, FEW / last.types, f"only {last.types} different words are left", last)
            return replace(few, gate=True)
        if Level.of(score) is Level.PASS:
            return silent(self.name, round(score, 3))
        window, start = self._narrowing.worst()
        return self._few(reading, score, f"different long words fell from {start} to {window.types}", window)

    def _few(self, reading: Reading, score: float, why: str, window: Window) -> Verdict:
        counts = window.counts
        said = {word: counts.get(mark & KEY, 0) for word, mark in zip(reading.spoken, reading.marks, strict=True)}
        often = sorted((word for word in said if said[word]), key=lambda word: (-said[word], word))[:3]
        named = ", ".join(quote(word, 30) for word in often)
        reason = f"{why} in a window of {window.size}; the commonest here: {named}"
        return self._verdict(score, reason, HINTS["narrow"].format(words=named), spans(reading.text, often))

    def _order_of(self, reading: Reading, words: Sequence[int]) -> Verdict:
        if not self._order.settled:
            self._order.learn(words, last=self._outputs >= self.options.warm_up)
            return silent(self.name)
        total, won = self._order.update(words)
        score = total / self._limit
        if not total:
            return silent(self.name)
        if won <= 0:
            return silent(self.name, round(min(score, 0.5), 3))
        return self._wild(score, "words stand in no order that this stream had before", reading)

    def _wild(self, score: float, why: str, reading: Reading) -> Verdict:
        if not score:
            return silent(self.name)
        if Level.of(round(score, 3)) is Level.PASS:
            return silent(self.name, round(score, 3))
        return self._verdict(score, f"{why}: {quote(reading.prose)}", HINTS["wild"])

    def _verdict(self, score: float, reason: str, hint: str, evidence: tuple[str, ...] = ()) -> Verdict:
        score = round(score, 3)
        if Level.of(score) is Level.PASS:
            return silent(self.name, score)
        return Verdict(self.name, Level.of(score), score, reason, hint, evidence=evidence)

    def state(self) -> dict[str, Json]:
        """Return the memory, at most 30 kB."""
        return {
            "version": self.VERSION,
            "outputs": min(self._outputs, 2**40),
            "scatter": self._scatter.state(),
            "company": self._company.state(),
            "narrowing": self._narrowing.state(),
            "order": self._order.state(),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        check_version(state, self.VERSION)
        self.reset()
        self._outputs = integer(state, "outputs")
        self._scatter.load(state, "scatter")
        self._company.load(state, "company")
        self._narrowing.load(state, "narrowing")
        self._order.load(state, "order")


def _returning(word: str, mark: int) -> int:
    """Return what comes back of a word in connected speech: the word, or its last syllable in Korean."""
    return ord(word[-1]) if HANGUL[0] <= word[-1] <= HANGUL[1] else mark & KEY
