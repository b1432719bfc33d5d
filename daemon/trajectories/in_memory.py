"""Recorder, thread log and guard states in dictionaries: the same promises as the database's, but they die with it.

For tests and dry runs.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from daemon.trajectories.record import RunRecord
from daemon.trajectories.rows import task_document
from daemon.types import Heartbeat, Message, Run, Step


@dataclass(slots=True)
class MemoryThreads:
    """Threads as lists: the whole history, and the live part (implements stages.ThreadLog)."""

    histories: dict[str, list[Message]] = field(default_factory=dict)
    lives: dict[str, list[Message]] = field(default_factory=dict)
    fresh_ones: dict[str, int] = field(default_factory=dict)

    async def live(self, thread: str) -> tuple[Message, ...]:
        return tuple(self.lives.get(thread, ()))

    async def fresh(self, thread: str) -> int:
        return min(self.fresh_ones.get(thread, 0), len(self.lives.get(thread, ())))

    async def compact(self, thread: str, summary: Message, keep: int) -> None:
        if keep < 0:
            raise ValueError(f"cannot keep {keep} messages")
        live = self.lives.get(thread, [])
        self.lives[thread] = [summary, *live[max(0, len(live) - keep) :]]
        self.histories.setdefault(thread, []).append(summary)
        self.fresh_ones[thread] = 0

    async def show(self, thread: str, instead: Sequence[Message | None]) -> None:
        live = self.lives.get(thread, [])
        if len(live) != len(instead):
            raise ValueError(f"{len(instead)} messages for the {len(live)} live ones of {thread}")
        self.lives[thread] = [shown for shown in instead if shown is not None]

    def append(self, thread: str, messages: Sequence[Message]) -> None:
        """Add a run's messages to the end."""
        self.lives.setdefault(thread, []).extend(messages)
        self.histories.setdefault(thread, []).extend(messages)
        self.fresh_ones[thread] = self.fresh_ones.get(thread, 0) + len(messages)


@dataclass(slots=True)
class MemoryRecorder:
    """Trajectories as a dictionary of records (implements stages.Recorder)."""

    threads: MemoryThreads = field(default_factory=MemoryThreads)
    _runs: dict[str, Run] = field(default_factory=dict)
    _tasks: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    _steps: dict[str, dict[int, Step]] = field(default_factory=dict)

    async def begin(self, run: Run, heartbeat: Heartbeat, model: str = "") -> None:
        self._runs[run.id], self._tasks[run.id], self._steps[run.id] = run, task_document(heartbeat), {}

    async def step(self, run: Run, step: Step) -> None:
        if run.id not in self._runs:
            raise ValueError(f"run {run.id} was never begun")
        self._steps[run.id][step.number] = step

    async def finish(self, run: Run, thread: Sequence[Message]) -> None:
        if run.outcome is None or run.ended_at is None:
            raise ValueError(f"run {run.id} has no end yet")
        before, task = self._runs.get(run.id), self._tasks.setdefault(run.id, {})
        if before is not None and before.outcome is not None:
            return
        if task.get("thread") is not None:
            self.threads.append(run.thread, thread)
        self._runs[run.id] = run

    def record(self, run_id: str) -> RunRecord | None:
        """Return what was recorded of a run, None if nothing was."""
        if run_id not in self._runs:
            return None
        steps = self._steps.get(run_id, {})
        return RunRecord(self._runs[run_id], self._tasks[run_id], tuple(steps[number] for number in sorted(steps)))


@dataclass(slots=True)
class MemoryGuardStates:
    """Guard states by (thread, guard) (implements stages.GuardStates)."""

    kept: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    stamps: dict[str, str] = field(default_factory=dict)

    async def load(self, thread: str) -> Mapping[str, Mapping[str, Any]]:
        return {guard: self.kept[key, guard] for key, guard in sorted(self.kept) if key == thread}

    async def glance(self, thread: str) -> tuple[str, Mapping[str, Mapping[str, Any]]]:
        found = await self.load(thread)
        return self.stamps.get(thread, ""), {guard: state for guard, state in found.items() if ":" in guard}

    async def heard(self, thread: str) -> Sequence[Any]:
        return ()

    async def add(self, thread: str, since: str, heard: Sequence[Any], states: Mapping[str, Mapping[str, Any]]) -> str:
        """Ask for whole states, always: there is no disk to spare."""
        return ""

    async def save(self, thread: str, states: Mapping[str, Mapping[str, Any]]) -> str:
        if not states:
            return ""
        gone = [key for key in self.kept if key[0] == thread and "/" in key[1] and key[1] not in states]
        for key in gone:
            del self.kept[key]
        self.kept.update({(thread, guard): dict(state) for guard, state in states.items()})
        self.stamps[thread] = secrets.token_hex(8)
        return self.stamps[thread]

    async def forget(self, thread: str | None, guard: str | None) -> int:
        gone = [key for key in self.kept if thread in (None, key[0]) and guard in (None, key[1], key[1].split("/")[0])]
        for key in gone:
            del self.kept[key]
        self.stamps = {of: stamp for of, stamp in self.stamps.items() if thread not in (None, of)}
        return len(gone)

    async def all(self) -> list[tuple[str, str, Mapping[str, Any]]]:
        return [(thread, guard, self.kept[thread, guard]) for thread, guard in sorted(self.kept)]
