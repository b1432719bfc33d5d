"""Months of heartbeats on a held clock, with kills between any two awaits, stops, naps and clocks that jump."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.clock import HeldClock
from daemon.heartbeat.alarms import HeldAlarms
from daemon.heartbeat.due import between
from daemon.heartbeat.folder import Folder
from daemon.heartbeat.memory_ledger import MemoryLedger
from daemon.heartbeat.rules import Rules
from daemon.heartbeat.scheduler import Scheduler
from daemon.heartbeat.trigger import trigger_of
from daemon.types import Heartbeat, Occurrence

START = datetime(2026, 1, 31, 22, 59, 59, tzinfo=UTC)
UTC_ZONE = ZoneInfo("UTC")
MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0


class Killed(BaseException):
    """The process is gone."""


class Mortal:
    """A ledger seen by a process that dies at a certain crossing: before or after one of its awaits."""

    def __init__(self, book: MemoryLedger, crossings: float) -> None:
        self._book, self._left = book, crossings

    def cross(self) -> None:
        self._left -= 1
        if self._left <= 0:
            raise Killed

    async def _call(self, call: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        self.cross()
        await asyncio.sleep(0)
        result = await call()
        self.cross()
        return result

    async def claim(
        self, heartbeat: str, scheduled_for: datetime, *, next_due: datetime | None, manual: bool = False
    ) -> Occurrence | None:
        claimed: Occurrence | None = await self._call(
            lambda: self._book.claim(heartbeat, scheduled_for, next_due=next_due, manual=manual)
        )
        return claimed

    async def miss(self, heartbeat: str, times: Sequence[datetime], reason: str) -> int:
        count: int = await self._call(lambda: self._book.miss(heartbeat, times, reason))
        return count

    async def plan(self, heartbeat: str, next_due: datetime | None) -> None:
        await self._call(lambda: self._book.plan(heartbeat, next_due))

    async def planned(self, heartbeat: str) -> datetime | None:
        planned: datetime | None = await self._call(lambda: self._book.planned(heartbeat))
        return planned

    async def recover(self) -> Sequence[Occurrence]:
        return await self._book.recover()


class World:
    """One machine: its clock, its disk, its ledger, and one process after another."""

    def __init__(self, files: dict[str, str], path: Path, run_seconds: float = 90.0) -> None:
        self.clock, self.book, self.path = HeldClock(START), MemoryLedger(), path
        self.started: list[tuple[str, datetime, datetime]] = []
        self.faults: list[str] = []
        self._running: dict[str, str | None] = {}
        self._run_seconds = run_seconds
        self.scheduler: Scheduler
        self.paused: str | None = None
        self._task: asyncio.Task[None] | None = None
        for name, text in files.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        (self.path / f"{name}.md").write_text(f"---\n{text}\n---\nDo it.\n")

    async def boot(self, crossings: float = float("inf")) -> None:
        """Start a process that dies after so many crossings."""
        await self.book.recover()
        life = Mortal(self.book, crossings)
        self._running.clear()

        async def dispatch(heartbeat: Heartbeat, occurrence: Occurrence) -> None:
            life.cross()
            if heartbeat.name in self._running or heartbeat.thread in self._running.values():
                self.faults.append(f"{heartbeat.name} overlaps {self._running}")
            if occurrence.scheduled_for > self.clock.now():
                self.faults.append(f"{occurrence} is early at {self.clock.now()}")
            self._running[heartbeat.name] = heartbeat.thread
            self.started.append((heartbeat.name, occurrence.scheduled_for, self.clock.now()))
            try:
                await self.clock.sleep(self._run_seconds)
                life.cross()
                self.book.end(occurrence, "ok")
            finally:
                self._running.pop(heartbeat.name, None)

        folder = Folder(self.path, UTC_ZONE)
        rules = Rules(concurrency=2, turn_seconds=HOUR, drain_seconds=0, switch=lambda: self.paused)
        self.scheduler = Scheduler(life, dispatch, folder, self.clock, HeldAlarms(self.clock), (), rules)
        self._task = asyncio.create_task(self.scheduler.run())
        await self.clock.advance(0)

    async def live(self, seconds: float) -> None:
        """Let time pass; a process that died is started again, as systemd does."""
        until = self.clock.monotonic() + seconds
        while self.clock.monotonic() < until:
            await self.clock.advance(min(HOUR, until - self.clock.monotonic()))
            if self._task is not None and self._task.done():
                await self.down()
                await self.boot()

    async def down(self, seconds: float = 0) -> None:
        """End the process, if there is one, and let time pass without it."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await self.clock.advance(0)
            try:
                await task
            except (Killed, asyncio.CancelledError):
                pass
            except BaseExceptionGroup as group:
                if group.split((Killed, asyncio.CancelledError))[1] is not None:
                    raise
        await self.clock.advance(seconds)

    def check(self, heartbeats: dict[str, Heartbeat], *, complete: bool = True) -> None:
        """No slot twice, none early, no overlap; and every slot before the planned one has its row."""
        assert [] == self.faults
        assert [] == [slot for slot, count in Counter(each[:2] for each in self.started).items() if count > 1]
        for name, heartbeat in heartbeats.items():
            due, planned = trigger_of(heartbeat.schedule), self.book._planned[name]
            assert planned is not None
            rows = [time for other, time in self.book.rows if other == name]
            first = START if complete else min(rows, default=planned)
            slots, _ = between(due, first, planned - timedelta(seconds=1), 1_000_000)
            assert [] == [slot for slot in slots if slot not in rows]
            assert planned <= (due.next_after(self.clock.now()) or planned)


