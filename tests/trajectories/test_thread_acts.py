"""A thread taken back to an earlier run, or copied up to one: exactly what was live then is live again."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from daemon.errors import UsageError
from daemon.trajectories import queries, thread_search
from daemon.trajectories.reading import reading
from daemon.trajectories.thread_acts import SqlThreadActs
from daemon.types import Message
from tests.trajectories.scenes import SqlKept, begun, ended, wait


async def told(kept: SqlKept, number: int, thread: str = "watch") -> tuple[Message, ...]:
    """Let a run join the thread and return what is live then."""
    said = Message("user", f"Task {number}."), Message("assistant", f"Said {number}.")
    await kept.recorder.finish(ended(await begun(kept, number, thread)), said)
    return await kept.threads.live(thread)


NUMBERS = itertools.count(1)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    some.lists(some.sampled_from(["run", "run", "compact", "rewind"]), max_size=14), some.randoms(use_true_random=False)
)
def test_a_rewind_brings_back_what_was_live_after_any_run(sql: SqlKept, story: list[str], dice: random.Random) -> None:
    """Runs, compactions and rewinds in any order: the thread is again what it was when that run had joined it."""
    thread, acts, lives = f"watch-{next(NUMBERS)}", SqlThreadActs(sql.database), dict[int, tuple[Message, ...]]()

    async def play() -> None:
        for what in story:
            if what == "run":
                number = next(NUMBERS)
                lives[number] = await told(sql, number, thread)
            elif what == "compact" and lives:
                summary = Message("user", f"Summary up to {max(lives)}.", name="summary")
                await sql.threads.compact(thread, summary, dice.randint(0, 3))
            elif lives:
                to = dice.choice(sorted(lives))
                await acts.rewind(thread, to=f"run-{to}")
                assert lives[to] == await sql.threads.live(thread)
                for later in [one for one in lives if one > to]:
                    del lives[later]
        if lives:
            at = dice.choice(sorted(lives))
            await acts.fork(thread, f"{thread}-fork", at=f"run-{at}")
            assert lives[at] == await sql.threads.live(f"{thread}-fork")

    wait(play())


def test_what_is_taken_back_stays_in_the_history_and_is_found(sql: SqlKept) -> None:
    """Nothing is deleted: the mark says that a person took it back, and the search finds it."""

    async def story() -> None:
        for number in (1, 2, 3):
            await told(sql, number)
        await SqlThreadActs(sql.database).rewind("watch", back=2)

    wait(story())
    with reading(sql.path) as view:
        history = queries.thread(view, "watch")
        found = thread_search.search(view, "SAID 3", "watch")

    assert [False, False, True, True, True, True] == [row["taken_back"] for row in history]
    assert [("Said 3.", "run-3", False)] == [(row["excerpt"], row["run"], row["live"]) for row in found]


def test_all_runs_can_be_taken_back(sql: SqlKept) -> None:
    """A thread may begin anew, and goes on from there."""

    async def story() -> None:
        for number in (1, 2):
            await told(sql, number)
        moved = await SqlThreadActs(sql.database).rewind("watch", back=2)
        assert (None, 2) == (moved.run, moved.runs)
        assert () == await sql.threads.live("watch")
        assert 2 == len(await told(sql, 3))

    wait(story())


def test_a_copy_and_its_origin_go_their_own_ways(sql: SqlKept) -> None:
    """What is said in one is not heard in the other, and a compaction of one leaves the other whole."""

    async def story() -> None:
        await told(sql, 1)
        await SqlThreadActs(sql.database).fork("watch", "other")
        await sql.threads.compact("other", Message("user", "Earlier.", name="summary"), 0)
        assert 4 == len(await told(sql, 2))
        assert 1 == len(await sql.threads.live("other"))

    wait(story())


@pytest.mark.parametrize(
    ("to", "back", "why"),
    [
        ("run-9", 0, "run 'run-9' is not in watch"),
        ("run-2", 0, "run 'run-2' is not in watch"),
        (None, 7, "watch has only 1 runs"),
    ],
)
def test_a_point_that_is_not_there_is_refused(sql: SqlKept, to: str | None, back: int, why: str) -> None:
    """A run of another thread, or one that was taken back already, is no place to go to."""

    async def story() -> None:
        live = await told(sql, 1)
        await told(sql, 2)
        acts = SqlThreadActs(sql.database)
        await acts.rewind("watch", back=1)
        with pytest.raises(UsageError, match=why):
            await acts.rewind("watch", to=to, back=back)
        assert live == await sql.threads.live("watch")

    wait(story())


def test_a_thread_is_not_moved_under_a_run(sql: SqlKept) -> None:
    """A run that is under way has read the thread already."""

    async def story() -> None:
        await told(sql, 1)
        await begun(sql, 2)
        with pytest.raises(UsageError, match="run run-2 of watch is under way"):
            await SqlThreadActs(sql.database).rewind("watch", back=1)

    wait(story())


def test_a_copy_needs_a_thread_and_a_new_name(sql: SqlKept) -> None:
    """Nothing is written over."""

    async def story() -> None:
        await told(sql, 1)
        acts = SqlThreadActs(sql.database)
        with pytest.raises(UsageError, match="no thread 'lost'"):
            await acts.fork("lost", "found")
        with pytest.raises(UsageError, match="there is a thread 'watch' already"):
            await acts.fork("watch", "watch")

    wait(story())


def test_a_quarantined_text_does_not_come_back(sql: SqlKept) -> None:
    """What a quarantine took out stays out when the thread is taken back to a time before it."""

    async def story() -> None:
        await told(sql, 1)
        live = await told(sql, 2)
        await sql.threads.show("watch", [None, None, *live[2:]])
        await told(sql, 3)
        await SqlThreadActs(sql.database).rewind("watch", to="run-2")
        assert live[2:] == await sql.threads.live("watch")

    wait(story())
