"""The markup guard: what belongs to a model's machinery and not into its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from guards import leak, options
from guards.base import Guard, Json, Level, Output, Verdict, silent
from guards.memory import check_version, nested
from guards.promise import limit
from guards.rarity import RECENT, Custom, Rarity
from guards.reading import read
from guards.text import quote

STYLE, ODD, WRONG = Custom(1.0, 0.02), Custom(1.0, 0.005, part=0.5), Custom(0.2, 0.005, part=0.5)
"""Text may take to LaTeX, JSON or labelled fields, hardly to calls, speakers and tokens unless it always had them; but
a call in the words of a model that has an interface for calls is wrong however the stream began."""
CLASSES = {"latex": STYLE, "json": STYLE, "field": STYLE, "tool": ODD, "role": ODD, "token": ODD, "call": WRONG}
WORDS = {
    "latex": ("LaTeX", "Nobody renders it here: write plain words and numbers."),
    "tool": ("tool-call syntax", "Call a tool through the interface, never in the text; write plain sentences."),
    "call": ("tool-call syntax", "Call a tool through the interface, never in the text; write plain sentences."),
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
    (latex, json, field, tool, role, token, and call: tool syntax in an output that could call tools): does the class
    come by more often than in the stream's own start? It is silent for 8 outputs. A stream that started without the
    class is compared with one output in 500; from output 300 on, when it is known how rare the class is, with one in
    250 or what those 300 say.
    Source: Shin, Ramdas and Rinaldo 2022 (e-detectors), with the limit that the shared promise sets.
    False alarms: derived for the tests (guards/promise.py) as long as the class stays as rare as the start said;
    measured: of 620 healthy streams of people and agents it trips on an exported log that holds the JSON of its tools,
    and where an agent wrote on as its own reader behind `<|im_end|>`, which is a leak.
    Silent on purpose: code, tables, quotes, code spans; tags that are quoted or around which a sentence goes on, quoted
    control tokens and JSON, except that in the first 8 outputs these tell what a stream is about; the speakers of a
    talk that is on record under a heading; a class that was there from the start, except calls in the words of most
    outputs of a model that can call tools.
    Options: `warm_up` (40), `caution`: years for one false trip of the tests (1).

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
    tests: ClassVar[int] = len(CLASSES)
    VERSION = 1

    Options = options.Sequential
    options: options.Sequential

    def reset(self) -> None:
        """Forget the stream."""
        warm_up, most = self.options.warm_up, limit(self.options.caution)
        self._classes = {name: Rarity(custom, warm_up, most) for name, custom in CLASSES.items()}

    def update(self, output: Output) -> Verdict:
        """Judge the next output."""
        if not output.text.strip():
            return silent(self.name)
        reading = read(output.text)
        said = leak.bare(reading)
        worst = silent(self.name)
        found = leak.leaks(said, reading.text, mentions=self._classes["json"].starting)
        interface = bool(output.calls or output.offered)
        if interface and (calls := found.get("tool") or leak.calls(reading.structure)):
            found["call"] = calls
        for name, seen in self._classes.items():
            if name == "call" and not interface:
                continue
            score = round(seen.update(name in found), 3)
            if score > worst.score:
                worst = self._verdict(name, seen, score, tuple(s for s in found[name] if s in reading.text))
        return self._at_once(reading.text, said, "token" in found) or worst

    def _at_once(self, text: str, said: str, token: bool) -> Verdict | None:
        leaked = (token and leak.escaped_token(said, text)) or leak.reserved(text)
        for span, what, advice in (
            (leaked, "a control token stands in the text", WORDS["token"][1]),
            (leak.run_on(said), "the output runs on into somebody else's turn", WORDS["role"][1]),
            (leak.garbled(said), "words glued out of pieces in several scripts", "Write plain, connected sentences."),
        ):
            if span:
                shown = quote(span, 60)
                hint = f"Your last output went wrong at {shown}. {advice}"
                spans = (span,) if span in text else ()
                return Verdict(self.name, Level.TRIP, 1.0, f"{what}: {shown}", hint, evidence=spans, gate=True)
        return None

    def _verdict(self, name: str, seen: Rarity, score: float, spans: tuple[str, ...]) -> Verdict:
        if Level.of(score) is Level.PASS:
            return silent(self.name, score)
        what, advice = WORDS[name]
        shown = quote(spans[0], 60) if spans else "this one"
        often = f"{seen.lately} of the last {RECENT} outputs"
        reason = f"{what} in {often}, such as {shown}; the stream started without it"
        if seen.at_start:
            reason = f"{what} in {often}, such as {shown}; that is more than at the start"
        level = Level.of(score)
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
