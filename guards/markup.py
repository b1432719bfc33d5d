r"""The markup guard: what belongs to a model's machinery and not into its words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from guards import leak, options
from guards.base import Guard, Json, Level, Output, Verdict
from guards.memory import check_version, integer, nested
from guards.reading import read
from guards.sequential import Climb, Margin
from guards.text import quote

FIRST = 8
"""Outputs before any test bets: they tell whether a class was there from the start."""
RECENT = 20
FORGIVEN = 1000
"""After so many outputs without a class, whatever its test had gathered is gone."""
RARE, EARLY = 0.002, 0.005
"""How often a class may come by in a healthy stream that started without it, and while the start is still short."""
CEILING = {"latex": 1.0, "json": 1.0, "field": 1.0, "tool": 0.2, "role": 0.2, "token": 0.2}
"""How normal a class can be: LaTeX, JSON and labelled fields may be how a stream is written; leaked calls may not."""
WORDS = {
    "latex": ("LaTeX", "Nobody renders it here: write plain words and numbers."),
    "tool": ("tool-call syntax", "Call a tool through the interface, never in the text; write plain sentences."),
    "json": ("JSON", "Write plain sentences; no braces, keys or quotes of a data format."),
    "field": ("inner field names", "Write only what is meant for the reader, without labels of your own fields."),
    "role": ("an invented dialogue", "Write your own turn only, without speaker labels, and stop."),
    "token": ("control tokens", "Write plain sentences without any control token."),
}


class Markup(Guard):
    r"""LaTeX, tool syntax, control tokens, chat roles, JSON and inner fields in the words of an output.

    Statistic: at once, from the first output: a control token where the machinery puts one (glued to a word, alone in
    its line, before a speaker's name, a reserved one twice), an output that runs on into somebody else's turn, or a
    text of several scripts whose words are glued out of pieces. Otherwise one Bernoulli e-detector for each class
    (latex, tool, json, field, role, token): does the class come by more often than in the stream's own start? A stream
    that started without it is compared with one output in 500 (one in 200 until the start is complete).
    Source: Shin, Ramdas and Rinaldo 2022 (e-detectors), with the limit that the shared promise sets.
    False alarms: derived for the tests (guards/promise.py) as long as the class stays as rare as the start said;
    measured for the gate.
    Silent on purpose: code, tables, quotes, code spans, control tokens in the middle of a sentence about them; a class
    that was there from the start, unless it is a leaked call, role or token in most outputs.
    Options: `warm_up` (40).

        >>> from guards import Output
        >>> import random
        >>> seeded = random.Random(7)
        >>> plain = [f"The crane moved {seeded.randrange(90)} crates and the pier is clear." for _ in range(60)]
        >>> leaky = [text + r" \boxed{done}" if seeded.random() < 0.5 else text for text in plain]
        >>> guard = Markup()
        >>> next(row for row, text in enumerate(plain + leaky) if guard.update(Output(text)).level.name == "TRIP")
        63
    """

    name: ClassVar[str] = "markup"
    kind: ClassVar[Literal["gate", "sequential"]] = "sequential"
    tests: ClassVar[int] = len(CEILING)
    VERSION = 1

    @dataclass(frozen=True, slots=True)
    class Options:
        """The outputs of the start."""

        warm_up: int = options.option(40, 1, 10_000)

    def __init__(self, **given: object) -> None:
        self.options = options.read(self.Options, self.name, given)
        self.reset()

    def reset(self) -> None:
        """Forget the stream."""
        self._classes = {name: _Class(CEILING[name], self.options.warm_up) for name in CEILING}

    def update(self, output: Output) -> Verdict:
        """Judge the next output."""
        if not output.text.strip():
            return Verdict(self.name)
        reading = read(output.text)
        said = leak.bare(reading)
        worst = Verdict(self.name)
        found = leak.leaks(said)
        if "tool" not in found and (output.calls or output.offered) and (calls := leak.calls(reading.structure)):
            found["tool"] = calls
        for name, seen in self._classes.items():
            score = round(seen.update(name in found), 3)
            if score > worst.score:
                worst = self._verdict(name, seen, score, tuple(s for s in found[name] if s in reading.text))
        return self._at_once(reading.text, said, "token" in found) or worst

    def _at_once(self, text: str, said: str, token: bool) -> Verdict | None:
        for span, what, hint in (
            (
                (token and leak.escaped_token(said)) or leak.reserved(text),
                "a control token stands in the text",
                WORDS["token"][1],
            ),
            (leak.run_on(said), "the output runs on into somebody else's turn", WORDS["role"][1]),
            (leak.garbled(said), "words glued out of pieces in several scripts", "Write plain, connected sentences."),
        ):
            if span:
                shown = quote(span, 60)
                said_hint = f"Your last output went wrong at {shown}. {hint}"
                return Verdict(
                    self.name, Level.TRIP, 1.0, f"{what}: {shown}", said_hint, evidence=(span,) if span in text else ()
                )
        return None

    def _verdict(self, name: str, seen: _Class, score: float, spans: tuple[str, ...]) -> Verdict:
        if score < 0.8:
            return Verdict(self.name, Level.PASS, score)
        what, advice = WORDS[name]
        shown = quote(spans[0], 60) if spans else "this one"
        often = f"{seen.lately} of the last {RECENT} outputs"
        reason = f"{what} in {often}, such as {shown}; the stream started without it"
        if seen.at_start:
            reason = f"{what} in {often}, such as {shown}; that is more than at the start"
        level = Level.TRIP if score >= 1 else Level.WARN
        hint = f"{often} carry {what}, such as {shown}. {advice}"
        return Verdict(self.name, level, score, reason, hint[0].upper() + hint[1:], evidence=spans)

    def state(self) -> dict[str, Json]:
        """Return the memory, at most 6 kB with the standard warm-up."""
        return {"version": self.VERSION, **{name: seen.state() for name, seen in self._classes.items()}}

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        check_version(state, self.VERSION)
        for name, seen in self._classes.items():
            seen.load(nested(state, name))


class _Class:
    """One class of markup: whether it was there in the first outputs, how often lately, and its test."""

    def __init__(self, ceiling: float, warm_up: int) -> None:
        self._ceiling, self._warm_up = ceiling, warm_up
        self._first = self._without = self._recent = 0
        self.at_start = False
        self._test = self._fresh()

    def _fresh(self) -> Climb:
        # what was there in the first outputs waits until the whole start has told how often it comes
        early = min(self._ceiling, 0.9) if self.at_start else EARLY
        return Climb(Margin(floor=RARE, early=early, ceiling=self._ceiling, first=FIRST, slack=0.0), self._warm_up)

    @property
    def lately(self) -> int:
        return self._recent.bit_count()

    def update(self, here: bool) -> float:
        """Take whether the next output has it; return the statistic, 0 for an output that has not.

        The test hears of outputs without it when the next one with it comes: most classes never come.
        """
        self._recent = ((self._recent << 1) | here) % (1 << RECENT)
        self._first += self._first < FIRST
        if not here:
            self._without = min(self._without + 1, FORGIVEN)
            return 0.0
        if self._first < FIRST and not self.at_start:
            self.at_start = True
            self._test = self._fresh()
        for _ in range(self._without):
            self._test.update(0.0)
        self._without = 0
        return self._test.update(1.0)

    def state(self) -> dict[str, Json]:
        return {
            "first": self._first,
            "without": self._without,
            "recent": self._recent,
            "at_start": int(self.at_start),
            "test": self._test.state(),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        self._first, self._without = integer(state, "first", FIRST), integer(state, "without", FORGIVEN)
        self._recent, self.at_start = integer(state, "recent", (1 << RECENT) - 1), bool(integer(state, "at_start", 1))
        self._test = self._fresh()
        self._test.load(nested(state, "test"))