OFFICE = {
    "half-hourly": "every: 30m\ntimezone: Europe/Berlin",
    "nightly": "cron: 30 2 * * *\ntimezone: Europe/Berlin\nmisfire: skip",
    "even": "every: 2h\nmisfire: all\ngrace: 6h\nactive_hours: 20:00-06:00\ntimezone: America/New_York",
    "office": "cron: '*/20 8-18 * * mon-fri'\nthread: nightly\ngrace: 2m",
}


async def six_months(seed: int) -> World:
    """Half a year with a fault about every 18 hours."""
    dice = random.Random(seed)
    with TemporaryDirectory() as disk:
        world = World(OFFICE, Path(disk))
        await world.boot()
        while world.clock.monotonic() < 182 * DAY:
            await world.live(dice.expovariate(1 / (18 * HOUR)))
            match dice.randrange(6):
                case 0 | 1:
                    await world.down()
                    await world.boot(crossings=dice.randrange(1, 40))
                case 2:
                    await world.down(dice.choice([30, 10 * MINUTE, 9 * HOUR, 3 * DAY]))
                    await world.boot()
                case 3:
                    world.clock.jump(dice.choice([1, 40, HOUR, 9 * HOUR]))
                case 4:
                    world.clock.jump(-dice.choice([1, 40, 2 * HOUR + 7, 9 * HOUR]))
                case 5:
                    await world.down(47)
                    await world.boot(crossings=dice.randrange(1, 400))
        await world.live(DAY)
        world.check(heartbeats_in(disk))
        await world.down()
    return world


def heartbeats_in(path: str) -> dict[str, Heartbeat]:
    """The heartbeats of the files, as another reader finds them."""
    folder = Folder(Path(path), UTC_ZONE)
    folder.look()
    return dict(folder.heartbeats)


def test_six_months_with_faults() -> None:
    """After half a year of kills, outages and jumping clocks, each slot ran once or says why not; none ran early."""
    world = asyncio.run(six_months(seed=7))
    kinds = Counter(row.text.split(",")[0] for row in world.book.rows.values())

    assert len(world.started) > 5_000
    assert {"ok", "interrupted", "missed_down", "beyond_grace", "coalesced"} <= set(kinds)


faults = st.one_of(
    st.tuples(st.just("live"), st.floats(1, 2 * DAY)),
    st.tuples(st.just("kill"), st.integers(1, 60)),
    st.tuples(st.just("down"), st.floats(0, 3 * DAY)),
    st.tuples(st.just("jump"), st.floats(-3 * DAY, 3 * DAY)),
    st.tuples(st.just("pause"), st.floats(1, DAY)),
)
schedules = st.builds(
    "{}\ntimezone: {}\nmisfire: {}\ngrace: {}{}".format,
    st.sampled_from(
        ["every: 45m", "every: 7h", "every: 1d", "cron: 30 2 * * *", "cron: '0 */3 * * *'", "cron: '15 4 1 * 1'"]
    ),
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo"]),
    st.sampled_from(["skip", "run_once", "all"]),
    st.sampled_from(["0s", "10m", "5h"]),
    st.sampled_from(["", "\nactive_hours: 01:30-09:00", "\nactive_hours: 22:00-05:00"]),
)


async def lived(files: dict[str, str], events: list[tuple[str, float]], run_seconds: float) -> None:
    with TemporaryDirectory() as disk:
        world = World(files, Path(disk), run_seconds)
        await world.boot()
        for kind, amount in events:
            if kind == "live":
                await world.live(amount)
            elif kind == "kill":
                await world.down()
                await world.boot(crossings=amount)
            elif kind == "down":
                await world.down(amount)
                await world.boot()
            elif kind == "jump":
                world.clock.jump(amount)
            else:
                world.paused = "a person said so"
                await world.live(amount)
                world.paused = None
        await world.live(2 * HOUR)
        world.check(heartbeats_in(disk), complete=False)
        await world.down()


@settings(max_examples=60, deadline=None)
@given(
    files=st.dictionaries(st.sampled_from(["a", "b", "c"]), schedules, min_size=1),
    events=st.lists(faults, max_size=8),
    run_seconds=st.sampled_from([0.0, 5.0, 50 * MINUTE]),
)
def test_whatever_happens_no_slot_is_lost_or_run_twice(
    files: dict[str, str], events: list[tuple[str, float]], run_seconds: float
) -> None:
    """For any schedules and any faults: no slot twice, none early, and one row for each that has passed."""
    asyncio.run(lived(files, events, run_seconds))
