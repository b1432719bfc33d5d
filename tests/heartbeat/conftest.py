"""What the heartbeat tests share: a scheduler on a desk, with a clock that is held and a ledger that is open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, MutableMapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from structlog.testing import capture_logs

from daemon.clock import HeldClock
from daemon.heartbeat.alarms import HeldAlarms
from daemon.heartbeat.folder import Folder
from daemon.heartbeat.memory_ledger import MemoryLedger
from daemon.heartbeat.rules import Rules
from daemon.heartbeat.scheduler import Scheduler
from daemon.types import Heartbeat, Occurrence, Run, Step


@pytest.fixture(autouse=True)
def heard() -> Iterator[list[MutableMapping[str, Any]]]:
    """The log events of the test, instead of output."""
    with capture_logs() as events:
        yield events


class Ear:
    """An observer that remembers."""

    def __init__(self) -> None:
        self.missed: list[tuple[str, str, int]] = []
        self.due: list[tuple[str, datetime | None, float | None]] = []
        self.removed: list[str] = []

    def run_finished(self, run: Run) -> None: ...

    def step_done(self, run: Run, step: Step) -> None: ...

    def occurrence_missed(self, heartbeat: str, reason: str, count: int) -> None:
        self.missed.append((heartbeat, reason, count))

    def next_due(self, heartbeat: str, at: datetime | None, lag_seconds: float | None) -> None:
        self.due.append((heartbeat, at, lag_seconds))

    def heartbeat_removed(self, heartbeat: str) -> None:
        self.removed.append(heartbeat)

    def breaker_changed(self, thread: str, guard: str, state: int) -> None: ...

    def recovered(self, rung: str, result: str) -> None: ...

    def model_state(self, model: str, up: bool) -> None:
        """Not of interest here."""

    def vault_committed(self, kind: str) -> None:
        """Not of interest here."""


class Desk:
    """One agent's heartbeats: files, a ledger, a clock at 08:00 on Monday 2 March 2026, one scheduler after another."""

    def __init__(self, path: Path) -> None:
        self.path, self.book, self.ear = path, MemoryLedger(), Ear()
        self.clock = HeldClock(datetime(2026, 3, 2, 8, tzinfo=UTC))
        self.ran: list[str] = []
        self.instructions: list[str] = []
        self.seconds = 1.0
        self.dispatch: Callable[[Heartbeat, Occurrence], Any] = self.carry_out
        self.stop: Callable[[], object] = lambda: None

    def write(self, name: str, matter: str, body: str = "Do it.") -> None:
        (self.path / f"{name}.md").write_text(f"---\n{matter}\n---\n{body}\n")

    async def carry_out(self, heartbeat: Heartbeat, occurrence: Occurrence) -> str:
        self.ran.append(f"{heartbeat.name} {occurrence.scheduled_for:%H:%M:%S} at {self.clock.now():%H:%M:%S}")
        self.instructions.append(heartbeat.instruction)
        try:
            await self.clock.sleep(self.seconds)
        except asyncio.CancelledError:
            self.book.end(occurrence, "interrupted")
            raise
        self.book.end(occurrence, "ok")
        return "done"

    def rows(self, name: str) -> list[str]:
        return [
            f"{time:%d %H:%M:%S} {row.text}" for (other, time), row in sorted(self.book.rows.items()) if other == name
        ]

    @asynccontextmanager
    async def running(self, ledger: Any = None, **rules: Any) -> AsyncIterator[Scheduler]:
        """A scheduler at work; an error of its own comes out at the end of the block."""
        await self.book.recover()
        scheduler = Scheduler(
            ledger or self.book,
            lambda heartbeat, occurrence: self.dispatch(heartbeat, occurrence),
            Folder(self.path, ZoneInfo("UTC")),
            self.clock,
            HeldAlarms(self.clock),
            (self.ear,),
            Rules(**{"drain_seconds": 0, "turn_seconds": 10, **rules}),
        )
        task = asyncio.create_task(scheduler.run())
        self.stop = task.cancel
        await self.clock.advance(0)
        try:
            yield scheduler
        finally:
            if not task.done():
                if not task.cancelling():
                    task.cancel()
                await self.clock.advance(rules.get("drain_seconds", 0))
            with suppress(asyncio.CancelledError):
                await task


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk with an empty folder."""
    return Desk(tmp_path)
