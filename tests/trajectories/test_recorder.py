"""What every recorder promises: steps come back as they were, replaced ones once, and a run ends once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from daemon.trajectories.reading import reading
from daemon.trajectories.records import Records
from daemon.types import Message, Outcome, Reply, ToolCall, ToolResult, Usage
from tests.trajectories.scenes import ASK, NOON, Kept, SqlKept, begun, calling, ended, sample, saying, wait


def test_a_run_comes_back_exactly_as_it_was_recorded(kept: Kept) -> None:
    """Ids, log-probabilities, messages, tools, verdicts, results and settings: nothing is lost or rounded."""
    steps = (calling(1), replace(saying(2, "All is well."), hint="be brief", withheld=True, edited_by_breaker=True))

    async def story() -> None:
        run = await begun(kept)
        for step in steps:
            await kept.recorder.step(run, step)
        usage = Usage(30, 20, 10, 0.002, 1.5)
        run = ended(run, reason="", steps=2, usage=usage, model="local", commit="c0ffee", said="All is well.")
        await kept.recorder.finish(run, ())
        record = kept.record(run.id)

        assert record is not None
        assert run == record.run
        assert steps == record.steps
        assert "Look at the load." == record.task["instruction"]

    wait(story())


def test_a_step_recorded_again_takes_the_place_of_the_first(kept: Kept) -> None:
    """The results of a step's tools come later, under the same number."""

    async def story() -> None:
        run = await begun(kept)
        whole = calling(1)
        await kept.recorder.step(run, replace(whole, results=(), verdicts=()))
        await kept.recorder.step(run, whole)
        record = kept.record(run.id)

        assert record is not None
        assert (whole,) == record.steps

    wait(story())


def test_an_open_run_has_no_outcome_and_keeps_its_steps(kept: Kept) -> None:
    """What was acknowledged can be read while the run goes on."""

    async def story() -> None:
        run = await begun(kept)
        await kept.recorder.step(run, calling(1))
        record = kept.record(run.id)

        assert record is not None
        assert (None, None) == (record.run.outcome, record.run.ended_at)
        assert 1 == len(record.steps)

    wait(story())


def test_results_keep_their_own_order_and_may_answer_no_call(kept: Kept) -> None:
    """Tools may finish in another order, two calls may be equal, and a denied call may have no result."""
    one, two, lost = ToolCall("a", "host", {}), ToolCall("b", "host", {}), ToolCall("z", "vault", {"n": 2**70})
    results = (
        ToolResult(two, ok=True, text="2"),
        ToolResult(lost, ok=False, text="?"),
        ToolResult(one, ok=True, text="1"),
    )
    step = replace(saying(1, ""), reply=Reply("", (one, two, two)), results=results)

    async def story() -> None:
        run = await begun(kept)
        await kept.recorder.step(run, step)
        record = kept.record(run.id)

        assert record is not None
        assert (step,) == record.steps

    wait(story())


@pytest.mark.parametrize("later", [Outcome.FAILED, Outcome.INTERRUPTED, Outcome.DELIVERY_FAILED])
def test_the_first_end_of_a_run_stays(kept: Kept, later: Outcome) -> None:
    """What goes wrong after a run has ended changes neither how it ended, nor its commit, nor its thread."""

    async def story() -> None:
        run = await begun(kept)
        said = (ASK, Message("assistant", "Quiet.", token_ids=(5, 6), token_model="m" * 64))
        first = ended(run, steps=1, commit="c0ffee", said="Quiet.", model="local", usage=Usage(3, 2, 1, 0.5, 1.0))
        await kept.recorder.finish(first, said)
        again = replace(first, outcome=later, reason="the disk is full", commit=None, said="", ended_at=NOON)
        await kept.recorder.finish(again, (*said, ASK))
        record = kept.record(run.id)

        assert record is not None
        assert first == record.run
        assert said == await kept.threads.live("watch")

    wait(story())


def test_an_end_that_was_owed_keeps_its_commit(kept: Kept) -> None:
    """Where the first end was never written, the one that comes later is whole: its commit and words with it."""

    async def story() -> None:
        run = await begun(kept)
        await kept.recorder.step(run, calling(1))
        owed = ended(run, Outcome.FAILED, reason="the disk is full", steps=1, commit="c0ffee", said="Quiet.")
        await kept.recorder.finish(owed, ())
        record = kept.record(run.id)

        assert record is not None
        assert owed == record.run

    wait(story())


def test_a_second_end_does_not_reopen_the_occurrence(sql: SqlKept) -> None:
    """The due time keeps the end that its run first had."""

    async def story() -> None:
        run = await begun(sql)
        await sql.recorder.finish(ended(run), ())
        await sql.recorder.finish(ended(run, Outcome.INTERRUPTED, reason="trimtab was stopped"), ())
        (row,) = await sql.database.read(lambda c: c.execute("SELECT outcome, reason FROM occurrence").fetchall())

        assert ("ok", "") == tuple(row)

    wait(story())


