"""One run as stories: what is shown, called, withheld, kept and recorded, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from daemon.clock import HeldClock
from daemon.loop import Loop
from daemon.models.scripted import Scripted
from daemon.observe.everyone import Everyone
from daemon.panels import Lent
from daemon.recovery import Recovery, resting
from daemon.trajectories.in_memory import MemoryGuardStates, MemoryRecorder
from daemon.types import (
    Budget,
    Heartbeat,
    Message,
    Occurrence,
    Outcome,
    Prompt,
    Run,
    Schedule,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from guards import Panel

NOW = datetime(2026, 11, 20, 21, 17, tzinfo=UTC)
LOOK = {"calls": [{"name": "look", "args": {}}]}
CHANT = "The lamp is lit and all is well upon the quiet water tonight. " * 40


@dataclass
class OneMessage:
    """A context of one message; hints and results come in plainly."""

    async def gather(self, heartbeat: Heartbeat, occurrence: Occurrence, tools: Sequence[ToolSpec]) -> Prompt:
        """The task alone."""
        return Prompt(heartbeat.name, (Message("user", heartbeat.instruction, name=heartbeat.name),), tuple(tools))

    def heard(self, results: Sequence[ToolResult]) -> tuple[Message, ...]:
        """The results as they are."""
        return tuple(Message("tool", result.text, name=result.call.name) for result in results)

    def hint(self, text: str) -> Message:
        """The hint as it is."""
        return Message("user", f"Hint: {text}", name="hint")

    async def quarantine(self, prompt: Prompt, evidence: Sequence[str]) -> Prompt:
        """Nothing was said before."""
        return prompt


@dataclass
class Lookout:
    """Hands with one tool that always sees the same, and the story of what was called."""

    story: list[str] = field(default_factory=list)
    ok: bool = True

    def specs(self) -> tuple[ToolSpec, ...]:
        """One tool."""
        return (ToolSpec("look", "Look.", {"type": "object"}),)

    async def run(self, call: ToolCall) -> ToolResult:
        """See the same again."""
        self.story.append(f"called {call.name}")
        return ToolResult(call, self.ok, "a lamp" if self.ok else "error: fog")


@dataclass
class Shelf:
    """A memory that says when it was asked to keep."""

    story: list[str]

    def pending(self) -> int:
        """Nothing waits."""
        return 0

    async def keep(self, run: Run) -> str | None:
        """Keep what was written."""
        self.story.append("kept")
        return "c0ffee"


@dataclass
class Stage:
    """Everything that a run needs, and what it left behind."""

    replies: list[Any]
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    tools: Lookout = field(default_factory=Lookout)
    recorder: MemoryRecorder = field(default_factory=MemoryRecorder)
    states: MemoryGuardStates = field(default_factory=MemoryGuardStates)
    clock: HeldClock = field(default_factory=lambda: HeldClock(NOW))
    model: Scripted | None = None
    number: int = 0

    def run(self, **changes: Any) -> Run:
        """Carry out one occurrence and return the run."""
        heartbeat = replace(Heartbeat("watch", Schedule(), "Look around.", "watch"), **changes)
        self.model = Scripted("local", Scripted.Options(replies=tuple(self.replies)), Path())
        self.number += 1
        run = Run(f"run-{self.number}", Occurrence(1, "watch", NOW), "watch", NOW)

        async def scenario() -> Run:
            await self.recorder.begin(run, heartbeat)
            recovery = Recovery(
                "watch", Lent(Panel.standard(self.options)), self.states, self.clock, 1800, Everyone([])
            )
            assert self.model is not None
            loop = Loop(
                OneMessage(), self.model, recovery, self.tools, Shelf(self.tools.story), self.recorder, self.clock
            )
            return await loop.run(heartbeat, run)

        return asyncio.run(scenario())

    @property
    def steps(self) -> list[Any]:
        """The recorded steps of the last run."""
        record = self.recorder.record(f"run-{self.number}")
        assert record is not None
        return list(record.steps)


def test_a_run_looks_speaks_and_is_kept() -> None:
    """A call, its result, words: the outcome is ok and everything is committed once, at the end."""
    stage = Stage([LOOK, "I saw a lamp."])
    run = stage.run()

    assert (Outcome.OK, "I saw a lamp.", "c0ffee", 2) == (run.outcome, run.said, run.commit, run.steps)
    assert ["called look", "kept"] == stage.tools.story


def test_a_looping_reply_is_withheld_and_retried_with_a_hint() -> None:
    """Neither the chant nor the hint that quotes it reaches the thread; the second answer ends the run."""
    stage = Stage([LOOK, CHANT, "I saw a lamp."])
    run = stage.run()
    thread = asyncio.run(stage.recorder.threads.live("watch"))

    assert run.outcome is Outcome.OK
    assert [False, True, False] == [step.withheld for step in stage.steps]
    assert "quiet water" in stage.steps[1].hint
    assert [stage.steps[1].hint] == [message.text.removeprefix("Hint: ") for message in stage.steps[2].sent]
    assert ["user", "assistant", "tool", "assistant"] == [message.role for message in thread]
    assert not any("quiet water" in message.text for message in thread)


def test_the_stream_is_cut_as_soon_as_it_loops() -> None:
    """Nobody waits for the end of a chant."""
    stage = Stage([LOOK, CHANT, "I saw a lamp."])
    stage.run()

    assert "guard" == stage.steps[1].reply.finish
    assert len(stage.steps[1].reply.text) < len(CHANT) / 2


def test_a_second_trip_ends_the_run_and_opens_the_breaker() -> None:
    """Where the hint does not help, the run is tripped, its heartbeat rests, and nothing joins the thread."""
    stage = Stage([LOOK, CHANT, CHANT])
    run = stage.run()

    assert run.outcome is Outcome.TRIPPED
    assert run.reason.startswith("loop:")
    assert () == asyncio.run(stage.recorder.threads.live("watch"))
    assert "breaker_open: loop" == asyncio.run(resting("watch", stage.states, stage.clock, 1800))


def test_a_rested_breaker_lets_a_probe_through_and_closes_when_it_passes() -> None:
    """After the cool-down one run is tried; when it is healthy the heartbeat goes on."""
    stage = Stage([CHANT, CHANT])
    stage.run()
    stage.clock.jump(1801)
    assert asyncio.run(resting("watch", stage.states, stage.clock, 1800)) is None
    stage.replies = [LOOK, "I saw a lamp."]

    assert stage.run().outcome is Outcome.OK
    assert all(breaker["position"] == 0 for breaker in _breakers(stage))


def test_a_tripped_guard_stops_the_hand_before_it_moves() -> None:
    """A call beyond the step budget is not carried out."""
    stage = Stage([LOOK, LOOK, LOOK], {"budget": {"steps": 2}})
    run = stage.run(budget=Budget(steps=2))

    assert run.outcome is Outcome.OVER_BUDGET
    assert 1 == stage.tools.story.count("called look")
    assert asyncio.run(resting("watch", stage.states, stage.clock, 1800)) is None


def test_a_spent_budget_ends_a_run_that_also_loops() -> None:
    """No hint is tried when the money is gone, however loud another guard is."""
    stage = Stage([LOOK, CHANT, "I saw a lamp."], {"budget": {"tokens": 40}})

    assert stage.run().outcome is Outcome.OVER_BUDGET
    assert 2 == len(stage.steps)


def test_the_same_call_with_the_same_result_again_and_again_trips() -> None:
    """A tool loop inside a run is seen from the results, hinted at, and then ended."""
    stage = Stage([LOOK] * 12)
    run = stage.run()

    assert run.outcome is Outcome.TRIPPED
    assert run.reason.startswith("tools:")
    assert 2 < stage.tools.story.count("called look") < 12


def test_words_after_failed_calls_are_not_ok() -> None:
    """A model that says all is well when every call failed is not believed."""
    stage = Stage([LOOK, "All is well."], tools=Lookout(ok=False))
    run = stage.run()

    assert run.outcome is Outcome.FAILED
    assert "error: fog" in run.reason


def test_a_claim_without_its_call_is_told_to_call() -> None:
    """A model that says it is done and called nothing is given one hint, and the turn goes on."""
    stage = Stage(["It is done.", LOOK, "I saw a lamp."], {"expect": {"tools": ["look"]}})
    run = stage.run(expect=("look",))

    assert run.outcome is Outcome.OK
    assert [True, False, False] == [step.withheld for step in stage.steps]
    assert "Call look now" in stage.steps[0].hint


def test_an_expectation_that_is_missed_twice_fails_the_run_and_opens_nothing() -> None:
    """What was expected did not happen: the run failed, nothing joins the thread, and the heartbeat does not rest."""
    stage = Stage(["It is done.", "It really is."], {"expect": {"tools": ["look"]}})
    run = stage.run(expect=("look",))

    assert (Outcome.FAILED, True) == (run.outcome, "look" in run.reason)
    assert () == asyncio.run(stage.recorder.threads.live("watch"))
    assert asyncio.run(resting("watch", stage.states, stage.clock, 1800)) is None


def test_a_number_that_no_tool_said_is_not_believed() -> None:
    """An invented number is withheld once with a hint; said again, the run failed, and nothing was noted."""
    stage = Stage([LOOK, "I saw 49 lamps.", "I saw a lamp."], {"facts": {"sources": ["look"]}})
    again = Stage([LOOK, "I saw 49 lamps.", "I saw 50 lamps."], {"facts": {"sources": ["look"]}})

    assert stage.run().outcome is Outcome.OK
    assert "49" in stage.steps[1].hint
    assert (Outcome.FAILED, "facts: states 50, which no tool said in this turn") == (
        (run := again.run()).outcome,
        run.reason,
    )


def test_calls_of_a_reply_that_was_cut_off_are_not_made() -> None:
    """Half an argument is no argument: a reply that ran into the token limit acts on nothing."""
    stage = Stage([{"calls": [{"name": "look", "args": {}}], "finish": "length"}])
    run = stage.run()

    assert run.outcome is Outcome.FAILED
    assert "called look" not in stage.tools.story


def test_the_record_holds_what_was_new_in_each_step() -> None:
    """Each step is recorded with what the model had not been shown before."""
    stage = Stage([LOOK, CHANT, "I saw a lamp."])
    stage.run()

    assert [["user"], ["tool"], ["user"]] == [[message.role for message in step.sent] for step in stage.steps]


@pytest.mark.parametrize("expect", [("look",), ()])
def test_ok_is_what_the_heartbeat_expects(expect: tuple[str, ...]) -> None:
    """With and without `expect`, a run that looked and spoke is ok."""
    assert Stage([LOOK, "I saw a lamp."]).run(expect=expect).outcome is Outcome.OK


def _breakers(stage: Stage) -> list[Any]:
    states = asyncio.run(stage.states.load("watch"))
    return [state for name, state in states.items() if name.startswith("breaker:")]


def test_another_standing_instruction_is_another_stream_for_the_guards() -> None:
    """What was normal under one first message is not what is normal under another; the former is kept beside it."""
    stage = Stage([LOOK, "I saw a lamp."])
    for instruction in ("Look around.", "Look out.", "Look out."):
        stage.run(instruction=instruction)

    own = stage.states.kept["watch", "panel"]
    assert 1 == len(own["others"])
    assert own["left"] > 0
