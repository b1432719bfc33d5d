"""What every ledger promises, in memory or on disk."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from daemon.clock import HeldClock
from daemon.heartbeat.memory_ledger import MemoryLedger
from daemon.stages import Ledger
from daemon.trajectories.database import Database
from daemon.trajectories.ledger import SqlLedger

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
Story = Callable[[Ledger], Coroutine[Any, Any, Any]]


class Shelf(Protocol):
    """Where a kind of ledger lies: each `tell` is a process of its own that opens the same book."""

    def tell(self, story: Story) -> Any:
        """Run a story with the ledger."""


class MemoryShelf:
    """The ledger that dies with its shelf."""

    def __init__(self, _path: Path) -> None:
        self._book = MemoryLedger()

    def tell(self, story: Story) -> Any:
        return asyncio.run(story(self._book))


class SqlShelf:
    """The ledger in the database, closed and opened again between stories."""

    def __init__(self, path: Path) -> None:
        self._path = path / "trimtab.db"

    def tell(self, story: Story) -> Any:
        database = Database.open(self._path)
        try:
            return asyncio.run(story(SqlLedger(database, HeldClock(NOON))))
        finally:
            database.close()


@pytest.fixture(params=[MemoryShelf, SqlShelf], ids=["memory", "sql"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    """A shelf with an empty book of each kind."""
    made: Shelf = request.param(tmp_path)
    return made


def test_a_due_time_is_claimed_once(shelf: Shelf) -> None:
    """A second claim of the same time gets nothing, in this process or a later one; another heartbeat's claim does."""

    async def claim(ledger: Ledger) -> list[Any]:
        return [await ledger.claim(name, NOON, next_due=NOON + HOUR) for name in ("a", "a", "b")]

    first, second, other = shelf.tell(claim)

    assert ("a", NOON, False) == (first.heartbeat, first.scheduled_for, first.manual)
    assert None is second
    assert first.id != other.id
    assert [None, None, None] == shelf.tell(claim)


def test_the_next_time_is_written_with_the_claim(shelf: Shelf) -> None:
    """After a claim the next due time is there in the next process; None is never again."""

    async def claim(ledger: Ledger) -> None:
        assert None is await ledger.planned("a")
        await ledger.claim("a", NOON, next_due=NOON + HOUR)
        await ledger.claim("b", NOON, next_due=None)

    async def planned(ledger: Ledger) -> list[datetime | None]:
        return [await ledger.planned(name) for name in ("a", "b")]

    shelf.tell(claim)

    assert [NOON + HOUR, None] == shelf.tell(planned)


def test_a_refused_claim_changes_no_plan(shelf: Shelf) -> None:
    """A claim that gets nothing leaves the next due time as it was."""

    async def story(ledger: Ledger) -> datetime | None:
        await ledger.claim("a", NOON, next_due=NOON + HOUR)
        await ledger.claim("a", NOON, next_due=NOON + 5 * HOUR)
        return await ledger.planned("a")

    assert NOON + HOUR == shelf.tell(story)


def test_a_manual_claim_leaves_the_plan(shelf: Shelf) -> None:
    """What a person asks for is no part of the schedule, but takes its second."""

    async def story(ledger: Ledger) -> None:
        await ledger.plan("a", NOON + HOUR)
        manual = await ledger.claim("a", NOON, next_due=None, manual=True)
        assert manual is not None
        assert manual.manual
        assert NOON + HOUR == await ledger.planned("a")
        assert None is await ledger.claim("a", NOON, next_due=NOON + HOUR)

    shelf.tell(story)


def test_a_manual_claim_between_seconds_takes_no_due_time(shelf: Shelf) -> None:
    """A run by hand at a moment that is no whole second leaves the due time of that second free."""

    async def story(ledger: Ledger) -> list[Any]:
        moment = NOON + timedelta(microseconds=1)
        first = await ledger.claim("a", moment, next_due=None, manual=True)
        assert first is not None
        assert moment == first.scheduled_for
        assert None is await ledger.claim("a", moment, next_due=None, manual=True)
        return [await ledger.claim("a", NOON, next_due=None)]

    assert [None] != shelf.tell(story)


