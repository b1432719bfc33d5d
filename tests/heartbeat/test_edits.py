"""What an edit of a file, a person's command and a question do to a scheduler that is at work."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from daemon.errors import ConfigError, UsageError

HOUR = 3600


def test_an_edit_takes_effect_within_two_seconds(desk: Any) -> None:
    """A new schedule is kept from two looks after the file was written, without a restart."""
    desk.write("look", "every: 1h")

    async def story() -> None:
        async with desk.running(turn_seconds=1) as scheduler:
            await desk.clock.advance(60)
            desk.write("look", "every: 2m")
            await desk.clock.advance(2)
            assert datetime(2026, 3, 2, 8, 2, tzinfo=UTC) == scheduler.next_due()["look"]
            await desk.clock.advance(60)

    asyncio.run(story())

    assert ["look 08:02:00 at 08:02:00"] == desk.ran


def test_new_words_leave_the_schedule_alone(desk: Any) -> None:
    """An edit of the instruction alone moves no due time, and the next run says the new words."""
    desk.write("look", "every: 30m", "Look.")

    async def story() -> None:
        async with desk.running():
            await desk.clock.advance(1801)
            desk.write("look", "every: 30m", "Look again.")
            await desk.clock.advance(1800)

    asyncio.run(story())

    assert ["Look.", "Look again."] == desk.instructions


def test_a_heartbeat_that_goes_bad_rests_and_says_why(desk: Any) -> None:
    """The last good version is not run; after the repair the times that passed are written down as the file's fault."""
    desk.write("look", "every: 30m")
    desk.write("fine", "every: 1h")

    async def story() -> None:
        async with desk.running() as scheduler:
            await desk.clock.advance(60)
            desk.write("look", "every: often")
            await desk.clock.advance(HOUR + 1200)
            why = scheduler.explain("look").why
            assert why.startswith("it is not scheduled: ")
            assert "every: expected a duration" in why
            assert ("look", None, None) == desk.ear.due[-2]
            desk.write("look", "every: 30m")
            await desk.clock.advance(HOUR)

    asyncio.run(story())

    assert ["02 08:30:00 bad_file", "02 09:00:00 bad_file", "02 09:30:00 ok", "02 10:00:00 ok"] == desk.rows("look")
    assert ["02 09:00:00 ok", "02 10:00:00 ok"] == desk.rows("fine")


def test_a_deleted_heartbeat_is_not_due(desk: Any) -> None:
    """A file that is gone is unscheduled, and one of the same name that comes later starts afresh."""
    desk.write("look", "every: 30m")

    async def story() -> None:
        async with desk.running() as scheduler:
            (desk.path / "look.md").unlink()
            await desk.clock.advance(HOUR + 60)
            assert {} == scheduler.next_due()
            assert ["look"] == desk.ear.removed
            with pytest.raises(UsageError, match="no heartbeat is called 'look'"):
                scheduler.explain("look")
            desk.write("look", "every: 30m")
            await desk.clock.advance(1800)

    asyncio.run(story())

    assert ["02 09:30:00 ok"] == desk.rows("look")


def test_a_paused_heartbeat_has_no_due_times(desk: Any) -> None:
    """`paused: true` writes nothing down while it lasts, across a restart too, and leaves nothing to make up for."""
    desk.write("look", "every: 30m\npaused: true")

    async def story() -> None:
        for _ in range(2):
            async with desk.running() as scheduler:
                await desk.clock.advance(HOUR)
                assert {"look": None} == scheduler.next_due()
                assert "paused in its file" in scheduler.explain("look").why
        async with desk.running():
            desk.write("look", "every: 30m")
            await desk.clock.advance(1801)

    asyncio.run(story())

    assert ["02 10:30:00 ok"] == desk.rows("look")


def test_pausing_after_an_outage_loses_no_row(desk: Any) -> None:
    """What was missed before the pause has its row, though nothing runs."""
    desk.write("look", "every: 30m")

    async def story() -> None:
        async with desk.running():
            await desk.clock.advance(60)
        desk.write("look", "every: 30m\npaused: true")
        await desk.clock.advance(HOUR)
        async with desk.running():
            await desk.clock.advance(HOUR)

    asyncio.run(story())

    assert ["02 08:30:00 beyond_grace", "02 09:00:00 beyond_grace"] == desk.rows("look")


def test_a_schedule_that_changed_while_down_leaves_a_row(desk: Any) -> None:
    """The time that the old schedule had planned is written down as changed, and the new one begins."""
    desk.write("look", "cron: 30 9 * * *")

    async def story() -> None:
        async with desk.running():
            await desk.clock.advance(60)
        desk.write("look", "cron: 0 12 * * *")
        await desk.clock.advance(3 * HOUR)
        async with desk.running():
            await desk.clock.advance(2 * HOUR)

    asyncio.run(story())

    assert ["02 09:30:00 schedule_changed", "02 12:00:00 ok"] == desk.rows("look")


def test_a_person_can_beat(desk: Any) -> None:
    """A manual run is claimed at the present moment, each at one of its own, and leaves the schedule as it was."""
    desk.write("look", "every: 30m")

    async def story() -> list[Any]:
        async with desk.running() as scheduler:
            started = [await scheduler.beat("look")]
            await desk.clock.advance(1)
            assert "done" == await started[0].run
            claimed = [(await scheduler.claim_now("look"))[1] for _ in range(3)]
            assert datetime(2026, 3, 2, 8, 30, tzinfo=UTC) == scheduler.next_due()["look"]
            assert "ran (manual)" in scheduler.explain("look").last
        return [started[0].occurrence, *claimed]

    occurrences = asyncio.run(story())

    assert 4 == len({each.scheduled_for for each in occurrences})
    assert ["08:00:00", "08:00:01"] == [f"{each.scheduled_for:%H:%M:%S}" for each in occurrences[:2]]
    assert all(each.manual for each in occurrences)


