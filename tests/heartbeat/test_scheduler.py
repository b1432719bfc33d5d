"""When heartbeats run, and what is written down when they do not."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from daemon.errors import StorageError

HOUR = 3600


def test_a_cadence_is_anchored_to_the_wall_clock(desk: Any) -> None:
    """Whenever the daemon starts, `every: 30m` is due at :00 and :30, and the start itself runs nothing."""

    async def story() -> None:
        await desk.clock.advance(17 * 60)
        desk.write("look", "every: 30m")
        async with desk.running():
            assert [] == desk.ran
            await desk.clock.advance(HOUR)

    asyncio.run(story())

    assert ["look 08:30:00 at 08:30:00", "look 09:00:00 at 09:00:00"] == desk.ran
    assert ["02 08:30:00 ok", "02 09:00:00 ok"] == desk.rows("look")


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
            await desk.clock.advance(3 * HOUR)

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


def test_a_heartbeat_never_overlaps_itself(desk: Any) -> None:
    """A due time that comes while the heartbeat still runs is skipped, and says so."""
    desk.write("slow", "every: 10m")
    desk.seconds = 25 * 60

    async def story() -> None:
        async with desk.running(concurrency=4):
            await desk.clock.advance(59 * 60)

    asyncio.run(story())

    assert ["slow 08:10:00 at 08:10:00", "slow 08:40:00 at 08:40:00"] == desk.ran
    assert "02 08:20:00 skipped: still running" in desk.rows("slow")
    assert ("slow", "skipped: still running", 1) == desk.ear.missed[0]


def test_with_misfire_all_due_times_wait_for_their_turn(desk: Any) -> None:
    """Under `misfire: all`, what comes due during a run runs after it, in order."""
    desk.write("each", "every: 10m\nmisfire: all\ngrace: 1h")
    desk.seconds = 15 * 60

    async def story() -> None:
        async with desk.running():
            await desk.clock.advance(45 * 60)

    asyncio.run(story())

    assert ["each 08:10:00 at 08:10:00", "each 08:20:00 at 08:25:00", "each 08:30:00 at 08:40:00"] == desk.ran


def test_a_thread_has_one_run_at_a_time(desk: Any) -> None:
    """Two heartbeats of one thread take turns even where there is room; the second is late, not lost."""
    desk.write("first", "every: 1h\nthread: shared")
    desk.write("second", "every: 1h\nthread: shared")
    desk.write("third", "every: 1h")
    desk.seconds = 60

    async def story() -> None:
        async with desk.running(concurrency=4):
            await desk.clock.advance(HOUR + 120)

    asyncio.run(story())

    assert ["first 09:00:00 at 09:00:00", "third 09:00:00 at 09:00:00", "second 09:00:00 at 09:01:00"] == desk.ran


def test_only_so_many_run_at_once(desk: Any) -> None:
    """With a concurrency of one, the runs of an hour follow one another; who waits too long says so."""
    for name in "abc":
        desk.write(name, "every: 1h\ngrace: 90s")
    desk.seconds = 60

    async def story() -> None:
        async with desk.running():
            await desk.clock.advance(HOUR + 5 * 60)

    asyncio.run(story())

    assert ["a 09:00:00 at 09:00:00", "b 09:00:00 at 09:01:00"] == desk.ran
    assert ["02 09:00:00 beyond_grace"] == desk.rows("c")


def test_the_kill_switch_starts_nothing(desk: Any) -> None:
    """While everything is paused, due times are written down as paused; afterwards work goes on."""
    desk.write("look", "every: 30m")

    async def story() -> None:
        async with desk.running() as scheduler:
            scheduler.pause("budget spent")
            await desk.clock.advance(HOUR)
            assert "everything is paused (budget spent)" in scheduler.explain("look").why
            scheduler.resume()
            await desk.clock.advance(1810)

    asyncio.run(story())

    assert ["02 08:30:00 paused", "02 09:00:00 paused", "02 09:30:00 ok"] == desk.rows("look")


def test_the_switch_is_asked_at_every_look(desk: Any) -> None:
    """A kill switch that is a file somewhere needs no call."""
    desk.write("look", "every: 30m")
    reasons: list[str] = ["the file PAUSED is there"]

    async def story() -> None:
        async with desk.running(switch=lambda: reasons[0] if reasons else None):
            await desk.clock.advance(1801)
            reasons.clear()
            await desk.clock.advance(1810)

    asyncio.run(story())

    assert ["02 08:30:00 paused", "02 09:00:00 ok"] == desk.rows("look")


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


def test_an_error_that_leaves_a_dispatch_ends_the_scheduler(desk: Any) -> None:
    """Nothing dies quietly: what a dispatch raises comes out of `run`."""
    desk.write("look", "every: 30m")

    async def broken(heartbeat: object, occurrence: object) -> None:
        raise ZeroDivisionError

    async def story() -> None:
        desk.dispatch = broken
        async with desk.running():
            await desk.clock.advance(1801)

    with pytest.raises(ZeroDivisionError):
        asyncio.run(story())


class BadDisk:
    """A ledger on a disk that fails its writes while `full`, or hangs at claims."""

    def __init__(self, book: Any, *, hang: bool = False) -> None:
        self._book, self._hang, self.full = book, hang, False

    def __getattr__(self, name: str) -> Any:
        if self.full and name != "planned":
            raise StorageError("trimtab.db: cannot be written: No space left on device")
        return self._hung if self._hang and name == "claim" else getattr(self._book, name)

    async def _hung(self, *args: Any, **kwargs: Any) -> None:
        await asyncio.Event().wait()


def test_a_full_disk_is_waited_out(desk: Any, heard: list[Any]) -> None:
    """While nothing can be written nothing runs, which is not said at every look; afterwards work is taken up."""
    desk.write("look", "every: 30m")
    disk = BadDisk(desk.book)

    async def story() -> None:
        async with desk.running(disk) as scheduler:
            await desk.clock.advance(60)
            disk.full = True
            desk.write("more", "every: 1h")
            desk.clock.jump(-40 * 60)
            await desk.clock.advance(HOUR + 11 * 60)
            assert ([], {}) == (desk.ran, desk.book.rows)
            assert scheduler.tick_age() <= 10
            disk.full = False
            await desk.clock.advance(60)
            assert {"look": 9, "more": 9} == {name: due.hour for name, due in scheduler.next_due().items()}

    asyncio.run(story())

    assert ["look 08:30:00 at 08:32:10"] == desk.ran
    assert sum(event["event"] == "scheduler.hindered" for event in heard) in (1, 2)


def test_a_look_that_hangs_shows_in_the_tick(desk: Any) -> None:
    """The age of the tick is small while due work is looked at, and grows when a look does not end."""
    desk.write("look", "every: 30m")

    async def story() -> None:
        async with desk.running(BadDisk(desk.book, hang=True)) as scheduler:
            await desk.clock.advance(1799)
            assert scheduler.tick_age() <= 10
            await desk.clock.advance(301)
            assert scheduler.tick_age() >= 300

    asyncio.run(story())


@pytest.mark.parametrize(("drain", "outcome"), [(120, "ok"), (10, "interrupted")])
def test_a_stop_gives_runs_their_time(desk: Any, drain: int, outcome: str) -> None:
    """At a stop the run in hand may end within the drain time; after it, it is cancelled.  Nothing new starts."""
    desk.write("a", "every: 30m")
    desk.write("b", "every: 30m")
    desk.seconds = 60

    async def story() -> None:
        async with desk.running(drain_seconds=drain):
            await desk.clock.advance(1801)

    asyncio.run(story())

    assert ["a 08:30:00 at 08:30:00"] == desk.ran
    assert [f"02 08:30:00 {outcome}"] == desk.rows("a")
    assert [] == desk.rows("b")


def test_observers_hear_of_lag_and_next_times(desk: Any) -> None:
    """At each claim the observers are told when the heartbeat is due next and how late this run started."""
    desk.write("look", "every: 30m")

    async def story() -> None:
        async with desk.running():
            await desk.clock.advance(60)
        await desk.clock.advance(1750)
        async with desk.running():
            pass

    asyncio.run(story())

    assert ("look", datetime(2026, 3, 2, 8, 30, tzinfo=UTC), 0.0) == desk.ear.due[0]
    assert ("look", datetime(2026, 3, 2, 9, 0, tzinfo=UTC), 10.0) == desk.ear.due[-1]


def test_a_heartbeat_of_every_second_has_a_row_for_every_second(desk: Any) -> None:
    """Second by second, each slot is claimed once."""
    desk.write("fast", "every: 1s")
    desk.seconds = 0.1

    async def story() -> None:
        async with desk.running():
            await desk.clock.advance(30)

    asyncio.run(story())

    assert 30 == len(desk.ran)
    assert [f"02 08:00:{second:02} ok" for second in range(1, 30)] == desk.rows("fast")[:29]