def test_a_run_without_a_thread_leaves_none_behind(kept: Kept) -> None:
    """`thread: none` is a fresh context each time."""

    async def story() -> None:
        run = await begun(kept, thread=None)
        await kept.recorder.finish(ended(run), (ASK,))

        assert () == await kept.threads.live(run.thread)

    wait(story())


def test_a_run_cannot_finish_without_an_end(kept: Kept) -> None:
    """A record is closed with an outcome and a time, or not at all."""

    async def story() -> None:
        run = await begun(kept)
        with pytest.raises(ValueError, match="no end yet"):
            await kept.recorder.finish(run, ())

    wait(story())


def test_a_step_of_a_run_that_never_began_is_refused(kept: Kept) -> None:
    """A broken order of calls raises, it is not papered over."""

    async def story() -> None:
        run = replace(await begun(kept), id="nobody")
        with pytest.raises(ValueError, match="never begun"):
            await kept.recorder.step(run, calling())

    wait(story())


def test_a_run_whose_beginning_could_not_be_written_still_gets_its_end(kept: Kept) -> None:
    """After a full disk the end is recorded, even where the beginning was not."""

    async def story() -> None:
        run = replace(await begun(kept), id="late")
        await kept.recorder.finish(ended(run, Outcome.FAILED, reason="disk full"), ())
        record = kept.record("late")

        assert record is not None
        assert (Outcome.FAILED, {}) == (record.run.outcome, record.task)

    wait(story())


def test_text_that_utf8_cannot_hold_is_recorded(sql: SqlKept) -> None:
    """Half a surrogate pair from a model's JSON does not end a run."""
    call = ToolCall("\udc00", "host", {"what": "\ud800"})
    step = replace(saying(1, "broken \ud83d here"), reply=Reply("broken \ud83d here", (call,)), hint="\udfff")

    async def story() -> None:
        run = await begun(sql)
        await sql.recorder.step(run, step)
        record = sql.record(run.id)

        assert record is not None
        assert "broken \ufffd here" == record.steps[0].reply.text
        assert "\ud800" == record.steps[0].reply.calls[0].args["what"]

    wait(story())


def test_a_long_thread_costs_what_is_new_in_it(sql: SqlKept) -> None:
    """A prompt that repeats all before it is stored as its end; the sizes do not grow with the thread."""

    async def story() -> list[int]:
        prompt = tuple(range(1000))
        for number in range(1, 150):
            run = await begun(sql, number)
            said = tuple(range(number, number + 20))
            await sql.recorder.step(run, saying(1, "so", prompt, said))
            await sql.recorder.finish(ended(run), ())
            prompt += (*said, 7, 7)
        rows = await sql.database.read(lambda c: c.execute("SELECT length(prompt_rest) FROM step").fetchall())
        record = sql.record("run-149")
        assert record is not None
        assert record.steps[0].reply.sample == sample(prompt[: 1000 + 22 * 148], tuple(range(149, 169)))
        with reading(sql.path) as view:
            assert record == list(Records(view).all())[-1]
        return [row[0] for row in rows]

    sizes = wait(story())

    assert 8 == sorted(sizes)[len(sizes) // 2]
    assert 3 == sum(size > 8 for size in sizes)


def test_a_replaced_sample_leaves_what_stands_on_it_intact(sql: SqlKept) -> None:
    """Even where a step's ids change after the fact, the steps after it are read back as they were."""
    second = saying(2, "b", (1, 2, 3, 4, 5, 6), (7,))

    async def story() -> None:
        run = await begun(sql)
        await sql.recorder.step(run, saying(1, "a", (1, 2, 3), (4, 5)))
        await sql.recorder.step(run, second)
        changed = saying(1, "a", (9, 9), (9,))
        await sql.recorder.step(run, changed)
        third = saying(3, "c", (1, 2, 3, 4, 5, 6, 7, 8), (1,))
        await sql.recorder.step(run, third)
        record = sql.record(run.id)

        assert record is not None
        assert (changed, second, third) == record.steps

    wait(story())


def test_a_new_process_goes_on_with_the_chain(sql: SqlKept) -> None:
    """After a restart the next prompt again stands on the last one."""

    async def first() -> None:
        run = await begun(sql, 1)
        await sql.recorder.step(run, saying(1, "a", tuple(range(100)), (4, 5)))

    async def second() -> None:
        run = await begun(sql, 2)
        await sql.recorder.step(run, saying(1, "b", (*range(100), 4, 5, 6), (7,)))
        rows = await sql.database.read(lambda c: c.execute("SELECT prompt_keep FROM step ORDER BY id").fetchall())
        assert [0, 102] == [row[0] for row in rows]

    wait(first())
    sql.reopen()
    wait(second())
