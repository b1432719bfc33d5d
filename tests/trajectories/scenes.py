"""Runs and steps to record: small makers with every part that a trajectory can have."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from daemon.trajectories.database import Database
from daemon.trajectories.guard_states import SqlGuardStates
from daemon.trajectories.in_memory import MemoryGuardStates, MemoryRecorder, MemoryThreads
from daemon.trajectories.lately import Lately
from daemon.trajectories.ledger import SqlLedger
from daemon.trajectories.reading import reading
from daemon.trajectories.record import RunRecord
from daemon.trajectories.recorder import SqlRecorder
from daemon.trajectories.threads import SqlThreadLog
from daemon.types import (
    Heartbeat,
    Message,
    Occurrence,
    Outcome,
    Reply,
    Run,
    Sample,
    Schedule,
    Step,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
)
from guards import Level, Verdict

T = TypeVar("T")

NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
HOST = ToolSpec("host", "Facts of this machine.", {"type": "object", "properties": {"what": {"type": "string"}}})
ASK = Message("user", "Look at the load.", name="host-watch")


class NoonClock:
    """A clock that always says noon."""

    def now(self) -> datetime:
        return NOON

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing here waits")


class SqlKept:
    """Everything of the database side, over one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = Database.open(path)
        lately = Lately()
        self.recorder, self.threads = SqlRecorder(self.database, lately), SqlThreadLog(self.database, lately)
        self.states, self.ledger = SqlGuardStates(self.database), SqlLedger(self.database, NoonClock())

    async def occurrence(self, heartbeat: str, due: datetime) -> Occurrence:
        found = await self.ledger.claim(heartbeat, due, next_due=None)
        assert found is not None
        return found

    def record(self, run_id: str) -> RunRecord | None:
        from daemon.trajectories.records import Records  # half a second that the recording process does without

        with reading(self.path) as view:
            return Records(view).run(run_id)

    def reopen(self) -> None:
        """Come back as a new process would."""
        self.database.close()
        self.__init__(self.path)  # type: ignore[misc]

    def close(self) -> None:
        self.database.close()


class MemoryKept:
    """The same in memory."""

    def __init__(self) -> None:
        self.threads = MemoryThreads()
        self.recorder, self.states = MemoryRecorder(self.threads), MemoryGuardStates()
        self._count = 0

    async def occurrence(self, heartbeat: str, due: datetime) -> Occurrence:
        self._count += 1
        return Occurrence(self._count, heartbeat, due)

    def record(self, run_id: str) -> RunRecord | None:
        return self.recorder.record(run_id)

    def reopen(self) -> None:
        """Memory has no other process to come back as."""

    def close(self) -> None:
        """Nothing is held."""


Kept = SqlKept | MemoryKept


def wait(story: Coroutine[Any, Any, T]) -> T:
    """Run a story to its end."""
    return asyncio.run(story)


def heartbeat(thread: str | None = "watch", name: str = "host-watch") -> Heartbeat:
    return Heartbeat(name, Schedule(every=timedelta(minutes=5)), "Look at the load.", thread, tools=("host",))


async def begun(kept: Kept, number: int = 1, thread: str | None = "watch") -> Run:
    """Claim an occurrence and open the record of its run."""
    beat = heartbeat(thread)
    due = NOON + timedelta(minutes=5 * number)
    run = Run(f"run-{number}", await kept.occurrence(beat.name, due), beat.thread or beat.name, due)
    await kept.recorder.begin(run, beat)
    return run


def ended(run: Run, outcome: Outcome = Outcome.OK, **more: Any) -> Run:
    """Return the run as it ended a minute later."""
    return replace(run, ended_at=run.started_at + timedelta(minutes=1), outcome=outcome, **more)


def sample(prompt: tuple[int, ...], completion: tuple[int, ...]) -> Sample:
    logprobs = tuple(-0.25 * n for n in range(len(completion)))
    return Sample(prompt, completion, logprobs, "m" * 64, "t" * 64, "c" * 64, {"temperature": 0.7, "top_k": 40})


def calling(number: int = 1, prompt: tuple[int, ...] = (1, 2, 3)) -> Step:
    """Return a step that calls a tool and has its result, with a verdict of each kind."""
    call = ToolCall(f"call-{number}", "host", {"what": "load", "deep": {"list": [1, 2.5, None, True, "é\u2028"]}})
    usage = Usage(len(prompt), 2, 4, 0.001, 0.5)
    return Step(
        number,
        NOON + timedelta(seconds=number, microseconds=7),
        (Message("system", "You watch."), ASK),
        Reply("I look.", (call,), "stop", usage, "local", sample(prompt, (10, 11, 12, 4_000_000_000)), "warm"),
        (Verdict("repeat", Level.WARN, 0.9, "twice the same", "say it anew"), Verdict("budget", outcome="timed_out")),
        (ToolResult(call, ok=True, text="0.42 \x00 \U0001f600", seconds=0.01),),
        tools=(HOST,),
    )


def saying(number: int, text: str, prompt: tuple[int, ...] = (), completion: tuple[int, ...] = ()) -> Step:
    """Return a step that only says something."""
    ids = sample(prompt, completion) if prompt else None
    return Step(number, NOON, (ASK,), Reply(text, model="local", sample=ids), tools=(HOST,))
