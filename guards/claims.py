"""The claims guard: words about a deed that no tool call did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from guards import options
from guards.base import CallResult, Guard, Json, Level, Output, Verdict, silent
from guards.deeds import deed, over
from guards.memory import check_version, integer
from guards.promise import limit
from guards.sequential import Climb, Margin, load_climb
from guards.text import fingerprint, quote

RECENT = 3
"""Where outputs name no turn, a call that worked speaks for so many outputs after it."""
MARGIN = Margin(floor=0.1, early=0.4, first=4)
"""The lists of verbs misread a reply now and then: one in ten may be about another time in any stream, and two in five
of the first ones, where one weighs more."""


class Claims(Guard):
    """A reply that says something was done ("I have saved the note") when no tool call in its turn did anything.

    Statistic: a reply of at most 120 words without calls that holds a sentence of a deed just done, by lists of verbs
    in English, German, French, Spanish, Italian, Portuguese, Dutch, Russian, Chinese, Japanese and Korean. Gates, where
    the reply was offered tools: no call at all in its turn; or only calls that failed, where "Done." alone is enough.
    Besides the share of such replies among all without calls, as the score of the shared sequential test, in a stream
    that has called tools before. Where outputs name no turn, a call that worked speaks for the three outputs after it.
    Source: a postcondition; "ok" when nothing worked is a reported collapse (verbal-behavioural dissociation); the
    test: Shin, Ramdas and Rinaldo 2022.
    False alarms: the test derived, its share of guards/promise.py; the gates measured, none on the healthy development
    streams, where no tools are offered: a reply about another time in words that the lists do not know is one.
    Silent on purpose: sentences that look back, deny, ask or suppose; longer replies; a call whose result nobody
    recorded counts as one that worked; streams without tools.
    Options: `warm_up` replies without calls (40), `caution`: years for one false trip of the test (1).

        >>> from guards import Call, CallResult, Output
        >>> guard, tools = Claims(), frozenset({"vault"})
        >>> guard.update(Output("I have saved the note.", turn="a", offered=tools)).level.name
        'TRIP'
        >>> guard.update(Output("", (Call("vault"),), turn="b", offered=tools)).level.name
        'PASS'
        >>> guard.observe([CallResult(True, "written")]).level.name
        'PASS'
        >>> guard.update(Output("I have saved the note.", turn="b", offered=tools)).level.name
        'PASS'
    """

    name: ClassVar[str] = "claims"
    kind: ClassVar[Literal["gate", "sequential"]] = "gate"
    tests: ClassVar[int] = 1
    judges_deeds: ClassVar[bool] = True
    VERSION = 1

    Options = options.Sequential
    options: options.Sequential

    def reset(self) -> None:
        """Forget the stream."""
        self._turn = 0
        self._worked = 0  # outputs, or in a named turn any number above 0, for which a call still speaks
        self._failed = False
        self._asked = self._ever = False
        self._share = Climb(MARGIN, self.options.warm_up, limit(self.options.caution))

    def update(self, output: Output) -> Verdict:
        """Judge a reply that calls nothing more."""
        self._settle()
        turn = 0 if output.turn is None else fingerprint(output.turn) + 1
        if turn != self._turn:
            self._turn, self._worked, self._failed = turn, 0, False
        self._asked = bool(output.calls)
        self._ever = self._ever or self._asked
        if output.calls:
            return silent(self.name)
        verdict = self._judge(output, worked=self._worked > 0)
        if not turn:
            self._worked, self._failed = max(0, self._worked - 1), False
        return verdict

    def _settle(self) -> None:
        """A call whose result nobody recorded may have worked."""
        if self._asked:
            self._asked, self._worked = False, RECENT

    def _judge(self, output: Output, worked: bool) -> Verdict:
        if not (output.offered or self._ever):
            return silent(self.name)
        said = "" if worked else over(output.text) if self._failed else deed(output.text)
        score = self._share.update(float(bool(said)))
        if not said:
            return silent(self.name)
        if output.offered:
            why = "every tool call of this turn failed" if self._failed else "no tool was called in this turn"
            outcome: Literal["failed", "tripped"] = "failed" if score < 1 else "tripped"
            return self._verdict(max(1.0, score), f"it says {quote(said)}, and {why}", said, outcome)
        why = f"it says {quote(said)}, and no tool call did it; normal here is {100 * self._share.normal:.0f} % at most"
        return self._verdict(score, why, said, "tripped")

    def _verdict(self, score: float, why: str, said: str, outcome: Literal["failed", "tripped"]) -> Verdict:
        score = round(score, 3)
        if Level.of(score) is Level.PASS:
            return silent(self.name, score)
        hint = f"You said {quote(said, 60)}, but no tool call did that. Call the tool now, or say that it was not done."
        level = Level.of(score)
        return Verdict(self.name, level, score, why, hint, outcome, (said,))

    def observe(self, results: Sequence[CallResult]) -> Verdict:
        """Note whether any of the calls worked."""
        if self._asked and results:
            self._asked = False
            if any(result.ok for result in results):
                self._worked, self._failed = RECENT, False
            else:
                self._failed = self._worked == 0
        return silent(self.name)

    def state(self) -> dict[str, Json]:
        """Return the memory: a few numbers."""
        return {
            "version": self.VERSION,
            "turn": self._turn,
            "worked": self._worked,
            "flags": 4 * self._failed + 2 * self._asked + self._ever,
            "share": self._share.state(),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        check_version(state, self.VERSION)
        self._turn, self._worked = integer(state, "turn"), integer(state, "worked", RECENT)
        flags = integer(state, "flags", 7)
        self._failed, self._asked, self._ever = bool(flags & 4), bool(flags & 2), bool(flags & 1)
        load_climb(self._share, state, "share")
