"""A stage for stories of recovery: a real context, thread and route, and one guard that hears a parrot."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Literal
from zoneinfo import ZoneInfo

from daemon.clock import HeldClock
from daemon.context.fit import Window
from daemon.context.gather import Gather
from daemon.judge import Judge
from daemon.loop import Loop
from daemon.models.router import Router
from daemon.models.scripted import Scripted
from daemon.observe.everyone import Everyone
from daemon.panels import Lent
from daemon.recovery import Recovery
from daemon.stages import Model
from daemon.trajectories.in_memory import MemoryGuardStates, MemoryRecorder
from daemon.types import Heartbeat, Message, Occurrence, Run, Schedule, Step, ToolCall, ToolResult, ToolSpec
from guards import Guard, Level, Output, Panel, Verdict
from guards.budget import Budget

NOW = datetime(2026, 11, 20, 21, 17, tzinfo=UTC)
BEAT = Heartbeat("watch", Schedule(), "Look around.", "watch")
PARROT = "Polly wants a biscuit."


class Parrot(Guard):
    """Trips on a parrot, warns of a squawk, and says where the parrot was heard."""

    name: ClassVar[str] = "parrot"
    kind: ClassVar[Literal["gate", "sequential"]] = "sequential"

    def __init__(
        self, outcome: Literal["tripped", "failed"] = "tripped", evidence: tuple[str, ...] = ("Polly wants a biscuit",)
    ) -> None:
        self.outcome: Literal["tripped", "failed"] = outcome
        self.evidence = evidence

    def reset(self) -> None:
        """It remembers nothing."""

    def update(self, output: Output) -> Verdict:
        """Listen."""
        if "Polly" not in output.text:
            return Verdict(self.name, Level.WARN if "squawk" in output.text else Level.PASS, reason="a squawk")
        return Verdict(self.name, Level.TRIP, 1.0, "a parrot", "No parrots.", self.outcome, self.evidence)

    def state(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def load(self, state: Mapping[str, Any]) -> None:
        """Nothing."""


class Gate(Parrot):
    """The same as a gate."""

    kind: ClassVar[Literal["gate", "sequential"]] = "gate"


class Loosening(Scripted):
    """A scripted model that says other lines when it is loosened, and keeps what it was told to avoid."""

    def __init__(self, name: str, lines: Sequence[Any], loose: Sequence[Any] = ()) -> None:
        super().__init__(name, Scripted.Options(replies=tuple(lines)), Path())
        self.loose = Scripted(name, Scripted.Options(replies=tuple(loose)), Path())
        self.avoided: list[Sequence[str]] = []

    def loosened(self, avoid: Sequence[str]) -> Model:
        """Speak from the other script."""
        self.avoided.append(avoid)
        return self.loose


class Paid(Scripted):
    """A model elsewhere that costs money."""

    local = False


@dataclass
class Hands:
    """One tool, and the calls that were made."""

    called: list[str] = field(default_factory=list)

    def specs(self) -> tuple[ToolSpec, ...]:
        """One tool."""
        return (ToolSpec("look", "Look.", {"type": "object"}),)

    async def run(self, call: ToolCall) -> ToolResult:
        """See a lamp."""
        self.called.append(call.name)
        return ToolResult(call, ok=True, text="a lamp")


class Vault:
    """A memory that keeps nothing and knows what runs said when it was asked to."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def pending(self) -> int:
        """Nothing waits."""
        return 0

    async def keep(self, run: Run) -> str | None:
        """Note what the run said."""
        self.kept.append(run.said)
        return None


class Ear:
    """An observer of rungs only."""

    def __init__(self) -> None:
        self.rungs: list[tuple[str, str]] = []

    def recovered(self, rung: str, result: str) -> None:
        """Note what a rung achieved."""
        self.rungs.append((rung, result))

    def breaker_changed(self, thread: str, guard: str, state: int) -> None:
        """Not of interest here."""

    def model_state(self, model: str, up: bool) -> None:
        """Not of interest here."""


async def _words(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> int:
    return sum(len(message.text.split()) for message in messages)


async def _nothing(_: str) -> tuple[tuple[str, str], ...]:
    return ()


async def _instructions() -> str:
    return "You keep watch."


@dataclass
class Scene:
    """Everything that runs on one thread need, and what they left behind."""

    guards: Sequence[Guard] = field(default_factory=lambda: [Parrot()])
    recorder: MemoryRecorder = field(default_factory=MemoryRecorder)
    states: MemoryGuardStates = field(default_factory=MemoryGuardStates)
    clock: HeldClock = field(default_factory=lambda: HeldClock(NOW))
    hands: Hands = field(default_factory=Hands)
    vault: Vault = field(default_factory=Vault)
    ear: Ear = field(default_factory=Ear)
    judge: Scripted | None = None
    steps_allowed: int | None = None
    tokens_allowed: int | None = None
    number: int = 0
    written: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def past(self, *said: str, name: str = "watch") -> None:
        """Let the agent have said these things in earlier runs."""
        for text in said:
            asked = Message("user", f"Heartbeat {name}, Fri 2026-11-20 20:00 UTC.\nLook around.", name=name)
            self.recorder.threads.append("watch", (asked, Message("assistant", text)))

    def run(self, *models: Model, heartbeat: Heartbeat = BEAT) -> Run:
        """Carry out one occurrence on a route of these models."""
        self.number += 1
        run = Run(f"run-{self.number}", Occurrence(self.number, "watch", self.clock.now()), "watch", self.clock.now())

        async def story() -> Run:
            await self.recorder.begin(run, heartbeat)
            return await self.loop(*models).run(heartbeat, run)

        return asyncio.run(story())

    def loop(self, *models: Model) -> Loop:
        """Return the loop of one run on a route of these models."""
        everyone = Everyone([self.ear])  # type: ignore[list-item]  # it hears of rungs only
        threads, window = self.recorder.threads, Window(10_000, _words)
        context = Gather(threads, window, _instructions, _nothing, ZoneInfo("UTC"), written=self.written)
        judge = None if self.judge is None else Judge(self.judge, 60, "watch")
        budget = Budget(steps=self.steps_allowed, tokens=self.tokens_allowed)
        panel = Panel([*self.guards, budget], written=self.written)
        recovery = Recovery("watch", Lent(panel), self.states, self.clock, 1800, everyone, judge)
        return Loop(context, Router(models, self.clock), recovery, self.hands, self.vault, self.recorder, self.clock)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The recorded steps of the last run."""
        record = self.recorder.record(f"run-{self.number}")
        assert record is not None
        return record.steps

    @property
    def live(self) -> list[str]:
        """What the thread shows to the next run."""
        return [message.text for message in asyncio.run(self.recorder.threads.live("watch"))]

    @property
    def history(self) -> str:
        """All that was ever said in the thread."""
        return "\n".join(message.text for message in self.recorder.threads.histories.get("watch", []))


def says(*lines: Any, name: str = "local") -> Scripted:
    """Return a model of these lines that cannot be loosened."""
    return Scripted(name, Scripted.Options(replies=lines), Path())


def expecting(**changes: Any) -> Heartbeat:
    """Return the heartbeat with changes."""
    return replace(BEAT, **changes)