def test_missed_times_get_the_rows_that_are_free(shelf: Shelf) -> None:
    """A time that has a row keeps it; the others get one each, counted, and cannot be claimed any more."""

    async def story(ledger: Ledger) -> None:
        await ledger.claim("a", NOON, next_due=NOON + HOUR)
        times = [NOON, NOON + HOUR, NOON + 2 * HOUR]
        assert 2 == await ledger.miss("a", times, "missed_down")
        assert 0 == await ledger.miss("a", times, "coalesced")
        assert 0 == await ledger.miss("a", [], "coalesced")
        assert 1 == await ledger.miss("b", [NOON, NOON], "paused")
        assert None is await ledger.claim("a", NOON + HOUR, next_due=NOON + 3 * HOUR)

    shelf.tell(story)


def test_many_misses_are_one_piece_of_work(shelf: Shelf) -> None:
    """Ten thousand rows are written and counted."""

    async def story(ledger: Ledger) -> int:
        return await ledger.miss("a", [NOON + timedelta(seconds=n) for n in range(10_000)], "missed_down")

    assert 10_000 == shelf.tell(story)


def test_a_plan_can_be_changed_and_taken_back(shelf: Shelf) -> None:
    """The last plan counts, and None is one too."""

    async def story(ledger: Ledger) -> list[datetime | None]:
        found = []
        for due in (NOON, NOON + HOUR, None):
            await ledger.plan("a", due)
            found.append(await ledger.planned("a"))
        return found

    assert [NOON, NOON + HOUR, None] == shelf.tell(story)


def test_what_a_dead_process_left_open_is_ended_once(shelf: Shelf) -> None:
    """Recovery returns the claims without an end, once; missed rows are none, and an ended slot stays taken."""

    async def die(ledger: Ledger) -> None:
        await ledger.claim("a", NOON, next_due=NOON + HOUR)
        await ledger.claim("a", NOON + timedelta(seconds=7), next_due=None, manual=True)
        await ledger.miss("a", [NOON - HOUR], "missed_down")

    async def rise(ledger: Ledger) -> list[tuple[str, datetime, bool]]:
        found = await ledger.recover()
        assert None is await ledger.claim("a", NOON, next_due=None)
        return [(each.heartbeat, each.scheduled_for, each.manual) for each in found]

    shelf.tell(die)

    assert [("a", NOON, False), ("a", NOON + timedelta(seconds=7), True)] == shelf.tell(rise)
    assert [] == shelf.tell(rise)


def test_of_many_claimers_one_wins(shelf: Shelf) -> None:
    """However many ask for a due time at the same moment, exactly one gets it."""

    async def story(ledger: Ledger) -> list[Any]:
        claims: list[Awaitable[Any]] = [ledger.claim("a", NOON, next_due=NOON + HOUR) for _ in range(20)]
        return list(await asyncio.gather(*claims))

    assert 19 == shelf.tell(story).count(None)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.sampled_from("cmrp"), st.integers(0, 6)), max_size=25))
def test_no_order_of_calls_gives_a_time_twice(steps: list[tuple[str, int]]) -> None:
    """Whatever is called in whatever order, each time is claimed once or missed once, and never both."""

    async def story(ledger: Ledger) -> None:
        taken: set[int] = set()
        for call, hour in steps:
            time = NOON + hour * HOUR
            if call == "c":
                assert (await ledger.claim("a", time, next_due=None) is not None) == (hour not in taken)
                taken.add(hour)
            elif call == "m":
                assert await ledger.miss("a", [time], "paused") == (hour not in taken)
                taken.add(hour)
            elif call == "r":
                await ledger.recover()
            else:
                await ledger.plan("a", time)
                assert time == await ledger.planned("a")

    MemoryShelf(Path()).tell(story)
