"""The in-output loop guard: judges one output alone, and the stream while it is being written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from guards import options
from guards.base import Guard, Json, Level, Output, Verdict, Watch, silent
from guards.finding import Finding
from guards.period import tail_period
from guards.repetition import judge
from guards.text import HEAD, TAIL, clip

_NUMBER = re.compile(r"\d+")
HINT = "Say what is new once, in one or two plain sentences, and stop."


class Loop(Guard):
    """A loop inside one output: the same words, sentence, list item, call or character again and again.

    Statistic: the number of copies in a stretch of exact period (over words and punctuation; over characters where
    nothing breaks them; over sentences for an irregular chant; over words with one counting number), divided by the
    number of copies that its period and its share of the output allow. A stretch that fills the output needs few
    copies (10 of one word, 5 of up to four, 3 of a sentence, 2 of a passage of two sentences, 4 of a tool call); one
    that fills a part needs about twice as many; inside fences, tables, quotes and indented code, 40 and at least 300
    words. It makes half of the output or stands at its end: a loop does not recover. Copies with other headings or
    links between them, or each with a time of the day of its own (a log), are none. Of a prose from 2,000 characters
    on, less than a tenth of which comes again, only the end is cut into words to look for copies. Besides: the last 5
    sentences or paragraphs with one beginning, half of the output or more; one phrase of five words in half of at least
    12 sentences, several times within a paragraph; six short lines and more that begin with one word, half of them
    saying another one again; white space from 600 characters in a row, or 200 that fill most of the output; 300 dots or
    zeros.
    On the stream, where all that is written stands at the end, twice as much is needed.

    Source: suffix periodicity as in D1 of the study this project began with; the bars were set on pasted outputs of
    public trackers and on healthy text of public repositories.
    False alarms: measured, see `benchmarks/guards.py`: in 100,000 outputs of people and agents that had been seen, one
    damaged file of NUL characters, and four outputs of one agent that did loop; in 50,000 of them, when they were new,
    seven outputs of five streams, whose causes were mended; in 28,000 new ones after that, one, which is nothing but
    pictures; in 24,000 after that, 21 outputs of nine streams, logs and lists of commits, mended but for one. None of
    34 normal pasted outputs. A gate has no average run length: it does not learn.
    Silent on purpose: dividers, boxes, tables, lists with one shared prefix, clauses of a law, verses with a refrain,
    numbers without words, a stutter from which the output recovers (a warning), padding, rulers and blocks in the
    middle, a text given exactly twice with an empty line between (a warning), the list of commits that a squashed merge
    holds, a talk that is on record under a heading.
    Options: `copies` multiplies every number of copies allowed (1.0; higher is more patient).

        >>> from guards import Output
        >>> import random
        >>> seeded = random.Random(7)
        >>> nouns = ["harbour", "tide", "crane", "ferry", "gull", "rope", "lamp", "pier", "fog", "bell"]
        >>> healthy = [" ".join(seeded.choice(nouns) for _ in range(60)) + "." for _ in range(20)]
        >>> broken = "The tide is in. " + "I will check the rope now. " * 9
        >>> guard = Loop()
        >>> [row for row, text in enumerate([*healthy, broken]) if guard.update(Output(text)).level.name == "TRIP"]
        [20]
    """

    name: ClassVar[str] = "loop"
    kind: ClassVar[Literal["gate", "sequential"]] = "gate"
    VERSION = 1

    @dataclass(frozen=True, slots=True)
    class Options:
        """`copies` multiplies the number of copies that are allowed."""

        copies: float = options.option(1.0, 0.5, 10.0)

    options: Options

    def reset(self) -> None:
        """There is nothing to forget: each output is judged alone."""

    def update(self, output: Output) -> Verdict:
        """Judge one output."""
        return self._verdict(judge(output.text, self.options.copies))

    def watch(self) -> Watch:
        """Return an eye on one output's stream."""
        return LoopWatch(self.options.copies)

    def state(self) -> dict[str, Json]:
        """Return nothing but the version."""
        return {"version": self.VERSION}

    def load(self, state: Mapping[str, Json]) -> None:
        """Nothing to continue."""

    def _verdict(self, worst: Finding | None) -> Verdict:
        if worst is None:
            return silent(self.name)
        if worst.score < 1:
            level = Level.WARN if worst.score >= 0.8 else Level.PASS
        else:
            level = Level.TRIP if worst.stops else Level.WARN
        return _verdict(worst, level)


def _verdict(found: Finding, level: Level) -> Verdict:
    if level is Level.PASS:
        return Verdict(Loop.name, level, found.score)
    hint = f"Your last output repeated itself: {found.why}. {HINT}"
    return Verdict(Loop.name, level, found.score, found.why, hint, evidence=(found.span,) if found.span else ())


class LoopWatch(Watch):
    """Watches a stream: when its end repeats exactly, judges what has been written so far, with more patience.

    It judges what the guard would see if the stream ended here, so that a trip here is a trip of `update` too.
    """

    KEEP = 8_000
    EVERY, SHARE = 48, 20
    """It looks each time so many characters, or the twentieth part of what it looks at, are new."""
    TWICE = 2.0
    """Times the limit of a whole output: while a table or a list is written, it too stands at the end."""

    def __init__(self, copies: float) -> None:
        self._copies = copies
        self._pieces: list[str] = []
        self._written: list[str] = []
        self._masked = ""
        self._length = self._new = self._blank = 0
        self._wait = self.EVERY

    def feed(self, piece: str) -> Verdict | None:
        """Take the next piece; trip when the text has long been nothing but a loop."""
        self._pieces.append(piece)
        self._new += len(piece)
        if self._new < self._wait:
            return None
        new = "".join(self._pieces)
        self._pieces, self._new = [], 0
        self._written.append(new)
        self._length += len(new)
        if self._length > 2 * (HEAD + TAIL):
            self._text()
        said = len(new.rstrip())
        self._blank = len(new) - said + (0 if said else self._blank)
        masked = _NUMBER.sub("0", new[-self.KEEP :])
        if self._masked[-1:] == "0" and new[-self.KEEP :][:1].isdecimal():
            masked = masked[1:]  # a number goes on in this piece
        self._masked = (self._masked + masked)[-self.KEEP :]
        return self._look()

    def _text(self) -> str:
        """Return what has been written, without the middle of what is long."""
        text = clip("".join(self._written))
        self._written, self._length = [text], len(text)
        return text

    def _look(self) -> Verdict | None:
        period, length = tail_period(self._masked)
        if self._blank < 600 and (not period or length < 160 or length < 3 * period):
            self._wait = max(self.EVERY, len(self._masked) // self.SHARE)
            return None
        found = judge(self._text(), self._copies, patience=2.0)
        if found is None or found.score < self.TWICE or not found.stops:
            self._wait = min(2 * self._wait, self.KEEP // 4)  # a table can look like this for long
            return None
        return _verdict(found, Level.TRIP)
