"""The guard against one phrase in ever more outputs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

from guards import options
from guards.base import Guard, Json, Level, Output, Verdict
from guards.memory import check_version, integer, nested
from guards.phrases import EDGE, MOST, NAT, PLACES, Phrase, Phrases, runs
from guards.promise import limit
from guards.reading import NUMBER, Reading, read
from guards.text import quote

SPACED, UNSPACED = 4, 6
"""Words, or characters of a script without spaces, that make the shortest phrase."""
LONGEST = 16
"""A longer one is a piece of a form, not a phrase."""
LEAST, REST = 5, 3
"""Words from which an output counts, and that it must say beside the phrase."""
FEWEST = 14, 20
"""Sightings that any phrase needs, whatever the evidence: in free outputs, and in outputs with a form."""
ENOUGH = 10
"""Places from which one can tell whether they differ."""
NEW = 0.65, 0.75
"""The least share of different words before and after the phrase: in free outputs, and in outputs that have a form."""
AT_EDGE = 0.6
"""A phrase that stands at the edge of the output more often has only one side to judge."""
FORM = 0.25
"""A run of words in more of the start's outputs than this makes them outputs with a form."""
WANDERS = 0.16
"""In outputs with a form, the least deviation of the phrase's place; anywhere is 0.29, a new line of the form less."""
SHARE = 0.08
"""The share since it came up that the slow test asks for; less may have been there before, and not been noticed."""
WHOLE = 0.7
"""The share of sightings between marks of punctuation from which it is a sentence or clause of its own."""
USUAL = 0.15
"""A phrase that ends with a word of more of the start's outputs than this wants to go on."""
PIECE, OPEN, FORMED = 1.4, 3.0, 1.4
"""Times the evidence that is asked of a piece of a sentence, of a piece that wants to go on, in outputs with a form."""
_LISTED = re.compile(r"\s*(?:[-*+•|>#]|\d{1,5}[.)])\s")


