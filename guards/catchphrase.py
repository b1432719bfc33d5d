"""The guard against one phrase in ever more outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from guards import options
from guards.base import Guard, Json, Level, Output, Verdict, silent
from guards.memory import HASHES, check_hashes, check_version, integer, nested
from guards.phrases import MOST, NAT, Phrases, runs
from guards.places import ENOUGH, STABLE, is_amid_lines, is_island, is_list, same_extent
from guards.promise import limit
from guards.reading import Reading, read
from guards.sightings import LONGEST, REST, Sighting, keys_of, note, standing
from guards.text import quote

LEAST = 5
"""Words from which an output counts."""
FEWEST = 14, 20
"""Sightings that any phrase needs, whatever the evidence: in free outputs, and in outputs with a form."""
FORM = 0.25
"""A run of words in this share of the first 16 outputs makes them outputs with a form."""
SHARE = 0.08
"""The share since it came up that the slow test asks for; less may have been there before, and not been noticed."""
SOON = 400
"""Outputs since it came up in which it must be found: what took longer is a manner of speaking."""
WHOLE = 0.7
"""The share of sightings between marks of punctuation from which it is a sentence or clause of its own."""
USUAL = 0.15
"""A phrase that ends with a word of more of the start's outputs than this wants to go on."""
PIECE, OPEN, FORMED = 1.4, 3.0, 1.4
"""Times the evidence that is asked of a piece of a sentence, of a piece that wants to go on, in outputs with a form."""
GROSS, GROSSLY = 0.7, 16
"""A phrase in more of the outputs since it came up needs no more sightings, if it runs with other words in lines."""


class Catchphrase(Guard):
    """One phrase of four or more words in ever more outputs, wherever in them it stands.

    Statistic: every run of four words (six characters of a script without spaces) that comes back has three sequential
    tests of its own, each a lazy CUSUM of the log-likelihood ratio: the share of outputs that held it before (at least
    1 %) against 50 %, against 95 %, and against 9 %; in the last sightings in a burst count less, the share must be 8 %
    since it came up, and 400 outputs must do. What was before is counted over the first 40 to 200 outputs. Neighbouring
    runs that stand together are one phrase. It trips when a test crosses the limit with at least 14 sightings, and the
    phrase is what a catchphrase is: an island, whose neighbours differ from sighting to sighting (a new line of a form
    has the same) and whose own ends do not; at most 16 words and no number; a piece of nothing longer in most of its
    sightings; with something else said beside it; and here no title, no credit in brackets, no list and not what a
    number counts. A sentence or clause of its own needs the limit once, a piece of a sentence 1.4 times, a piece that
    ends with a word of every day ("figured out how to") 3 times. In outputs with a form (some four words in a quarter
    of the first 16) it must wander and stand in running text, and needs 1.4 times as much and 20 sightings. In any
    outputs 16 sightings and 1.4 times the limit are enough for a phrase in 70 % of them since it came up that wanders
    within lines: other words, half of them different, stand before it in its line, and behind it, unless it ends
    sentences there.
    Source: Page 1954 and Shin, Ramdas and Rinaldo 2022 for the test; Bloom 1970 and Cormode and Muthukrishnan 2005 for
    the start's counts.
    False alarms: derived for a phrase that keeps its share, or stays below 1 %: the limit of the panel's promise,
    shared among the 480 phrases followed. Phrases do leave their share, so the rate rests on what was measured: of 254
    healthy streams that it had not seen seven tripped; mended, two of 531 do, by a set phrase of theirs.
    Detection, of new phrases put into 60 of 138 healthy streams in each of three ways: in 99 % of the outputs 151 of
    180, 127 of them within 20 outputs; in 30 % 102 of 180 within 100; in 10 % 40 of 174 within 300, which rarely
    differs enough from a manner of speaking.
    Silent on purpose: on phrases of the start; on what stands at one place of outputs with a form, which no count
    tells from an edit of that form; on a list item of its own, which may be carried over; on outputs that say nothing
    else; on the first 29 outputs.
    Options: `warm_up` outputs of the start that are counted however long they are (40), `caution`: years for one false
    trip (1).

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
    tests: ClassVar[int] = 3
    VERSION = 4

    @dataclass(frozen=True, slots=True)
    class Options:
        """Outputs of the start that are counted however long they are; years for one false trip of the panel."""

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
            return silent(self.name)
        keys, size = keys_of(reading)
        found = self._phrases.take(keys, reading.marks)
        seen = [Sighting(phrase, first, last + size, reading.spoken) for first, last, phrase in runs(keys, found)]
        note(seen, reading, self._phrases.rows)
        times = Counter(id(one.phrase) for one in seen)
        scored = [(round(self._score(one, reading, times[id(one.phrase)]), 3), one) for one in seen]
        for score, one in sorted(scored, key=lambda pair: -pair[0]):
            if Level.of(score) is Level.PASS:
                return silent(self.name, score)
            if (verdict := self._verdict(score, one, reading.text)) is not None:
                return verdict
        return silent(self.name)

    def _score(self, seen: Sighting, reading: Reading, times: int) -> float:
        phrase, words, formed = seen.phrase, seen.end - seen.start, self._phrases.form >= FORM
        if phrase.noted < max(ENOUGH, STABLE * phrase.hits):  # mostly a piece of something longer
            return 0.0
        if words > LONGEST or len(seen.said) - words < REST or (formed and times > 1):  # a form repeats its labels
            return 0.0
        places = same_extent(phrase.places, words)
        if not places:
            return 0.0
        ahead = phrase.ahead(self._phrases.rows - phrase.first) / self._limit / PIECE
        gross = min(ahead, phrase.hits / GROSSLY) if self._is_gross(seen) else 0.0
        whole = phrase.whole >= WHOLE * phrase.hits
        apart = is_island(places, formed=formed, whole=whole)
        return max(gross, self._apart(seen, reading, whole=whole) if apart else 0.0)

    def _is_gross(self, seen: Sighting) -> bool:
        phrase = seen.phrase
        often = phrase.hits >= GROSS * (self._phrases.rows - phrase.first)
        return often and is_amid_lines(same_extent(phrase.places, seen.end - seen.start))

    def _apart(self, seen: Sighting, reading: Reading, *, whole: bool) -> float:
        """Return the score of an island among words that are never the same."""
        phrase, formed = seen.phrase, self._phrases.form >= FORM
        wants = self._phrases.usual(reading.marks[seen.end - 1]) > USUAL
        asked = 1.0 if whole else OPEN if wants else PIECE
        rows = self._phrases.rows - phrase.first
        grows = phrase.before <= 1 and rows <= SOON and phrase.hits >= SHARE * rows
        evidence = max(phrase.ahead(rows), phrase.slow if grows else 0) / self._limit
        return min(evidence / (asked * FORMED if formed else asked), phrase.hits / FEWEST[formed])

    def _verdict(self, score: float, seen: Sighting, text: str) -> Verdict | None:
        span = standing(seen.words, text, formed=self._phrases.form >= FORM, gross=self._is_gross(seen))
        if span is None or is_list(span):
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
        """Return the memory, at most 150 kB."""
        made = {"version": self.VERSION, "hashes": HASHES, "warm_up": self.options.warm_up}
        return {**made, "phrases": self._phrases.state()}

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        check_version(state, self.VERSION)
        check_hashes(state)
        phrases = Phrases(max(1, integer(state, "warm_up", 255)))
        phrases.load(nested(state, "phrases"))
        self._phrases = phrases
