"""The stream of what an agent writes through its tools, judged by a second set of the guards of words.

It is a stream of its own: a note and the reply beside it often say the same, and would look like repeats of each other.
One set serves every model; it starts anew when a model or prompt speaks that is new here.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from guards.base import Guard, Json, Level, Output, Verdict
from guards.baselines import OWN, fresh, load_each, unreadable
from guards.memory import check_version, integer
from guards.promise import STREAMS
from guards.text import fingerprint
from guards.written import Written, held, words

SUFFIX = "/written"
"""Comes after a guard's name in the memory, as the names of other models do: who forgets a guard forgets both."""
A_RUN = 5
"""Outputs of one run whose notes are held against others: one that files a dozen of one form, a person each, does one
piece of work; and so many that are equal are a repetition in any case."""
VERSION = 1


class Writing:
    """The guards of words once more, over what is written; `guards` are like those of what is said."""

    def __init__(self, guards: Sequence[Guard], written: Written, acknowledged: frozenset[str]) -> None:
        self._guards = [fresh(guard) for guard in guards if guard.judges_words and not guard.judges_deeds]
        self._written, self._acknowledged = written, acknowledged
        self._turn = self._in_turn = 0

    def update(self, output: Output) -> dict[str, Verdict]:
        """Judge the words in an output's calls, if there are any: a verdict of each guard, by its name."""
        text = words(output.calls, self._written)
        if not text:
            return {}
        new = words(output.calls, self._written, whole=False)
        new = new if new and self._counts(output.turn) else ""
        of_all, of_new = (self._shown(output, each) for each in (text, new))
        tools = ", ".join(dict.fromkeys(call.name for call in output.calls if held(call, self._written)))
        found = {}
        for guard in self._guards:
            shown = of_all if guard.kind == "gate" else of_new
            if shown is not None:
                found[guard.name] = _told(guard.update(shown), tools)
        return found

    def _shown(self, output: Output, text: str) -> Output | None:
        """Return an output that says these words and calls nothing, None where there is nothing to judge."""
        judged = text and text.strip() not in self._acknowledged
        return replace(output, text=text, calls=(), offered=None) if judged else None

    def _counts(self, turn: str | None) -> bool:
        """Say whether this output is one of the first of its run that write something new; without a name it is."""
        before, self._turn = self._turn, 0 if turn is None else fingerprint(turn) + 1
        self._in_turn = min(self._in_turn + 1, A_RUN + 1) if self._turn and self._turn == before else 1
        return self._in_turn <= A_RUN

    def reset(self) -> None:
        """Forget the stream."""
        self._turn = self._in_turn = 0
        for guard in self._guards:
            guard.reset()

    def state(self) -> dict[str, dict[str, Json]]:
        """Return the memory by names of its own."""
        own: dict[str, Json] = {"version": VERSION, "turn": self._turn, "in_turn": self._in_turn}
        return {guard.name + SUFFIX: guard.state() for guard in self._guards} | {OWN + SUFFIX: own}

    def load(self, states: Mapping[str, Mapping[str, Any]]) -> list[Verdict]:
        """Continue from `state()`; return a warning for each memory that could not be read."""
        warnings = load_each(self._guards, states, SUFFIX) + self._load_own(states)
        return [replace(verdict, reason=f"of what is written: {verdict.reason}") for verdict in warnings]

    def _load_own(self, states: Mapping[str, Mapping[str, Any]]) -> list[Verdict]:
        own = states.get(OWN + SUFFIX, {"version": VERSION, "turn": 0, "in_turn": 0})
        try:
            check_version(own, VERSION)
            self._turn, self._in_turn = integer(own, "turn"), integer(own, "in_turn", A_RUN + 1)
        except (ValueError, TypeError, AttributeError, KeyError) as problem:
            self._turn = self._in_turn = 0
            return [unreadable(self._guards[0].name if self._guards else OWN, problem)]
        return []


def shared(guard: Guard) -> Guard:
    """Return a fresh guard with its part of the promise: there are as many streams as share it."""
    given: Any = getattr(guard, "options", None)
    new = copy.copy(guard)
    if hasattr(given, "caution"):
        new.options = replace(given, caution=STREAMS * given.caution)
    new.reset()
    return new


def _told(verdict: Verdict, tools: str) -> Verdict:
    """Return the verdict with words that say where the evidence stands."""
    if verdict.level is Level.PASS:
        return verdict
    why = f"in what it writes with {tools}: {verdict.reason}"
    return replace(verdict, reason=why, hint=f"In the text that you gave to {tools}: {verdict.hint}")
