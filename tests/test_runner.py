"""Every occurrence becomes exactly one recorded run, whatever happens inside it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

import pytest

from daemon.clock import HeldClock
from daemon.errors import ModelError, ModelUnavailable, StorageError
from daemon.loop import Loop
from daemon.observe.everyone import Everyone
from daemon.runner import Runner
from daemon.trajectories.in_memory import MemoryRecorder
from daemon.types import Heartbeat, Message, Occurrence, Outcome, Run, Schedule, Step
from guards import Breaker
from tests.way_back import PARROT, Gate, Scene, says

NOW = datetime(2026, 11, 20, 21, 17, tzinfo=UTC)
BEAT = Heartbeat("watch", Schedule(), "Look.", "watch")


class FullDisk(MemoryRecorder):
    """A recorder whose disk is full for the next so many ends."""

    refusals = 0

    async def finish(self, run: Run, thread: Sequence[Message]) -> None:
        """Refuse while the disk is full."""
        if self.refusals:
            self.refusals -= 1
            raise StorageError("trimtab.db: the disk is full")
        await super().finish(run, thread)


class Ears(Everyone):
    """An observer that keeps the ends it hears of."""

    def __init__(self) -> None:
        super().__init__([])
        self.heard: list[Run] = []

    def run_finished(self, run: Run) -> None:
        """Remember the end."""
        self.heard.append(run)


def carried_out(recorder: MemoryRecorder, *failures: BaseException) -> list[Run]:
    """Carry out one occurrence for each failure; return what an observer heard."""
    ears, pending = Ears(), list(failures)

    async def assemble(heartbeat: Heartbeat, run: Run) -> Loop:
        raise pending.pop(0)

    async def scenario() -> None:
        runner = Runner(assemble, recorder, [ears], HeldClock(NOW))
        for number in range(len(failures)):
            await runner(BEAT, Occurrence(number, "watch", NOW))

    asyncio.run(scenario())
    return ears.heard


@pytest.mark.parametrize(
    ("failure", "outcome", "reason"),
    [
        (ModelUnavailable("local: no answer"), Outcome.MODEL_UNAVAILABLE, "local: no answer"),
        (ModelError("local: nonsense"), Outcome.FAILED, "local: nonsense"),
        (ZeroDivisionError("nobody\nforesaw this"), Outcome.FAILED, "ZeroDivisionError: nobody foresaw this"),
    ],
)
def test_a_failure_is_recorded_and_goes_no_further(failure: Exception, outcome: Outcome, reason: str) -> None:
    """Each kind of failure ends the run with its outcome and one line, and the caller sees a run, not an exception."""
    recorder = MemoryRecorder()
    (run,) = carried_out(recorder, failure)
    record = recorder.record(run.id)

    assert (outcome, reason) == (run.outcome, run.reason)
    assert record is not None
    assert record.run == run


def test_a_cancelled_run_is_recorded_as_interrupted() -> None:
    """SIGTERM in the middle of a run leaves a row, and the cancellation goes on."""
    recorder, ears = MemoryRecorder(), Ears()

    async def assemble(heartbeat: Heartbeat, run: Run) -> Loop:
        await asyncio.sleep(3600)
        raise AssertionError

    async def scenario() -> None:
        runner = Runner(assemble, recorder, [ears], HeldClock(NOW))
        task = asyncio.create_task(runner(BEAT, Occurrence(1, "watch", NOW)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())

    assert [Outcome.INTERRUPTED] == [run.outcome for run in ears.heard]
    record = recorder.record(ears.heard[0].id)
    assert record is not None
    assert record.run.outcome is Outcome.INTERRUPTED


def test_an_end_that_could_not_be_written_is_written_before_the_next_run() -> None:
    """A full disk at the end of a run is told, and its end is on the disk once there is space again."""
    recorder = FullDisk()
    recorder.refusals = 1
    first, second = carried_out(recorder, ModelUnavailable("gone"), ModelUnavailable("still gone"))

    records = [recorder.record(run.id) for run in (first, second)]

    assert [Outcome.MODEL_UNAVAILABLE] * 2 == [record.run.outcome for record in records if record is not None]


def test_steps_are_heard_of_once_they_are_whole() -> None:
    """A step with calls is recorded before and after them, and told once."""
    from daemon.observe.everyone import ObservedRecorder
    from daemon.types import Reply, ToolCall, ToolResult

    heard: list[Step] = []

    class Teller(Everyone):
        """An observer that keeps steps."""

        def step_done(self, run: Run, step: Step) -> None:
            """Remember the step."""
            heard.append(step)

    call = ToolCall("1", "host", {})
    asked = Step(1, NOW, (), Reply("", (call,)))
    done = Step(1, NOW, (), Reply("", (call,)), results=(ToolResult(call, True, "load 0.1"),))
    spoke = Step(2, NOW, (), Reply("All is well."))
    run = Run("r", Occurrence(1, "watch", NOW), "watch", NOW)

    async def scenario() -> None:
        recorder = ObservedRecorder(MemoryRecorder(), Teller([]))
        await recorder.begin(run, BEAT)
        for step in (asked, done, done, spoke):
            await recorder.step(run, step)

    asyncio.run(scenario())

    assert [done, spoke] == heard


def test_the_id_of_a_run_says_when_and_is_its_own() -> None:
    """A run's id sorts by time and is not shared by two runs of one second."""
    recorder = MemoryRecorder()
    first, second = carried_out(recorder, ModelError("a"), ModelError("b"))

    assert first.id != second.id
    assert first.id.startswith("20261120T211700-")


