"""Nothing is lost: what was recorded, what is read back and what an exported line says are equal."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings

from daemon.trajectories.jsonl import JsonLines
from daemon.trajectories.jsonl_reading import record_from
from daemon.trajectories.reading import reading
from daemon.trajectories.record import Reward, RunRecord, hint_place
from daemon.trajectories.records import Records
from daemon.types import Message, Occurrence, Run, Step, Usage
from tests.trajectories.any_run import RUNS
from tests.trajectories.scenes import ASK, NOON, SqlKept, begun, calling, ended, saying, wait

NUMBERS = count(1)
EVERY_TEST_ITS_OWN = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


def exported(*records: RunRecord) -> str:
    """Return the export of these records."""
    out = io.StringIO()
    JsonLines().write(records, out)
    return out.getvalue()


@settings(max_examples=40, deadline=None, suppress_health_check=EVERY_TEST_ITS_OWN)
@given(steps=RUNS)
def test_any_run_survives_the_database_and_the_export(sql: SqlKept, steps: list[Step]) -> None:
    """Whatever a model, a tool or a person may say, the record read back and the record parsed are the one written."""

    async def story() -> None:
        run = await begun(sql, next(NUMBERS))
        for step in steps:
            await sql.recorder.step(run, step)
        run = ended(run, steps=len(steps), usage=Usage(1, 2, 3, 0.5, 0.25), model="local", said="x", commit="c")
        await sql.recorder.finish(run, ())
        record = sql.record(run.id)

        assert record is not None
        assert run == record.run
        assert sorted(steps, key=lambda step: step.number) == list(record.steps)
        assert record == record_from(exported(record))

    wait(story())


def test_rewards_are_read_and_exported(sql: SqlKept) -> None:
    """Rewards stand by component and verifier version, for a run or for one step of it."""

    async def story() -> None:
        run = await begun(sql)
        await sql.recorder.step(run, calling(1))
        rows = [(1, None, "tests", 0.5, "pytest", "1"), (1, 1, "style", -1.0, "ruff", "2")]
        add = "INSERT INTO reward (run_key, step_id, component, value, verifier, version) VALUES (?, ?, ?, ?, ?, ?)"
        await sql.database.write(lambda c: c.executemany(add, rows))
        record = sql.record(run.id)

        assert record is not None
        assert (Reward("tests", 0.5, "pytest", "1"), Reward("style", -1.0, "ruff", "2", step=1)) == record.rewards
        assert record == record_from(exported(record))

    wait(story())


def test_a_line_of_another_kind_is_refused() -> None:
    """A reader of exports does not guess."""
    for line in ('{"schema": "trimtab-run/99"}', "[]"):
        with pytest.raises(ValueError, match="not a line of trimtab-run/1"):
            record_from(line)


def bad_and_retry() -> tuple[Step, Step]:
    """Return a turn that was withheld, and the attempt that was told why."""
    bad = replace(saying(1, "again again", (1, 2, 3), (9, 9)), withheld=True, hint="say it once")
    hint = Message("user", "Hint: say it once")
    return bad, replace(saying(2, "once", (1, 2, 3, 50, 51), (7,)), sent=(ASK, hint))


def test_the_export_says_where_the_hint_was_put() -> None:
    """A hint is found in the next attempt: which message, and after how many ids the two prompts part."""
    bad, retry = bad_and_retry()
    run = Run("r", Occurrence(1, "watch", NOON), "watch", NOON)
    row = json.loads(exported(RunRecord(run, {}, (bad, retry))))

    place = {"step": 2, "message": 1, "role": "user", "at_token": 3}
    assert {"text": "say it once", "place": place} == row["steps"][0]["hint"]
    assert None is row["steps"][1]["hint"]
    assert [1, 1] == row["steps"][0]["sample"]["mask"]


def test_a_hint_that_nobody_was_given_has_no_place() -> None:
    """The last step's hint was never put anywhere."""
    bad, _ = bad_and_retry()

    assert None is hint_place((bad,), 0)
    assert None is hint_place((bad, saying(2, "else")), 0)


def test_records_are_read_in_order_and_by_filter(sql: SqlKept) -> None:
    """An export takes runs in the order in which they began, from a time on, of one heartbeat."""

    async def story() -> None:
        for number in (2, 1, 3):
            await begun(sql, number)
        with reading(sql.path) as view:
            records = Records(view)
            assert ["run-2", "run-1", "run-3"] == [record.run.id for record in records.all()]
            since = next(records.all()).run.started_at
            assert ["run-2", "run-3"] == [record.run.id for record in records.all(since=since)]
            assert [] == list(records.all(heartbeat="other"))
            assert None is records.run("nobody")

    wait(story())
