"""The guard against saying the same again, output after output."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from guards import options
from guards.base import Guard, Json, Level, Output, Verdict, gravest, silent
from guards.memory import HASHES, check_hashes, check_version, integer, integers, nested
from guards.numbered import LONGEST, MANY, Numbered, Reworded, masked
from guards.onset import Onset
from guards.promise import limit
from guards.reading import marks, read
from guards.rounds import BRIEF, LONG, WHOLE, Rounds
from guards.sketch import BINS, Sketch, flat, likeness, restored, sketch
from guards.text import MERGED, UPLOADED, fingerprint, quote

_ERROR = re.compile(r"\W*(?:\w{0,40}(?:error|exception)\b\s*:|error\b|traceback\b|fatal\b|failed to\b)", re.IGNORECASE)
SAID, RECENT, LOOKED, FEW = 32, 20, 24, 4
CLOSE, TOO_CLOSE = 12, 0.7
"""So many outputs whose mean likeness to those before them is this are one output, also when the stream began so."""
CLOSE_AMONG, ASIDE = 24, 1001
"""The last outputs among which they are: a text that comes now and then may be the same each time."""
TWINS, AMONG, NEAR = 3, 8, 0.6
"""So many of the outputs just before that are so much like this one are more than one note written again."""
TAUGHT = 0.45
"""Outputs of the start that are so much like some before them are this stream's own way: a likeness is an estimate."""
RARE = 0.2
"""Share of outputs that a healthy stream may write so, at least: minutes and agendas are carried over now and then."""
LEAST = 8
"""Words from which a text is more than an acknowledgement; below, the same answer twice is what was asked for."""
WORDS, PATIENCE = 4, 4
"""Fewer words are a signal; a short sentence may come so many times as often in a row as a longer text."""
SENTENCES, OF_TWENTY = 16, 7
"""Words of a text that is never the same by chance, and how many of the last 20 may be it."""
TOLD = 3
"""Equal outputs in a row that are worth a warning."""


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
        self._last = self._run = self._short = self._short_run = 0
        self._turn = self._beside = self._beside_run = self._step = self._step_run = 0
        self._said: deque[int] = deque(maxlen=SAID)
        self._again: deque[int] = deque(maxlen=RECENT)
        self._judged_at_start = self._again_at_start = 0
        self._sketches: deque[Sketch] = deque(maxlen=LOOKED)
        self._close: deque[int] = deque(maxlen=CLOSE_AMONG)
        self._rounds = Rounds()
        self._numbered = Numbered()
        self._reworded = Reworded()
        self._near = Onset(RARE, self.options.warm_up, limit(self.options.caution))

    def update(self, output: Output) -> Verdict:
        """Judge the next output."""
        reading = read(output.text)
        text, said = reading.text, reading.words
        key = fingerprint(" ".join(said))
        self._close.append(ASIDE)
        error = _ERROR.match(text)
        if len(said) < (3 if error else LEAST) or UPLOADED.match(text):
            return self._of_few_words(key, said, text, beside=bool(output.calls))
        self._short = self._short_run = self._step = self._step_run = 0
        size = LONG if len(said) >= SENTENCES else WHOLE
        form = fingerprint(" ".join(masked(said))) if error else key  # its times and identifiers change by themselves
        rounds = silent(self.name) if output.calls else self._round(form, size, text)
        if output.calls and output.turn is not None:
            return self._beside_calls(key, fingerprint(output.turn), text)
        exactly = gravest(
            self._in_a_row(key, text), self._of_twenty(key, size, text), rounds, self._but_words(said, text)
        )
        numbered = any(word[0].isdigit() for word in said)
        speaks = not output.calls and not numbered and len(reading.spoken) >= LEAST
        return gravest(exactly, self._but_numbers(said, text), self._alike(said, text, speaks=speaks))

    def _of_few_words(self, key: int, said: Sequence[str], text: str, *, beside: bool) -> Verdict:
        if len(said) < WORDS:
            self._numbered.pass_by()
            if not beside:
                self._rounds.update(None)
            return silent(self.name)
        reworded = self._but_words(said, text)
        if beside:
            self._numbered.pass_by()
            self._step_run = self._step_run + 1 if key == self._step else 1
            self._step = key
            return gravest(reworded, self._counted(self._step_run, PATIENCE, text))
        return gravest(reworded, self._brief(key, text), self._but_numbers(said, text), self._round(key, BRIEF, text))

    def _beside_calls(self, key: int, turn: int, text: str) -> Verdict:
        same = (turn, key) == (self._turn, self._beside)
        self._beside_run = self._beside_run + 1 if same else 1
        self._turn, self._beside = turn, key
        return self._judged(
            self._beside_run / self.options.in_a_row, f"the same words {self._beside_run} times in this run", text
        )

    def _brief(self, key: int, text: str) -> Verdict:
        self._short_run = self._short_run + 1 if key == self._short else 1
        self._short = key
        return self._counted(self._short_run, PATIENCE, text)

    def _in_a_row(self, key: int, text: str) -> Verdict:
        self._run = self._run + 1 if key == self._last else 1
        self._last = key
        return self._counted(self._run, 1, text)

    def _counted(self, run: int, patience: int, text: str) -> Verdict:
        least = 0.8 if run >= TOLD else 0.0
        score = max(run / (patience * self.options.in_a_row), least)
        return self._judged(score, f"the same output {run} times in a row", text)

    def _round(self, key: int, size: int, text: str) -> Verdict:
        found = self._rounds.update(key, size)
        return self._judged(found.score, found.why, text)

    def _of_twenty(self, key: int, size: int, text: str) -> Verdict:
        again = key in self._said
        self._again.append(int(again))
        self._said.append(key)
        if self._judged_at_start < self.options.warm_up:
            self._judged_at_start += 1
            self._again_at_start += again
        usual = self._again_at_start / self._judged_at_start
        limit = min(max(self.options.of_twenty, RECENT * (usual + 0.4)), max(self.options.of_twenty, RECENT - 1))
        last = list(self._said)[-RECENT:]
        rotating = len({said for said, known in zip(last, self._again, strict=False) if known}) <= FEW
        this, total = last.count(key), sum(self._again) if rotating else 0
        most = min(limit, OF_TWENTY + RECENT * usual) if size == LONG else limit
        often = f"{this} of the last {len(last)} outputs are this one"
        known = f"{total} of the last {len(last)} outputs were said before, word for word"
        score, why = max((this / most, often), (total / limit, known))
        return self._judged(score if again else 0.0, why, text)

    def _but_numbers(self, said: Sequence[str], text: str) -> Verdict:
        times = self._numbered.update(said)
        return self._judged(times / MANY, f"{times} of the last {RECENT} outputs are this one with other numbers", text)

    def _but_words(self, said: Sequence[str], text: str) -> Verdict:
        if MERGED.match(text):
            return silent(self.name)
        times = self._reworded.update(marks(said) if len(said) <= LONGEST else ())
        return self._judged(
            times / MANY, f"{times} of the last {RECENT} outputs are this one with a word or two exchanged", text
        )

    def _alike(self, said: Sequence[str], text: str, *, speaks: bool) -> Verdict:
        now = sketch(marks(said))
        alike = [likeness(now, other) for other in self._sketches]
        most, twins = max(alike, default=0.0), sorted(alike[-AMONG:], reverse=True)[:TWINS]
        least = twins[-1] if len(twins) == TWINS else 0.0
        near = least >= NEAR
        tested = len(alike) > TWINS + 1  # before, none can have twins
        score = self._near.update(near, least >= TAUGHT) if tested else 0.0
        self._sketches.append(now)
        share = f"{100 * least:.0f} %" if near else "little"
        why = f"nearly the same again: {TWINS} of the last {AMONG} outputs are {share} like this one"
        nearly = self._judged(score, why, text, gate=False)
        if speaks:
            self._close[-1] = round(1000 * most)
        close = [one for one in self._close if one != ASIDE][-CLOSE:]
        if not speaks or len(close) < CLOSE:
            return nearly
        mean = sum(close) / CLOSE / 1000
        why = f"the last {CLOSE} outputs are {100 * mean:.0f} % like those just before them"
        return gravest(nearly, self._judged(mean / TOO_CLOSE if most > TOO_CLOSE else 0.0, why, text))

    def _judged(self, score: float, why: str, text: str, *, gate: bool = True) -> Verdict:
        score = round(score, 3) if score else 0.0
        if Level.of(score) is Level.PASS:
            return silent(self.name, score)
        hint = (
            f"You keep giving the same answer: {quote(text, 60)}. Say only what is new since then; "
            "if nothing is new, say so in one short sentence."
        )
        return Verdict(
            self.name,
            Level.of(score),
            score,
            f"{why}: {quote(text)}",
            hint,
            evidence=_evidence(text),
            gate=gate,
        )

    def state(self) -> dict[str, Json]:
        """Return the memory, about 12 kB."""
        return {
            "version": self.VERSION,
            "hashes": HASHES,
            "last": self._last,
            "run": min(self._run, 2**40),
            "short": self._short,
            "short_run": min(self._short_run, 2**40),
            "turn": self._turn,
            "beside": self._beside,
            "beside_run": min(self._beside_run, 2**40),
            "step": self._step,
            "step_run": min(self._step_run, 2**40),
            "said": list(self._said),
            "again": list(self._again),
            "judged_at_start": self._judged_at_start,
            "again_at_start": self._again_at_start,
            "sketches": [value for one in self._sketches for value in flat(one)],
            "close": list(self._close),
            "rounds": self._rounds.state(),
            "numbered": self._numbered.state(),
            "reworded": self._reworded.state(),
            "near": self._near.state(),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        check_version(state, self.VERSION)
        check_hashes(state)
        self._last, self._run = integer(state, "last"), integer(state, "run")
        self._short, self._short_run = integer(state, "short"), integer(state, "short_run")
        self._turn, self._beside, self._beside_run = (integer(state, k) for k in ("turn", "beside", "beside_run"))
        self._step, self._step_run = integer(state, "step"), integer(state, "step_run")
        self._said = deque(integers(state, "said", SAID), maxlen=SAID)
        self._again = deque(integers(state, "again", RECENT, 1), maxlen=RECENT)
        self._judged_at_start = max(1, integer(state, "judged_at_start", 10_000)) if self._said else 0
        self._again_at_start = min(integer(state, "again_at_start", 10_000), self._judged_at_start)
        rows = integers(state, "sketches", LOOKED * BINS)
        whole = len(rows) - len(rows) % BINS
        self._sketches = deque((restored(rows[i : i + BINS]) for i in range(0, whole, BINS)), maxlen=LOOKED)
        self._close = deque(integers(state, "close", CLOSE_AMONG, ASIDE), maxlen=CLOSE_AMONG)
        self._rounds.load(nested(state, "rounds"))
        self._numbered.load(nested(state, "numbered"))
        self._reworded.load(nested(state, "reworded"))
        self._near.load(nested(state, "near"))


def _evidence(text: str) -> tuple[str, ...]:
    """Return the longest line, cut short: it stands in the earlier ones too, unless they are only nearly the same."""
    line = max(text.split("\n"), key=len).strip()
    return (line[:200],) if line else ()
