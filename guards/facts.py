"""The facts guard: numbers, paths and units that no tool of the turn has named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from guards.base import CallResult, Guard, Json, Level, Output, Verdict, silent
from guards.memory import check_version, integer, integers
from guards.text import clip, fingerprint, quote

MOST = 2048
"""How many facts of a turn are kept; a turn with more is not judged."""
_EDGES = ".,;:!?()[]{}<>\"'`*_%=≈~"
_MEASURE = re.compile(r"([+-]?\d+(?:\.\d+)?)[A-Za-z%°]*")
_UNIT = re.compile(r".+\.(?:service|timer|socket|mount|path|target|slice|scope)")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:\.md)?|\d{1,2}:\d\d(?::\d\d)?|journal/\S+")


def named(text: str) -> Iterator[str]:
    """Yield what a text states that can be looked up: numbers without measure, paths, units, words with digits."""
    for word in clip(text).split():
        token = word.strip(_EDGES)
        measure = _MEASURE.fullmatch(token)
        if measure:
            yield measure[1].lstrip("+")
        elif token.startswith("/") or _UNIT.fullmatch(token) or any(mark.isdigit() for mark in token):
            yield token


class Facts(Guard):
    """Numbers and names in words or notes that are in nothing that the tools said in this turn.

    Statistic: after a successful result of a source, each number, path, unit name or word with a digit that the
    output states, in its words or in the `text` of its calls, is looked up in all results of the turn; one that is
    not there is a trip.  Dates, times and journal pages are left out.
    Source: a postcondition; small models copy badly and large ones invent.
    False alarms: a model that rightly calculates (a sum, a rounded number) trips; declare sources only where facts are
    to be copied.
    Silent on purpose: without sources (the default), before a source has answered, for outputs that belong to no turn.
    Options: `sources`, the names of the tools whose results are the facts of a turn.

        >>> from guards import Call, CallResult, Output
        >>> guard = Facts(sources=["host"])
        >>> guard.update(Output("", (Call("host"),), turn="a")).level.name
        'PASS'
        >>> guard.observe([CallResult(True, "load 0.31 on 2 cores, disk / 55 % used")]).level.name
        'PASS'
        >>> guard.update(Output("Load is 0.31 and / is 55 % full.", turn="a")).level.name
        'PASS'
        >>> guard.update(Output("Load is 0.37 and /srv is fine.", turn="a")).reason
        'states 0.37, /srv, which no tool said in this turn'
    """

    name: ClassVar[str] = "facts"
    kind: ClassVar[Literal["gate", "sequential"]] = "gate"
    judges_words: ClassVar[bool] = False
    VERSION = 1

    @dataclass(frozen=True, slots=True)
    class Options:
        """The tools whose results are the facts of a turn."""

        sources: Sequence[str] = ()

    def __init__(self, **given: object) -> None:
        for name in given.keys() - {"sources"}:
            raise ValueError(f"guard 'facts' has no option {name[:40]!r}; it knows sources")
        sources = given.get("sources", ())
        if not isinstance(sources, list | tuple) or not all(isinstance(tool, str) and tool for tool in sources):
            raise ValueError("guard 'facts': option 'sources' should be a list of names of tools")
        self.options = self.Options(tuple(sources))
        self.reset()

    def reset(self) -> None:
        """Forget the turn."""
        self._turn, self._answered = 0, False
        self._facts: dict[int, None] = {}
        self._asked: tuple[str, ...] = ()

    def update(self, output: Output) -> Verdict:
        """Look up what an output states."""
        turn = fingerprint(output.turn or "")
        if turn != self._turn:
            self.reset()
            self._turn = turn
        self._asked = tuple(call.name for call in output.calls)
        if not self._answered or output.turn is None or len(self._facts) >= MOST:
            return silent(self.name)
        notes = [text for call in output.calls if isinstance(text := call.args.get("text"), str)]
        stated = dict.fromkeys(fact for text in (output.text, *notes) for fact in named(text))
        strange = [fact for fact in stated if not _MOMENT.fullmatch(fact) and fingerprint(fact) not in self._facts]
        if not strange:
            return silent(self.name)
        shown = ", ".join(fact[:40].encode("unicode_escape").decode() for fact in strange[:4])
        told = quote(", ".join(strange[:4]), 60)
        return Verdict(
            self.name,
            Level.TRIP,
            1.0,
            f"states {shown}, which no tool said in this turn",
            f"You state {told}, which no tool said. Copy numbers and names exactly from the newest result.",
            outcome="failed",
        )

    def observe(self, results: Sequence[CallResult]) -> Verdict:
        """Keep the facts of the results."""
        for tool, result in zip(self._asked, results, strict=False):
            self._answered = self._answered or (result.ok and tool in self.options.sources)
            for fact in named(result.text):
                if len(self._facts) >= MOST:
                    break
                self._facts[fingerprint(fact)] = None
        return silent(self.name)

    def state(self) -> dict[str, Json]:
        """Return the turn and its facts as fingerprints."""
        facts: list[Json] = list(self._facts)
        return {"version": self.VERSION, "turn": self._turn, "answered": int(self._answered), "facts": facts}

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue a turn."""
        check_version(state, self.VERSION)
        turn, answered = integer(state, "turn"), integer(state, "answered", 1)
        facts = integers(state, "facts", MOST)
        self.reset()
        self._turn, self._answered, self._facts = turn, bool(answered), dict.fromkeys(facts)
