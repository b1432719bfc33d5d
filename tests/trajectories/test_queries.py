"""Short questions and their answers."""

from __future__ import annotations

from datetime import timedelta

from daemon.trajectories import queries
from daemon.types import Message, Outcome
from tests.trajectories.scenes import ASK, NOON, SqlKept, begun, calling, ended, saying, wait


async def history(sql: SqlKept) -> None:
    """Three runs: one ok, one tripped, one open; two missed times."""
    for number, outcome in ((1, Outcome.OK), (2, Outcome.TRIPPED)):
        run = await begun(sql, number)
        await sql.recorder.step(run, calling(1))
        await sql.recorder.finish(ended(run, outcome, steps=1), (ASK, Message("assistant", "So.", token_ids=(1, 2))))
    await sql.recorder.step(await begun(sql, 3), saying(1, "still"))
    await sql.ledger.miss("host-watch", [NOON - timedelta(hours=n) for n in (1, 2)], "asleep")


def test_runs_are_listed_newest_first(sql: SqlKept) -> None:
    """A listing is limited, filtered by heartbeat and time, and shows runs that go on."""

    async def story() -> None:
        await history(sql)
        read = sql.database.read

        assert ["run-3", "run-2"] == [row["run"] for row in await read(lambda c: queries.runs(c, 2))]
        assert [None, "tripped", "ok"] == [row["outcome"] for row in await read(lambda c: queries.runs(c))]
        assert [] == await read(lambda c: queries.runs(c, heartbeat="other"))
        since = NOON + timedelta(minutes=10)
        assert ["run-3", "run-2"] == [row["run"] for row in await read(lambda c: queries.runs(c, since=since))]

    wait(story())


def test_outcomes_and_misses_are_counted(sql: SqlKept) -> None:
    """Metrics can be set up from what already happened."""

    async def story() -> None:
        await history(sql)
        read = sql.database.read
        counted = {row["outcome"]: row["count"] for row in await read(queries.outcome_counts)}

        assert {"ok": 1, "tripped": 1, "running": 1, "missed": 2} == counted
        assert [{"heartbeat": "host-watch", "reason": "asleep", "count": 2}] == await read(queries.missed_counts)
        assert {"host-watch": "2026-12-01T12:06:00.000000Z"} == await read(queries.last_successes)

    wait(story())


def test_only_ok_is_a_success(sql: SqlKept) -> None:
    """A heartbeat that again and again had nothing to do has not succeeded since."""

    async def story() -> None:
        for number, outcome in ((1, Outcome.OK), (2, Outcome.NOTHING_TO_DO)):
            await sql.recorder.finish(ended(await begun(sql, number), outcome), ())

        assert {"host-watch": "2026-12-01T12:06:00.000000Z"} == await sql.database.read(queries.last_successes)

    wait(story())


def test_cut_off_runs_without_a_commit_are_listed(sql: SqlKept) -> None:
    """Interrupted and failed runs that name no commit, the newest first; others are not asked about."""

    async def story() -> None:
        ends = [Outcome.INTERRUPTED, Outcome.FAILED, Outcome.OK, Outcome.TRIPPED, Outcome.FAILED]
        for number, outcome in enumerate(ends, start=1):
            commit = "c0ffee" if number == 5 else None
            await sql.recorder.finish(ended(await begun(sql, number), outcome, commit=commit), ())
        await begun(sql, 6)
        read = sql.database.read

        assert ["run-2", "run-1"] == await read(queries.runs_without_commit)
        assert ["run-2"] == await read(lambda c: queries.runs_without_commit(c, 1))

    wait(story())


def test_spend_counts_every_step_of_a_time(sql: SqlKept) -> None:
    """Money of ended and of open runs is counted by when the step began."""

    async def story() -> None:
        await history(sql)
        read = sql.database.read

        assert {"usd": 0.002, "tokens": 14, "steps": 3} == await read(lambda c: queries.spend(c, NOON))
        assert 1 == (await read(lambda c: queries.spend(c, NOON, NOON + timedelta(seconds=1))))["steps"]
        assert {"usd": 0.0, "tokens": 0, "steps": 0} == await read(lambda c: queries.spend(c, NOON + timedelta(days=1)))

    wait(story())


def test_verdicts_are_counted_by_guard_and_level(sql: SqlKept) -> None:
    """How often each guard passed, warned and tripped."""

    async def story() -> None:
        await history(sql)
        found = await sql.database.read(queries.verdict_counts)

        assert [("budget", "pass", 2), ("repeat", "warn", 2)] == [(r["guard"], r["level"], r["count"]) for r in found]

    wait(story())


def test_a_thread_shows_its_whole_history(sql: SqlKept) -> None:
    """Compaction hides nothing from a person: each message is there, marked live or not."""

    async def story() -> None:
        await history(sql)
        await sql.threads.compact("watch", Message("user", "Earlier."), 1)
        told = await sql.database.read(lambda c: queries.thread(c, "watch"))
        (listed,) = await sql.database.read(queries.threads)

        assert [ASK.text, "So.", ASK.text, "So.", "Earlier."] == [row["text"] for row in told]
        assert [False, False, False, True, True] == [row["live"] for row in told]
        assert [2, None] == [told[3]["tokens"], told[4]["tokens"]]
        assert (5, 2, 1, 2) == tuple(listed[key] for key in ("messages", "live_messages", "summaries", "runs"))

    wait(story())


def test_plans_and_breakers_are_told(sql: SqlKept) -> None:
    """Status shows when each heartbeat is due next, and which breakers exist; other states are not among them."""

    async def story() -> None:
        await sql.ledger.plan("tick", NOON)
        await sql.ledger.plan("done", None)
        await sql.states.save("watch", {"repeat": {"n": 1}, "breaker:repeat": {"state": "open"}})
        read = sql.database.read

        assert {"tick": "2026-12-01T12:00:00.000000Z", "done": None} == await read(queries.next_due)
        breaker = {"thread": "watch", "guard": "repeat", "state": {"state": "open"}}
        assert [breaker] == await read(queries.breaker_states)

    wait(story())
