"""When heartbeats run, and what is written down when they do not."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from daemon.errors import StorageError, UsageError

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
    """In a pause due times are written down as paused, and why; afterwards work goes on, without a call."""
    desk.write("look", "every: 30m")
    reasons: list[str] = ["budget spent"]

    async def story() -> None:
        async with desk.running(switch=lambda: reasons[0] if reasons else None) as scheduler:
            await desk.clock.advance(HOUR)
            assert "everything is paused (budget spent)" in scheduler.explain("look").why
            reasons.clear()
            await desk.clock.advance(1810)

    asyncio.run(story())

    why = "paused: budget spent"
    assert [f"02 08:30:00 {why}", f"02 09:00:00 {why}", "02 09:30:00 ok"] == desk.rows("look")


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
            desk.write("most", "every: 1h")
            desk.clock.jump(-40 * 60)
            await desk.clock.advance(HOUR + 11 * 60)
            assert ([], {}) == (desk.ran, desk.book.rows)
            assert scheduler.tick_age() <= 10
            disk.full = False
            await desk.clock.advance(60)
            assert {"look": 9, "more": 9, "most": 9} == {name: due.hour for name, due in scheduler.next_due().items()}

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

    assert ("look", datetime(2026, 3, 2, 8, 30, tzinfo=UTC), None) == desk.ear.due[0]
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


def test_a_beat_during_the_drain_is_refused(desk: Any) -> None:
    """Once a stop has begun, nobody waits for a run that will never start."""
    desk.write("a", "every: 1h")
    desk.write("b", "every: 1h")
    desk.seconds = 60

    async def story() -> None:
        async with desk.running(concurrency=2, drain_seconds=30) as scheduler:
            await scheduler.beat("a")
            stopping = asyncio.create_task(desk.clock.advance(10))
            desk.stop()
            await stopping
            with pytest.raises(UsageError, match="trimtab is stopping"):
                await asyncio.wait_for(scheduler.beat("b"), 1)

    asyncio.run(story())

    assert ["a 08:00:00 at 08:00:00"] == desk.ran
