"""What a run does when its tools took more time than it has: the time is counted, and nothing is tried any more."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from daemon.clock import HeldClock
from daemon.recovery import resting
from daemon.types import Budget, Outcome, ToolCall, ToolResult
from tests.test_loop import LOOK, NOW, Lookout, Stage


@dataclass
class Slow(Lookout):
    """Hands that take long from one call on."""

    clock: HeldClock = field(default_factory=lambda: HeldClock(NOW))
    seconds: float = 5000.0
    after: int = 0

    async def run(self, call: ToolCall) -> ToolResult:
        """See the same again, later."""
        if len(self.story) >= self.after:
            await self.clock.advance(self.seconds)
        return await super().run(call)


def slow(*replies: Any, seconds: float = 5000.0, after: int = 0, **options: Any) -> Stage:
    """Return a stage whose tool takes so many seconds after so many calls."""
    clock = HeldClock(NOW)
    return Stage(list(replies), options, tools=Slow(clock=clock, seconds=seconds, after=after), clock=clock)


def test_no_model_is_asked_once_the_time_of_a_run_is_over() -> None:
    """A tool that took more than all the time ends the run: what it said is recorded, and nothing is asked."""
    stage = slow(LOOK, "I saw a lamp.")
    run = stage.run(budget=Budget(seconds=600))

    assert (Outcome.TIMED_OUT, 1, 1) == (run.outcome, len(stage.steps), len(stage.steps[0].results))
    assert "600 s" in run.reason


def test_no_rung_is_taken_once_the_time_of_a_run_is_over() -> None:
    """A trip that comes too late ends the run as timed out: nothing is tried, and no breaker opens."""
    early = slow(*[LOOK] * 12, seconds=0)
    early.run(budget=Budget(seconds=600))
    first = next(step.number for step in early.steps if step.rung)
    stage = slow(*[LOOK] * 12, after=first - 1)
    run = stage.run(budget=Budget(seconds=600))

    assert ("retry", Outcome.TRIPPED) == (early.steps[first - 1].rung, early.recorder._runs["run-1"].outcome)
    assert (first, ["rest"]) == (run.steps, [step.rung for step in stage.steps if step.rung])
    assert (Outcome.TIMED_OUT, True) == (run.outcome, run.reason.startswith("tools:"))
    assert asyncio.run(resting("watch", stage.states, stage.clock, 1800)) is None


def test_the_time_of_tools_is_spent() -> None:
    """The budget guard counts what the tools took with the next reply."""
    stage = slow(LOOK, "I saw a lamp.", seconds=500, budget={"seconds": 400})

    assert Outcome.TIMED_OUT is stage.run(budget=Budget(seconds=600)).outcome
    assert 2 == len(stage.steps)
