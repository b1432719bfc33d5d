"""A thread on a desk of its own: real context, guards, loop and vault around a scripted model, a window in words."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from daemon.clock import HeldClock
from daemon.compacting import STREAM, Compacting
from daemon.context.fit import Fit, Window
from daemon.context.gather import Gather
from daemon.loop import Loop
from daemon.memory import VaultMemory
from daemon.models.scripted import Scripted
from daemon.observe.everyone import Everyone
from daemon.panels import Lent
from daemon.recovery import Recovery
from daemon.stages import ThreadLog
from daemon.thread_notes import ThreadNotes
from daemon.tools.toolbox import Setting, Toolbox
from daemon.tools.vault import VaultTool
from daemon.trajectories.in_memory import MemoryGuardStates, MemoryRecorder
from daemon.types import Heartbeat, Message, Occurrence, Prompt, Run, Schedule, Step, ToolSpec
from guards import Guard, Panel
from guards.budget import Budget
from guards.loop import Loop as LoopGuard
from vault import Vault

START = datetime(2026, 11, 20, 21, 0, tzinfo=UTC)
UTC_ZONE = ZoneInfo("UTC")
BEAT = Heartbeat("watch", Schedule(every=timedelta(minutes=5)), "Look around.", "watch", tools=("vault",))


async def in_words(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> int:
    """Count words as tokens."""
    return sum(len(message.text.split()) for message in messages)


@dataclass
class Desk:
    """One agent with one thread; `asks` says whether its model is asked to sum it up, `sums` what it answers then."""

    folder: Path
    words: int = 400
    asks: bool = False
    vault_tool: bool = True
    beat: Heartbeat = BEAT
    recorder: MemoryRecorder = field(default_factory=MemoryRecorder)
    states: MemoryGuardStates = field(default_factory=MemoryGuardStates)
    clock: HeldClock = field(default_factory=lambda: HeldClock(START))
    sums: list[Any] = field(default_factory=list)
    number: int = 0

    def __post_init__(self) -> None:
        self.vault = Vault.create(self.folder / "vault", "trimtab", "trimtab@localhost")
        self.vault.plant({"AGENTS.md": "You keep watch.\n"}, "Begin")
        self.model = Scripted("local", Scripted.Options(), Path())

    @property
    def threads(self) -> ThreadLog:
        """Where the thread is kept."""
        return self.recorder.threads

    def say(self, *replies: Any) -> Run:
        """Carry out a run in which the model says this, after what it is to say while the thread is summed up."""
        return asyncio.run(self.said(*replies))

    async def said(self, *replies: Any) -> Run:
        """Carry out a run."""
        self.number += 1
        now = START + timedelta(minutes=5 * self.number)
        run = Run(f"run-{self.number}", Occurrence(self.number, "watch", now), "watch", now, model="local")
        loop = self._loop(run)
        fit = loop.upkeep.fit  # type: ignore[union-attr]
        long = await fit.long(await loop.upkeep.context.so_far(self.beat, ()))  # type: ignore[union-attr]
        script = [*(self.sums if long and self.asks else []), *replies]
        self.model = Scripted("local", Scripted.Options(replies=tuple(script)), Path())
        loop.model = self.model
        loop = replace(loop, upkeep=replace(loop.upkeep, loop=loop))  # type: ignore[type-var]
        await self.recorder.begin(run, self.beat)
        return await loop.run(self.beat, run)

    def _loop(self, run: Run) -> Loop:
        draft = self.vault.draft()
        window = Window(self.words, in_words)
        gather = Gather(self.threads, window, self._instructions, self._recall, UTC_ZONE)
        setting = Setting("watch", run.id, run.started_at, UTC_ZONE, draft, self.folder)
        tools = Toolbox([VaultTool()] if self.vault_tool else [], setting)
        panel = Panel([LoopGuard(), Budget(steps=12)])
        recovery = Recovery("watch", Lent(panel), self.states, self.clock, 1800, Everyone([]))
        memory = VaultMemory(draft, self.clock)
        loop = Loop(gather, self.model, recovery, tools, memory, self.recorder, self.clock)
        fit = Fit(self.threads, window, 0.6, 2)
        return replace(
            loop, upkeep=Compacting(loop, gather, fit, ThreadNotes(draft), self._guarded if self.asks else None)
        )

    async def _guarded(self, guard: Guard) -> Recovery | None:
        panel = Panel([LoopGuard(), Budget(steps=8), guard])
        return Recovery(f"watch{STREAM}", Lent(panel), self.states, self.clock, 1800, Everyone([]))

    async def _instructions(self) -> str:
        return "You keep watch."

    async def _recall(self, query: str) -> Sequence[tuple[str, str]]:
        return ()

    @property
    def live(self) -> tuple[Message, ...]:
        """What is live of the thread."""
        return asyncio.run(self.threads.live("watch"))

    @property
    def prompt(self) -> Prompt:
        """What the model was shown last."""
        return self.model.prompts[-1]

    def steps(self, number: int) -> tuple[Step, ...]:
        """The recorded steps of a run."""
        record = self.recorder.record(f"run-{number}")
        assert record is not None
        return record.steps

    def notes(self) -> str:
        """Everything that the vault holds of the thread."""
        draft = self.vault.draft()
        return "\n".join(draft.read(path) for path in draft.list("agent"))

    def fill(self, runs: int = 12, about: str = "all is well and there is nothing else to say of it") -> None:
        """Let some quiet runs go by."""
        for _ in range(runs):
            self.say(f"Number {self.number + 1}: {about}.")