def test_a_run_that_had_ended_keeps_its_end() -> None:
    """What fails after a run is over (its guards' memory, say) does not rewrite how it ended."""
    recorder, ears = MemoryRecorder(), Ears()

    class Ended:
        """A loop that ended ok, with its commit, and then fails."""

        latest: Run | None = None
        recovery = type("Closed", (), {"close": staticmethod(lambda outcome: asyncio.sleep(0))})

        async def run(self, heartbeat: Heartbeat, run: Run) -> Run:
            """End, then fail."""
            self.latest = replace(run, ended_at=NOW, outcome=Outcome.OK, commit="c0ffee")
            await recorder.finish(self.latest, ())
            raise StorageError("trimtab.db: the disk is full")

    async def assemble(heartbeat: Heartbeat, run: Run) -> Loop:
        return cast("Loop", Ended())

    asyncio.run(Runner(assemble, recorder, [ears], HeldClock(NOW))(BEAT, Occurrence(1, "watch", NOW)))

    assert (Outcome.OK, "c0ffee") == (ears.heard[0].outcome, ears.heard[0].commit)


@pytest.mark.parametrize("refusals", [1, 2])
def test_a_breaker_is_written_however_late_the_record_is(refusals: int) -> None:
    """Where the end of a collapsed run cannot be written, its breaker opens once there is space again, and once."""
    recorder = FullDisk()
    recorder.refusals = refusals
    scene = Scene(guards=[Gate()], recorder=recorder)
    loops = [scene.loop(says(PARROT, PARROT)), None]

    async def assemble(heartbeat: Heartbeat, run: Run) -> Loop:
        loop = loops.pop(0)
        if loop is None:
            raise ModelUnavailable("gone")
        return loop

    async def scenario() -> None:
        runner = Runner(assemble, recorder, [], scene.clock)
        for number in range(2):
            await runner(BEAT, Occurrence(number, "watch", NOW))

    asyncio.run(scenario())
    state = scene.states.kept["watch", "breaker:parrot"]
    once = Breaker(1800)
    once.trip(NOW.timestamp())

    assert state == once.state()


def test_guards_that_were_never_read_are_not_written_over() -> None:
    """A run that fails before its guards' memory was loaded leaves it as it is."""
    scene = Scene()
    asyncio.run(scene.states.save("watch", {"parrot": {"kept": 1}}))

    async def assemble(heartbeat: Heartbeat, run: Run) -> Loop:
        loop = scene.loop(says("I saw a lamp."))
        await loop.recovery.close(Outcome.FAILED)
        raise StorageError("trimtab.db: the disk is full")

    asyncio.run(Runner(assemble, MemoryRecorder(), [], scene.clock)(BEAT, Occurrence(1, "watch", NOW)))

    assert {("watch", "parrot"): {"kept": 1}} == scene.states.kept
