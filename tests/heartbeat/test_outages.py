"""Restarts, outages and clocks that jump: what the rivals got wrong, and what happens here."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

HOUR = 3600


def test_the_evening_job_does_not_run_in_the_morning(desk: Any) -> None:
    """A 19:30 job that was missed yesterday is written down after a restart at 11:00, and runs at 19:30."""
    desk.write("evening", "cron: 30 19 * * *")

    async def story() -> None:
        async with desk.running():
            await desk.clock.advance(HOUR)
        await desk.clock.advance(26 * HOUR)
        async with desk.running():
            assert "03 11:00" == f"{desk.clock.now():%d %H:%M}"
            await desk.clock.advance(8 * HOUR)
            assert [] == desk.ran
            await desk.clock.advance(HOUR)

    asyncio.run(story())

    assert ["evening 19:30:00 at 19:30:00"] == desk.ran
    assert ["02 19:30:00 beyond_grace", "03 19:30:00 ok"] == desk.rows("evening")


@pytest.mark.parametrize(
    ("misfire", "ran", "row"),
    [
        ("run_once", ["brief 08:30:00 at 08:31:05"], "02 08:30:00 ok"),
        ("all", ["brief 08:30:00 at 08:31:05"], "02 08:30:00 ok"),
        ("skip", [], "02 08:30:00 missed_down"),
    ],
)
def test_a_job_whose_minute_fell_into_a_restart_is_not_lost(desk: Any, misfire: str, ran: list[str], row: str) -> None:
    """Down from 8:29:47 to 8:31:05, an 8:30 job runs late or leaves a row, as its file asks."""
    desk.write("brief", f"cron: 30 8 * * *\nmisfire: {misfire}")

    async def story() -> None:
        async with desk.running():
            await desk.clock.advance(29 * 60 + 47)
        await desk.clock.advance(78)
        async with desk.running():
            await desk.clock.advance(60)

    asyncio.run(story())

    assert ran == desk.ran
    assert [row] == desk.rows("brief")


def test_a_clock_set_back_starts_nothing_twice(desk: Any) -> None:
    """After a jump back of more than two hours, the half hours that ran do not run again, and the others go on."""
    desk.write("look", "every: 30m")

    async def story() -> None:
        async with desk.running():
            await desk.clock.advance(2 * HOUR + 60)
            desk.clock.jump(-2 * HOUR - 10 * 60)
            await desk.clock.advance(HOUR + 9 * 60)
            assert datetime(2026, 3, 2, 9, 30, tzinfo=UTC) == await desk.book.planned("look")
            await desk.clock.advance(2 * HOUR - 9 * 60)

    asyncio.run(story())

    assert ["08:30:00", "09:00:00", "09:30:00", "10:00:00", "08:00:00", "10:30:00"] == [
        each.split()[1] for each in desk.ran
    ]
    assert 6 == len(desk.rows("look"))


def test_a_clock_that_was_years_ahead_does_not_silence_a_heartbeat(desk: Any) -> None:
    """When a clock that ran ten years ahead is set right, the next due time is in the next hour, not in ten years."""
    desk.write("look", "every: 1h")

    async def story() -> None:
        desk.clock.jump(10 * 365 * 24 * HOUR)
        async with desk.running() as scheduler:
            await desk.clock.advance(2 * HOUR)
            desk.clock.jump(-10 * 365 * 24 * HOUR)
            await desk.clock.advance(2)
            assert datetime(2026, 3, 2, 11, tzinfo=UTC) == scheduler.next_due()["look"]

    asyncio.run(story())


def test_a_nap_is_not_made_up_for_under_skip(desk: Any) -> None:
    """What came while the machine slept, or the process stood still, is missed under `misfire: skip`."""
    desk.write("look", "every: 30m\nmisfire: skip\ngrace: 2h")

    async def story() -> None:
        async with desk.running():
            await desk.clock.advance(60)
            desk.clock.jump(HOUR)
            await desk.clock.advance(10)

    asyncio.run(story())

    assert ([], ["02 08:30:00 missed_down", "02 09:00:00 missed_down"]) == (desk.ran, desk.rows("look"))


def test_a_nap_is_made_up_for_once(desk: Any) -> None:
    """A machine that slept for nine hours runs a half-hourly heartbeat once when it wakes; the rest is coalesced."""
    desk.write("look", "every: 30m")

    async def story() -> None:
        async with desk.running():
            await desk.clock.advance(60)
            desk.clock.jump(9 * HOUR)
            await desk.clock.advance(10)

    asyncio.run(story())

    assert ["look 17:00:00 at 17:01:00"] == desk.ran
    assert [("look", "coalesced", 17)] == desk.ear.missed


def test_a_clock_that_is_not_set_starts_nothing(desk: Any, heard: list[Any]) -> None:
    """In 1970 nothing runs and nothing is written; when the clock is set, work begins without a heap of missed rows."""
    desk.write("look", "every: 30m")
    now = desk.clock.now()

    async def story() -> None:
        desk.clock.jump(-now.timestamp())
        async with desk.running() as scheduler:
            await desk.clock.advance(5 * HOUR)
            assert ([], {}) == (desk.ran, desk.book.rows)
            assert scheduler.tick_age() <= 10
            desk.clock.jump(now.timestamp())
            await desk.clock.advance(31 * 60)

    asyncio.run(story())

    assert ["02 13:30:00 ok"] == desk.rows("look")
    assert 1 == sum(event["event"] == "clock.unset" for event in heard)


def test_one_moment_is_kept_once(desk: Any) -> None:
    """`at:` runs once, across any number of restarts, and when it passed while the daemon was down it says so."""
    desk.write("once", "at: 2026-03-02T09:00")
    desk.write("late", "at: 2026-03-02T09:00\nmisfire: skip")

    async def story() -> None:
        async with desk.running():
            await desk.clock.advance(60)
        await desk.clock.advance(HOUR)
        for _ in range(3):
            async with desk.running():
                await desk.clock.advance(HOUR)

    asyncio.run(story())

    assert ["once 09:00:00 at 09:01:00"] == desk.ran
    assert ["02 09:00:00 missed_down"] == desk.rows("late")


def test_a_crash_between_runs_of_a_backlog_goes_on_where_it_was(desk: Any) -> None:
    """Each of several late runs of `misfire: all` runs once, whichever of two processes it falls to."""
    desk.write("each", "every: 10m\nmisfire: all\ngrace: 2h")
    desk.seconds = 60

    async def story() -> None:
        async with desk.running():
            await desk.clock.advance(5 * 60)
        await desk.clock.advance(HOUR)
        async with desk.running():
            await desk.clock.advance(150)
        async with desk.running():
            await desk.clock.advance(10 * 60)

    asyncio.run(story())

    assert [f"02 {time}:00" for time in ("08:10", "08:20", "08:30", "08:40", "08:50", "09:00", "09:10")] == [
        row[:11] for row in desk.rows("each")
    ]
    assert 7 == len(desk.ran)
