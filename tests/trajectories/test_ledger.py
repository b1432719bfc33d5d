"""What the ledger in the database promises beyond the contract that all ledgers keep."""

from __future__ import annotations

import asyncio
from datetime import timedelta, timezone

from daemon.trajectories import queries
from daemon.trajectories.database import Database
from daemon.trajectories.ledger import SqlLedger
from daemon.types import Occurrence, Outcome
from tests.trajectories.scenes import ASK, NOON, NoonClock, SqlKept, begun, calling, ended, wait

LATER = NOON + timedelta(minutes=5)


def test_two_processes_cannot_claim_the_same_time(sql: SqlKept) -> None:
    """The database itself refuses the second claim, whoever makes it."""
    other = Database.open(sql.path)

    async def story() -> None:
        rival = SqlLedger(other, NoonClock())
        claims = [ledger.claim("tick", NOON, next_due=LATER) for ledger in (sql.ledger, rival) * 20]
        won = [claim for claim in await asyncio.gather(*claims) if claim is not None]

        assert [("tick", NOON)] == [(claim.heartbeat, claim.scheduled_for) for claim in won]

    wait(story())
    other.close()


def test_a_claim_that_loses_does_not_move_the_plan(sql: SqlKept) -> None:
    """Claim and plan are one transaction: neither or both."""

    async def story() -> None:
        assert 1 == await sql.ledger.miss("tick", [NOON, NOON], "asleep")
        await sql.ledger.plan("tick", LATER)

        assert None is await sql.ledger.claim("tick", NOON, next_due=None)
        assert LATER == await sql.ledger.planned("tick")

    wait(story())


def test_the_same_moment_in_another_zone_is_the_same_occurrence(sql: SqlKept) -> None:
    """Due times are compared as moments, to the second."""
    elsewhere = NOON.astimezone(timezone(timedelta(hours=5, minutes=30))) + timedelta(microseconds=3)

    async def story() -> None:
        first = await sql.ledger.claim("tick", elsewhere, next_due=elsewhere + timedelta(seconds=1))

        assert Occurrence(1, "tick", NOON) == first
        assert None is await sql.ledger.claim("tick", NOON, next_due=None, manual=True)
        assert NOON + timedelta(seconds=1) == await sql.ledger.planned("tick")

    wait(story())


def test_recovery_ends_open_runs_with_what_they_had_spent(sql: SqlKept) -> None:
    """After a kill a run is interrupted, its steps and its costs are counted, and its thread is as it was before."""

    async def killed() -> str:
        done = await begun(sql, 1)
        await sql.recorder.finish(ended(done), (ASK,))
        run = await begun(sql, 2)
        await sql.recorder.step(run, calling(1))
        await sql.recorder.step(run, calling(2))
        return run.id

    async def restarted(run_id: str) -> None:
        found = await sql.ledger.recover()
        record = sql.record(run_id)

        assert [("host-watch", NOON + timedelta(minutes=10))] == [(o.heartbeat, o.scheduled_for) for o in found]
        assert record is not None
        assert (Outcome.INTERRUPTED, 2, 0.002) == (record.run.outcome, record.run.steps, record.run.usage.usd)
        assert (ASK,) == await sql.threads.live("watch")
        assert [] == await sql.ledger.recover()

    run_id = wait(killed())
    sql.reopen()
    wait(restarted(run_id))


def test_a_cut_off_run_gets_the_commit_that_it_made(sql: SqlKept) -> None:
    """Killed between commit and record, a run is given what the vault has of it; a commit once named stays."""

    async def killed() -> None:
        await sql.recorder.finish(ended(await begun(sql, 1), commit="a" * 40), ())
        await begun(sql, 2)
        await sql.recorder.finish(ended(await begun(sql, 3)), ())

    async def restarted() -> None:
        found = {"run-1": "b" * 40, "run-2": "c" * 40, "run-of-another-agent": "d" * 40}
        assert 0 == await sql.ledger.commits_found(found)  # still open: its own end may yet come
        await sql.ledger.recover()

        assert 1 == await sql.ledger.commits_found(found)
        assert 0 == await sql.ledger.commits_found(found)
        assert 0 == await sql.ledger.commits_found({})
        rows = await sql.database.read(lambda c: queries.runs(c))
        assert [None, "c" * 40, "a" * 40] == [row["commit"] for row in rows]
        assert "interrupted" == rows[1]["outcome"]

    wait(killed())
    sql.reopen()
    wait(restarted())


def test_every_occurrence_says_what_became_of_it(sql: SqlKept) -> None:
    """Ended, missed and running ones are told apart, with reason and run."""

    async def story() -> list[queries.Answer]:
        run = await begun(sql, 1)
        await sql.recorder.finish(ended(run, Outcome.TRIPPED, reason="repeat: again"), ())
        await sql.ledger.miss("host-watch", [NOON], "the machine slept")
        await sql.ledger.claim("host-watch", NOON + timedelta(hours=1), next_due=None, manual=True)
        return await sql.database.read(lambda connection: queries.occurrences(connection, heartbeat="host-watch"))

    told = [(row["status"], row["outcome"], row["reason"], row["run"], row["manual"]) for row in wait(story())]

    assert [
        ("claimed", None, "", None, True),
        ("ended", "tripped", "repeat: again", "run-1", False),
        ("missed", None, "the machine slept", None, False),
    ] == told
