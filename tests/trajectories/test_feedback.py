"""What people did to what runs wrote: told once to the thread that wrote it, and part of the run's record."""

from __future__ import annotations

from dataclasses import replace

from daemon.trajectories.feedback import MOST_TOLD, SqlFeedback
from daemon.trajectories.heard import Heard
from daemon.types import Feedback, Message, Outcome, Run
from tests.trajectories.scenes import ASK, NOON, SqlKept, begun, calling, ended, saying, wait

SAID = Feedback(NOON, "Ann", "taken_back", "", "a" * 40, ("people/ann.md",), "She does not.", "+x\n")


def kept(sql: SqlKept) -> SqlFeedback:
    """The feedback of this database."""
    return SqlFeedback(sql.database)


async def over(sql: SqlKept, number: int = 1, outcome: Outcome = Outcome.OK) -> Run:
    """A run that has ended so."""
    run = ended(await begun(sql, number), outcome)
    await sql.recorder.step(run, saying(1, "x"))
    await sql.recorder.finish(run, ())
    return run


def test_it_is_told_once(sql: SqlKept) -> None:
    """The next prompt of the thread has it; when that run went well, no later one has."""

    async def story() -> None:
        wrote = await over(sql)
        said = replace(SAID, run=wrote.id)
        await kept(sql).record(said)
        await kept(sql).record(replace(said, why="again"))
        assert await kept(sql).told("another", 1) == []
        hears = await over(sql, 2)
        assert await kept(sql).told(wrote.thread, hears.occurrence.id) == [said]
        assert await kept(sql).told(wrote.thread, hears.occurrence.id + 1) == []

    wait(story())


def test_after_a_run_that_failed_it_is_told_again(sql: SqlKept) -> None:
    """A run that failed does not join its thread, so that nobody has heard it."""

    async def story() -> None:
        wrote = await over(sql)
        await kept(sql).record(replace(SAID, run=wrote.id))
        fails = await over(sql, 2, Outcome.FAILED)
        assert len(await kept(sql).told(wrote.thread, fails.occurrence.id)) == 1
        assert len(await kept(sql).told(wrote.thread, fails.occurrence.id + 1)) == 1

    wait(story())


def test_much_of_it_comes_in_parts(sql: SqlKept) -> None:
    """One prompt holds only so much, the oldest first."""

    async def story() -> None:
        wrote = await over(sql)
        for number in range(MOST_TOLD + 2):
            await kept(sql).record(replace(SAID, run=wrote.id, commit=f"{number:040x}"))
        first = await kept(sql).told(wrote.thread, (await over(sql, 2)).occurrence.id)
        second = await kept(sql).told(wrote.thread, (await over(sql, 3)).occurrence.id)
        assert [int(said.commit, 16) for said in (*first, *second)] == list(range(MOST_TOLD + 2))
        assert len(first) == MOST_TOLD

    wait(story())


def test_it_is_part_of_the_runs_record(sql: SqlKept) -> None:
    """Whoever reads the run back finds it, word for word."""

    async def story() -> Feedback:
        run = await over(sql)
        said = replace(SAID, run=run.id, paths=("a b.md", "ä.md"), why="\u202e no\n")
        await kept(sql).record(said)
        return said

    said = wait(story())
    record = sql.record(said.run)

    assert record is not None
    assert record.feedback == (said,)


def test_what_a_run_had_read_is_known_by_tool(sql: SqlKept) -> None:
    """Every tool that answered, how often, and whether its words are trusted; None for a run that is not known."""

    async def story() -> str:
        run = await begun(sql)
        for number in (1, 2):
            await sql.recorder.step(run, calling(number))
        await sql.recorder.finish(ended(run), ())
        return run.id

    run_id = wait(story())
    heard = wait(sql.database.read(lambda connection: Heard().by(connection, run_id)))

    assert heard is not None
    assert [(each["calls"], each["untrusted"]) for each in heard] == [(2, True)]
    assert wait(sql.database.read(lambda connection: Heard().by(connection, "nobody"))) is None


def test_what_its_thread_held_is_known_too(sql: SqlKept) -> None:
    """A later run of the same thread is told with the latest run that had read what nobody vouches for."""

    async def story() -> list[str]:
        runs = list[str]()
        for number in (1, 2, 3):
            run = await begun(sql, number)
            if number == 1:
                await sql.recorder.step(run, calling(number))
            await sql.recorder.finish(ended(run), (ASK, Message("assistant", f"It is quiet, {number}.")))
            runs.append(run.id)
        return runs

    first, second, third = wait(story())
    heard = Heard()

    def before(run: str) -> list[dict[str, str]]:
        return wait(sql.database.read(lambda connection: heard.before(connection, run)))

    assert before(first) == []
    assert [each["run"] for each in before(second)] == [first]
    assert before(third) == before(second)
    assert before("nobody") == []
