"""The expect guard: a turn that ends without the tool calls that it was for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from guards.base import CallResult, Guard, Json, Level, Output, Verdict, silent
from guards.memory import check_version, integer
from guards.text import fingerprint

_SHOWN = 40


def names(tool: str, args: Mapping[str, object]) -> tuple[str, ...]:
    """Return what a call can be expected as: its tool, and the action of it if it has one ("vault", "vault.append")."""
    action = args.get("action")
    return (tool, f"{tool}.{action}") if isinstance(action, str) else (tool,)


class Expect(Guard):
    """A turn that ends in words although a tool that it was for has not succeeded.

    Statistic: at the reply that asks for no more calls, the expected tools without a successful result in this turn;
    any is a trip.
    Source: a postcondition; models say "done" and have done nothing (verbal-behavioural dissociation).
    False alarms: none by construction; whoever declares a tool wants it called.
    Silent on purpose: without expectations (the default), and for outputs that belong to no turn.
    Options: `tools`, the names of the tools that must succeed, or of their actions ("vault.append").

        >>> from guards import Call, CallResult, Output
        >>> guard = Expect(tools=["vault"])
        >>> guard.update(Output("The note is filed.", turn="a")).level.name
        'TRIP'
        >>> guard.update(Output("", (Call("vault"),), turn="a")).level.name
        'PASS'
        >>> guard.observe([CallResult(True, "appended")]).level.name
        'PASS'
        >>> guard.update(Output("The note is filed.", turn="a")).level.name
        'PASS'
    """

    name: ClassVar[str] = "expect"
    kind: ClassVar[Literal["gate", "sequential"]] = "gate"
    judges_words: ClassVar[bool] = False
    VERSION = 1

    @dataclass(frozen=True, slots=True)
    class Options:
        """The tools that must succeed in every turn."""

        tools: Sequence[str] = ()

    def __init__(self, **given: object) -> None:
        for name in given.keys() - {"tools"}:
            raise ValueError(f"guard 'expect' has no option {name[:40]!r}; it knows tools")
        tools = given.get("tools", ())
        if not isinstance(tools, list | tuple) or not all(isinstance(tool, str) and tool for tool in tools):
            raise ValueError("guard 'expect': option 'tools' should be a list of names of tools")
        self.options = self.Options(tuple(dict.fromkeys(tools)))
        self._tools = tuple(self.options.tools)
        self.reset()

    def reset(self) -> None:
        """Forget the turn."""
        self._turn = 0
        self._worked = [False] * len(self._tools)
        self._asked: tuple[tuple[str, ...], ...] = ()

    def update(self, output: Output) -> Verdict:
        """Trip where a turn ends and something expected is missing."""
        turn = fingerprint(output.turn or "")
        if turn != self._turn:
            self._turn, self._worked = turn, [False] * len(self._tools)
        self._asked = tuple(names(call.name, call.args) for call in output.calls)
        missing = [tool for tool, worked in zip(self._tools, self._worked, strict=True) if not worked]
        if not missing or output.calls or output.turn is None:
            return silent(self.name)
        named = ", ".join(tool[:_SHOWN] for tool in missing)
        return Verdict(
            self.name,
            Level.TRIP,
            1.0,
            f"expected a successful call of {named} in this turn, and there was none",
            f"You ended without a successful call of {missing[0][:_SHOWN]}. Call {missing[0][:_SHOWN]} now.",
            outcome="failed",
        )

    def observe(self, results: Sequence[CallResult]) -> Verdict:
        """Note which of the calls succeeded."""
        for asked, result in zip(self._asked, results, strict=False):
            for name in asked if result.ok else ():
                if name in self._tools:
                    self._worked[self._tools.index(name)] = True
        return silent(self.name)

    def state(self) -> dict[str, Json]:
        """Return the turn and what has succeeded in it; other tools expected means another turn."""
        return {"version": self.VERSION, "turn": self._turn, "worked": [int(worked) for worked in self._worked]}

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue a turn."""
        check_version(state, self.VERSION)
        worked = state.get("worked")
        if not isinstance(worked, list):
            raise ValueError("'worked' should be a list")
        self.reset()
        if len(worked) == len(self._tools):
            self._turn, self._worked = integer(state, "turn"), [bool(flag) for flag in worked]