@dataclass(frozen=True, slots=True)
class Sighting:
    """A phrase in the output at hand: from word `start` to word `end` of what it says."""

    phrase: Phrase
    start: int
    end: int
    said: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the phrase."""
        return self.said[self.start : self.end]


class Catchphrase(Guard):
    """One phrase of four or more words in ever more outputs, wherever in them it stands.

    Statistic: every run of four words (six characters of a script without spaces) that comes back has two sequential
    tests of its own, each a lazy CUSUM of the log-likelihood ratio: the share of outputs that held it before (at least
    1 %) against 50 %, and against 9 %, where sightings in a burst count less and the share since it came up must be
    8 %. What was before is counted over the first 40 to 200 outputs. Neighbouring runs that stand together are one
    phrase. It trips when a test crosses the limit with at least 14 sightings, and the phrase is what a catchphrase is:
    an island, whose neighbours differ from sighting to sighting (a new line of a form has the same); at most 16 words
    and no number; with something else said beside it. A sentence or clause of its own needs the limit once, a piece of
    a sentence 1.4 times, a piece that ends with a word of every day ("figured out how to") 3 times. In outputs with a
    form (some four words in over 25 % of the first `warm_up`) it must wander and stand in running text, and needs 1.4
    times as much and 20 sightings.
    Source: Page 1954 and Shin, Ramdas and Rinaldo 2022 for the test; Bloom 1970 and Cormode and Muthukrishnan 2005 for
    the start's counts.
    False alarms: derived for a phrase that keeps its share, or stays below 1 %: the limit of the panel's promise,
    shared among the 480 phrases followed. Phrases do leave their share, so the rate rests on what was measured, on
    streams that also tuned it: none of 96 healthy ones, 1 of 768 cut, shuffled and reversed from them; of 177 Debian
    changelogs the 7 of one package, whose author took to one phrase in half of his entries.
    Silent on purpose: on phrases of the start; on what stands at one place of outputs with a form, which no count
    tells from an edit of that form; on outputs that say nothing else; on the first 29 outputs.
    Options: `warm_up` outputs that say whether outputs have a form (40), `caution`: years for one false trip (1).

        >>> from guards import Output
        >>> import random
        >>> seeded = random.Random(7)
        >>> words = [a + b for a in ("har", "tide", "fer", "gul", "lam") for b in ("na", "lo", "rin", "est", "ul")]
        >>> texts = [[seeded.choice(words) for _ in range(24)] for _ in range(120)]
        >>> for text in texts[80:]:
        ...     text.insert(seeded.randrange(24), "as the old keepers say")
        >>> guard = Catchphrase()
        >>> levels = [guard.update(Output(" ".join(text))).level.name for text in texts]
        >>> levels.index("WARN"), levels.index("TRIP")
        (91, 93)
    """

    name: ClassVar[str] = "catchphrase"
    kind: ClassVar[Literal["gate", "sequential"]] = "sequential"
    tests: ClassVar[int] = 2
    VERSION = 1

    @dataclass(frozen=True, slots=True)
    class Options:
        """Outputs of the start that say whether outputs have a form; years for one false trip of the panel."""

        warm_up: int = options.option(40, 8, 255)
        caution: float = options.option(1.0, 0.01, 1e6)

    options: Options

    def reset(self) -> None:
        """Forget the stream."""
        self._limit = limit(self.options.caution, MOST) * NAT
        self._phrases = Phrases(self.options.warm_up)

    def update(self, output: Output) -> Verdict:
        """Judge the next output."""
        reading = read(output.text)
        if len(reading.spoken) < LEAST:
            return Verdict(self.name)
        keys, size = _keys(reading)
        found = self._phrases.take(keys, reading.marks)
        seen = [Sighting(phrase, first, last + size, reading.spoken) for first, last, phrase in runs(found)]
        _note(seen, reading)
        times = Counter(id(one.phrase) for one in seen)
        scored = [(round(self._score(one, reading, times[id(one.phrase)]), 3), one) for one in seen]
        for score, one in sorted(scored, key=lambda pair: -pair[0]):
            if Level.of(score) is Level.PASS:
                return Verdict(self.name, Level.PASS, score)
            if (verdict := self._verdict(score, one, reading.text)) is not None:
                return verdict
        return Verdict(self.name)

    def _score(self, seen: Sighting, reading: Reading, times: int) -> float:
        phrase, formed = seen.phrase, self._phrases.form > FORM
        if not self._is_island(seen, formed) or (formed and times > 1):  # a form repeats its own labels
            return 0.0
        whole = phrase.whole >= WHOLE * phrase.hits
        wants = self._phrases.usual(reading.marks[seen.end - 1]) > USUAL
        asked = 1.0 if whole else OPEN if wants else PIECE
        share = phrase.hits / (self._phrases.rows - phrase.first)
        evidence = max(phrase.fast, phrase.slow if share >= SHARE else 0) / self._limit
        return min(evidence / (asked * FORMED if formed else asked), phrase.hits / FEWEST[formed])

    def _is_island(self, seen: Sighting, formed: bool) -> bool:
        words, places = seen.words, seen.phrase.places
        if len(words) > LONGEST or len(seen.said) - len(words) < REST or len(places) < ENOUGH:
            return False
        before = [place[0] for place in places if place[0] != EDGE]
        after = [place[1] for place in places if place[1] != EDGE]
        inside = (1 - AT_EDGE) * len(places)
        if formed:
            return min(_new(before), _new(after)) >= NEW[1] and _wanders(places)
        if len(before) < inside or len(after) < inside:
            return _new(max(before, after, key=len)) >= NEW[0]
        return min(_new(before), _new(after)) >= NEW[0]

    def _verdict(self, score: float, seen: Sighting, text: str) -> Verdict | None:
        span = _span(seen.words, text, self._phrases.form > FORM)
        if span is None:
            return None
        rows = self._phrases.rows - seen.phrase.first
        said = f"{quote(span)} in {seen.phrase.hits} of the last {rows} outputs"
        return Verdict(
            self.name,
            Level.of(score),
            score,
            f"a phrase that the start did not have: {said}",
            f"You have said {said}. Leave it out this time, and put no other set phrase in its place.",
            evidence=(span,),
        )

    def state(self) -> dict[str, Json]:
        """Return the memory, at most 105 kB."""
        return {"version": self.VERSION, "phrases": self._phrases.state(), "warm_up": self.options.warm_up}

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        check_version(state, self.VERSION)
        phrases = Phrases(max(1, integer(state, "warm_up", 255)))
        phrases.load(nested(state, "phrases"))
        self._phrases = phrases


def _keys(reading: Reading) -> tuple[list[int], int]:
    """Return a key for each run of words, and how many words a run has; 0 for a run with a number."""
    marks = reading.marks
    size = SPACED
    first = () if reading.text.isascii() else reading.spoken[:200]
    if 2 * sum(len(word) == 1 and word > "\u0dff" for word in first) > len(first):
        size = UNSPACED
        pairs = [(a * 31 + b) & 0xFFFFFFFF for a, b in pairwise(marks)]
        keys = [((a * 961 + b) * 961 + c) & 0xFFFFFFFF for a, b, c in zip(pairs, pairs[2:], pairs[4:], strict=False)]
    else:
        four = zip(marks, marks[1:], marks[2:], marks[3:], strict=False)
        keys = [(((a * 31 + b) * 31 + c) * 31 + d) & 0xFFFFFFFF for a, b, c, d in four]
    if NUMBER in reading.spoken:
        for i, word in enumerate(reading.spoken):
            for at in range(max(0, i - size + 1), min(i + 1, len(keys))) if word == NUMBER else ():
                keys[at] = 0
    return keys, size


def _note(seen: Sequence[Sighting], reading: Reading) -> None:
    """Note of each phrase what stands around it and where, once an output."""
    starts, ends = {start for start, _ in reading.clauses}, {end for _, end in reading.clauses}
    noted: set[int] = set()
    marks = reading.marks
    for one in seen:
        if id(one.phrase) in noted:
            continue
        noted.add(id(one.phrase))
        before = 1 + marks[one.start - 1] % 255 if one.start else EDGE
        after = 1 + marks[one.end] % 255 if one.end < len(marks) else EDGE
        where = 255 * (one.start + one.end) // (2 * len(marks))
        one.phrase.places = [*one.phrase.places[1 - PLACES :], (before, after, where)]
        one.phrase.whole += one.start in starts and one.end in ends


def _wanders(places: Sequence[tuple[int, int, int]]) -> bool:
    mean = sum(place[2] for place in places) / len(places)
    return sum((place[2] - mean) ** 2 for place in places) >= len(places) * (255 * WANDERS) ** 2


def _new(neighbours: Sequence[int]) -> float:
    """Return the share of different ones."""
    return len(set(neighbours)) / len(neighbours) if neighbours else 0.0


def _span(words: Sequence[str], text: str, formed: bool) -> str | None:
    """Return the words as they stand in one paragraph of the text; None where two items of a list only meet, or begin.

    In outputs with a form they must stand with other words in a line that is no item: items are carried over.
    """
    pattern = r"[\W_]{0,8}".join(re.escape(word) for word in words)
    for match in re.finditer(pattern, text, re.IGNORECASE):
        start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
        lines = text[start : end if end >= 0 else len(text)].split("\n")
        if any(_LISTED.match(line) or not line.strip() for line in lines[1:]):
            continue
        item = _LISTED.match(lines[0])
        if item and start + item.end() >= match.start() - 1:
            continue  # the head of an item is its label
        if not formed or not (item or len(Reading("\n".join(lines)).spoken) - len(words) < REST):
            return match[0]
    return None