def test_a_beat_waits_for_its_thread(desk: Any) -> None:
    """A manual run starts when the thread is free, and is refused while the heartbeat itself runs."""
    desk.write("a", "every: 1h\nthread: shared")
    desk.write("b", "every: 1h\nthread: shared")
    desk.seconds = 60

    async def story() -> None:
        async with desk.running(concurrency=2) as scheduler:
            first = await scheduler.beat("a")
            second = asyncio.create_task(scheduler.beat("b"))
            await desk.clock.advance(30)
            assert not second.done()
            with pytest.raises(UsageError, match="a is running now"):
                await scheduler.beat("a")
            await desk.clock.advance(31)
            assert first.run.done()
            assert "b" == (await second).occurrence.heartbeat
            await desk.clock.advance(60)

    asyncio.run(story())

    assert ["a 08:00:00 at 08:00:00", "b 08:01:00 at 08:01:00"] == desk.ran


def test_a_beat_that_cannot_be_is_refused_with_a_reason(desk: Any) -> None:
    """An unknown name, a bad file, the kill switch and a scheduler that was stopped are told apart."""
    reasons: list[str] = []
    desk.write("look", "every: 30m")
    desk.write("bad", "every: often")

    async def story() -> None:
        async with desk.running(switch=lambda: reasons[0] if reasons else None) as scheduler:
            with pytest.raises(UsageError, match="no heartbeat is called 'lok'; did you mean 'look'"):
                await scheduler.beat("lok")
            with pytest.raises(ConfigError, match="every: expected a duration"):
                await scheduler.beat("bad")
            reasons.append("holiday")
            with pytest.raises(UsageError, match=r"everything is paused \(holiday\)"):
                await scheduler.beat("look")
        with pytest.raises(UsageError, match="trimtab is stopping"):
            await scheduler.beat("look")

    asyncio.run(story())

    assert [] == desk.ran


def test_a_beat_that_waits_is_refused_at_a_stop(desk: Any) -> None:
    """Whoever waits for a run when the daemon stops is told so."""
    desk.write("a", "every: 1h\nthread: shared")
    desk.write("b", "every: 1h\nthread: shared")
    desk.seconds = 60

    async def story() -> None:
        async with desk.running(concurrency=2) as scheduler:
            await scheduler.beat("a")
            waiting = asyncio.create_task(scheduler.beat("b"))
            await desk.clock.advance(5)
        with pytest.raises(UsageError, match="trimtab is stopping"):
            await waiting

    asyncio.run(story())


def test_an_explanation_names_what_holds(desk: Any) -> None:
    """Next due, running, waiting for a thread, and what became of the last due time: each is said."""
    desk.write("a", "every: 1h\nthread: shared\ntimezone: Europe/Berlin\nactive_hours: 08:00-22:00")
    desk.write("b", "every: 1h\nthread: shared")
    desk.write("past", "at: 2020-01-01T00:00")
    desk.seconds = 60

    async def story() -> None:
        async with desk.running() as scheduler:
            explained = scheduler.explain("a")
            assert "every 1h, 08:00-22:00, Europe/Berlin" == explained.schedule
            assert "it is next due at 2026-03-02T09:00:00Z" == explained.why
            assert "it is not due any more" == scheduler.explain("past").why
            assert "2020-01-01T00:00:00Z did not run: beyond_grace" == scheduler.explain("past").last
            await desk.clock.advance(HOUR + 5)
            assert "it is running now" == scheduler.explain("a").why
            assert "it is due and waits: its thread 'shared' is busy with a" == scheduler.explain("b").why
            assert "2026-03-02T09:00:00Z ran" == scheduler.explain("a").last
            assert "2026-03-02T10:00:00Z" == scheduler.explain("a").facts()["next_due"]

    asyncio.run(story())


def test_an_empty_instruction_asks_no_model(desk: Any) -> None:
    """A heartbeat of headings and comments is scheduled and never dispatched; its rows say why."""
    desk.write("todo", "every: 30m", "# Inbox\n<!-- nothing yet -->")

    async def story() -> None:
        async with desk.running() as scheduler:
            with pytest.raises(UsageError, match="todo has no instruction"):
                await scheduler.beat("todo")
            await desk.clock.advance(1801)

    asyncio.run(story())

    assert ([], ["02 08:30:00 empty_instruction"]) == (desk.ran, desk.rows("todo"))


def test_a_resting_heartbeat_says_so(desk: Any) -> None:
    """While the rules let a heartbeat rest, its due times are written down as an open breaker's."""
    desk.write("look", "every: 30m")
    open_breakers = ["repetition"]

    async def resting(heartbeat: Any) -> str | None:
        return open_breakers[0] if open_breakers else None

    async def story() -> None:
        async with desk.running(resting=resting):
            await desk.clock.advance(1801)
            open_breakers.clear()
            await desk.clock.advance(1800)

    asyncio.run(story())

    assert ["02 08:30:00 breaker_open", "02 09:00:00 ok"] == desk.rows("look")
