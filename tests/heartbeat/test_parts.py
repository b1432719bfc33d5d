"""The small parts that a scheduler stands on: the clocks, the alarms, the passage of time."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from daemon.clock import HeldClock, SystemClock
from daemon.heartbeat.alarms import ApschedulerAlarms, HeldAlarms
from daemon.heartbeat.passage import Passage, PassageOfTime

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def test_a_held_clock_wakes_sleepers_in_order() -> None:
    """Sleepers wake at their time, in its order, also those that sleep again; one that is cancelled is forgotten."""
    clock, heard = HeldClock(NOON), list[str]()

    async def sleeper(name: str, *naps: float) -> None:
        for nap in naps:
            await clock.sleep(nap)
            heard.append(f"{name} {clock.monotonic():.0f}")

    async def story() -> None:
        tasks = [asyncio.create_task(sleeper("a", 3, 3, 0)), asyncio.create_task(sleeper("b", 5))]
        lazy = asyncio.create_task(sleeper("c", 4))
        await clock.advance(2)
        lazy.cancel()
        await clock.advance(8)
        assert all(task.done() for task in tasks)

    asyncio.run(story())

    assert ["a 3", "b 5", "a 6", "a 6"] == heard
    assert NOON + timedelta(seconds=10) == clock.now()


def test_a_jump_moves_the_wall_and_not_the_time() -> None:
    """After a jump the wall clock is elsewhere; alarms follow it, sleepers do not."""
    clock, rung = HeldClock(NOON), list[float]()
    alarms = HeldAlarms(clock)
    alarms.start(lambda: rung.append(clock.monotonic()))
    alarms.set("a", NOON + timedelta(hours=1))
    alarms.set("b", NOON + timedelta(hours=1))
    alarms.set("b", None)

    async def story() -> None:
        clock.jump(3500)
        await clock.advance(99)
        assert [] == rung
        await clock.advance(2)

    asyncio.run(story())

    assert [100.0] == rung
    alarms.set("a", NOON + timedelta(hours=3))
    alarms.stop()
    alarms.stop()
    asyncio.run(clock.advance(4 * 3600))
    assert [100.0] == rung


def test_the_system_clock_tells_utc() -> None:
    """The real clock is aware, in UTC, and its seconds do not run backwards."""
    clock = SystemClock()
    first = clock.monotonic()
    asyncio.run(clock.sleep(0))

    assert clock.now().tzinfo is UTC
    assert clock.monotonic() >= first


def test_apscheduler_rings_for_what_is_due() -> None:
    """An alarm in the past rings at once, a replaced or removed one does not, and stopping twice is fine."""

    async def story() -> None:
        alarms, rung = ApschedulerAlarms(), asyncio.Event()
        now = datetime.now(UTC)
        alarms.start(rung.set)
        try:
            alarms.set("later", now - timedelta(seconds=1))
            alarms.set("later", now + timedelta(hours=1))
            alarms.set("never", now - timedelta(seconds=1))
            alarms.set("never", None)
            alarms.set("unknown", None)
            await asyncio.sleep(0)
            assert not rung.is_set()
            alarms.set("now", now - timedelta(seconds=1))
            await asyncio.wait_for(rung.wait(), 10)
        finally:
            alarms.stop()
            alarms.stop()
            await asyncio.sleep(0)

    asyncio.run(story())


@pytest.mark.parametrize(
    ("wall", "passed", "seen"),
    [
        (1, 1, Passage.EVEN),
        (-3, 1, Passage.EVEN),
        (5.5, 1, Passage.EVEN),
        (-7200, 1, Passage.BACK),
        (-6, 1, Passage.BACK),
        (7, 1, Passage.GAP),
        (3600, 1, Passage.GAP),
        (600, 600, Passage.GAP),
        (12, 12, Passage.EVEN),
        (-100, 600, Passage.BACK),
    ],
)
def test_uneven_time_is_noticed(wall: float, passed: float, seen: Passage) -> None:
    """A set clock, a sleep and a standstill are told from a second that took a little longer."""
    time = PassageOfTime(turn=1)

    assert Passage.EVEN is time.look(NOON, 100)
    assert seen is time.look(NOON + timedelta(seconds=wall), 100 + passed)
    assert Passage.EVEN is time.look(NOON + timedelta(seconds=wall + 1), 101 + passed)
