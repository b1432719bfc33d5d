"""The guard against saying the same again, output after output."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from guards import options
from guards.alike import Alike
from guards.base import Guard, Json, Level, Output, Verdict, silent
from guards.in_a_row import InARow
from guards.memory import HASHES, check_hashes, check_version, nested
from guards.numbered import Numbered, masked
from guards.of_twenty import OfTwenty
from guards.promise import limit
from guards.reading import marks, read
from guards.reworded import Reworded
from guards.rounds import BRIEF, LONG, WHOLE, Rounds
from guards.sameness import DIFFERENT, Sameness
from guards.spans import longest_line
from guards.text import MERGED, UPLOADED, fingerprint, quote

_ERROR = re.compile(r"\W*(?:\w{0,40}(?:error|exception)\b\s*:|error\b|traceback\b|fatal\b|failed to\b)", re.IGNORECASE)
LEAST, OF_ERROR = 8, 3
"""Words from which a text is more than an acknowledgement, or an error message; below, the same answer twice is what
was asked for."""
WORDS = 4
"""Fewer words are a signal."""
SENTENCES = 16
"""Words of a text that is never the same by chance."""


class Repeat(Guard):
    """The same text again and again across outputs, word for word or nearly.

    Statistic: exactly, how many outputs in a row are equal in their words and numbers (case, punctuation and spacing do
    not count; a warning from the third on), how many of the last 20 equal this one (7, if it has 16 words), and how
    many of them were said before, where those are at most 4 different texts (more are allowed where the start repeated
    itself too, 19 at most); 4 of 6 equal answers of one side of a dialogue, which has every second row, or 4 in a row
    at a distance of 3 to 5, and none between (one more for each time that it came before, in 32 outputs; an error
    message may have other numbers); 9 outputs that are 3 texts by turns; a gate from the first output on. But for its
    numbers, or for one word in three of 5 to 24 (in 5 wordings), how many of the last 20 are this one (16), where the
    first 20 had no such notes. Nearly, by the Jaccard similarity (word triples, MinHash) to earlier outputs: a test of
    whether it has become common, against what was before, that three of the last 8 outputs are 0.6 like this one, which
    may be so in a fifth of the outputs of any stream; and a gate, when the greatest similarity to any of the last 24
    has a mean of 0.7 over 12 of the last 24 outputs, prose without calls or numbers, whatever the stream began like.
    Source: Broder 1997 for the similarity; Shin, Ramdas and Rinaldo 2022 for the test.
    False alarms: nearly: derived, with the limit of guards/promise.py, while no more outputs have such twins than at
    the start, or a fifth; measured, on 333 healthy streams of people and agents, one in its last row (twelve monthly
    notes that differ in a picture), and one of six bots. Exactly: measured, none on those (again one bot, which merges
    one branch); 3 of 783 Debian changelogs cut into 296,000 paragraphs (and two copies), where the same date line
    really stood 5 times in a row or in most of 20. Of 90 streams that it had not met, two: an announcement that is
    filled in for each release, and one notice 5 times in a row; of 97 more, two: a form that each request carries, and
    the export of a chat.
    Silent on purpose: on texts of fewer than 4 words; on those of fewer than 8 (unless they read like an error message)
    and on what a host writes for a file edited on its pages ("Update x.md") until they come 20 times in a row: declare
    them as acknowledgements if that is how it should be; on more that stands beside a tool call of a named turn, but
    for 5 in a row in that turn; on a note of one form whose numbers change, where two of the first 20 outputs had it or
    fewer than 16 of the last 20 do; in the near test, on a stream that was alike from its start, or nearly (0.45).
    Options: `in_a_row` equal outputs trip (5), `of_twenty` repeated outputs of the last 20 trip (12), `warm_up` (40),
    `caution`: years for one false trip of the near test (1).

        >>> from guards import Output
        >>> import random
        >>> seeded = random.Random(7)
        >>> words = "harbour tide crane ferry gull rope lamp pier fog bell north wind swell quay mast".split()
        >>> healthy = [" ".join(seeded.choice(words) for _ in range(30)) for _ in range(30)]
        >>> stuck = ["All the boats are in and there is nothing more to report tonight."] * 6
        >>> guard = Repeat()
        >>> [row for row, text in enumerate(healthy + stuck) if guard.update(Output(text)).level.name == "TRIP"]
        [34, 35]
    """

    name: ClassVar[str] = "repeat"
    kind: ClassVar[Literal["gate", "sequential"]] = "sequential"
    tests: ClassVar[int] = 1
    VERSION = 7

    @dataclass(frozen=True, slots=True)
    class Options(options.Sequential):
        """Equal outputs in a row and of twenty that trip."""

        in_a_row: int = options.option(5, 2, 1000)
        of_twenty: int = options.option(12, 2, 20)

    options: Options

    def reset(self) -> None:
        """Forget the stream."""
        given = self.options
        self._in_a_row = InARow(given.in_a_row)
        self._of_twenty = OfTwenty(given.of_twenty, given.warm_up)
        self._rounds = Rounds()
        self._numbered = Numbered()
        self._reworded = Reworded()
        self._alike = Alike(given.warm_up, limit(given.caution))

    def update(self, output: Output) -> Verdict:
        """Judge the next output."""
        reading = read(output.text)
        said, text = reading.words, reading.text
        key = fingerprint(" ".join(said))
        error = _ERROR.match(text)
        if len(said) < (OF_ERROR if error else LEAST) or UPLOADED.match(text):
            self._alike.pass_by()
            return self._judged(text, *self._short(key, said, text, beside=bool(output.calls)))
        self._in_a_row.end_short()
        if output.calls and output.turn is not None:
            self._alike.pass_by()
            return self._judged(text, self._in_a_row.beside_calls(fingerprint(output.turn), key))
        numbered = any(word[0].isdigit() for word in said)
        speaks = not output.calls and not numbered and len(reading.spoken) >= LEAST
        marked, long = marks(said), len(said) >= SENTENCES
        form = fingerprint(" ".join(masked(said))) if error else key  # its times and identifiers change by themselves
        return self._judged(
            text,
            self._in_a_row.whole(key),
            self._of_twenty.update(key, long=long),
            DIFFERENT if output.calls else self._rounds.update(form, LONG if long else WHOLE),
            DIFFERENT if MERGED.match(text) else self._reworded.update(marked),
            self._numbered.update(said),
            *self._alike.update(marked, speaks=speaks),
        )

    def _short(self, key: int, said: Sequence[str], text: str, *, beside: bool) -> tuple[Sameness, ...]:
        """Return how an output of few words is the same, `beside` calls or without."""
        if len(said) < WORDS:
            self._numbered.pass_by()
            if not beside:
                self._rounds.update(None)
            return (DIFFERENT,)
        reworded = DIFFERENT if MERGED.match(text) else self._reworded.update(marks(said))
        if beside:
            self._numbered.pass_by()
            return reworded, self._in_a_row.short_step(key)
        return reworded, self._in_a_row.short(key), self._numbered.update(said), self._rounds.update(key, BRIEF)

    def _judged(self, text: str, *found: Sameness) -> Verdict:
        """Return the verdict on the first of the gravest; a gate's, if another one that is as grave is a gate's."""
        scores = [round(one.score, 3) for one in found]
        score = max(scores)
        level = Level.of(score)
        if level is Level.PASS:
            return silent(self.name, score)
        hint = (
            f"You keep giving the same answer: {quote(text, 60)}. Say only what is new since then; "
            "if nothing is new, say so in one short sentence."
        )
        why = f"{found[scores.index(score)].why}: {quote(text)}"
        gate = any(one.gate for one, its in zip(found, scores, strict=True) if Level.of(its) is level)
        return Verdict(self.name, level, score, why, hint, evidence=longest_line(text), gate=gate)

    def state(self) -> dict[str, Json]:
        """Return the memory, about 12 kB."""
        return {
            "version": self.VERSION,
            "hashes": HASHES,
            **self._in_a_row.state(),
            **self._of_twenty.state(),
            **self._alike.state(),
            "rounds": self._rounds.state(),
            "numbered": self._numbered.state(),
            "reworded": self._reworded.state(),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        check_version(state, self.VERSION)
        check_hashes(state)
        self._in_a_row.load(state)
        self._of_twenty.load(state)
        self._alike.load(state)
        self._rounds.load(nested(state, "rounds"))
        self._numbered.load(nested(state, "numbered"))
        self._reworded.load(nested(state, "reworded"))
