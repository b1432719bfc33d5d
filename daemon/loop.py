"""One run: context → model → guards → tools, round and round until the model asks for nothing more or a guard ends it.

The loop holds no limit of its own (steps, tokens, seconds and dollars are guards too) and knows only what each stage
promises.  What is awaited from the recorder is safe from a kill.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from daemon.ladder import Attempt, Ladder, Rung
from daemon.outcome import concluded
from daemon.recovery import Recovery
from daemon.stages import Clock, Context, Memory, Model, Recorder, Tools, Upkeep
from daemon.types import Heartbeat, Message, Outcome, Run, Step, ToolResult
from guards import Level, Verdict

_HOUR = 3600.0


@dataclass(slots=True)
class Loop:
    """The stages that one run is made of.

    `latest` is the run as far as it has come, for whoever must end it; `upkeep` is done for the thread before the run.
    """

    context: Context
    model: Model
    recovery: Recovery
    tools: Tools
    memory: Memory
    recorder: Recorder
    clock: Clock
    latest: Run | None = None
    upkeep: Upkeep | None = None

    async def run(self, heartbeat: Heartbeat, run: Run) -> Run:
        """Carry out one occurrence and return how it ended; after an exception the caller closes the record."""
        offered = self.tools.specs()
        await self.recovery.open(run.id, offered)
        if self.upkeep is not None:
            run = self.latest = await self.upkeep(heartbeat, run)
        prompt = await self.context.gather(heartbeat, run.occurrence, offered)
        attempt = Attempt(self.model, prompt, prompt.messages, anew=run.steps > 0)
        ladder = Ladder(self.context, self.recovery.lately, self.recovery.wordless, self.recovery.texts)
        results = list[ToolResult]()
        allowed = heartbeat.budget.seconds or _HOUR
        ends = self.clock.monotonic() + allowed

        for number in count(run.steps + 1):
            self.recovery.listen(attempt.shown)
            began = self.clock.now()
            left = max(1.0, ends - self.clock.monotonic())
            reply = await attempt.asked.reply(attempt.shown, stop=self.recovery.stop, seconds=left)
            reply, verdicts = await self.recovery.judge(reply, ends)
            run = replace(run, steps=number, usage=run.usage.plus(reply.usage), model=reply.model)
            step = Step(number, began, attempt.sent, reply, verdicts, tools=offered, anew=attempt.anew)
            trip = self.recovery.tripped(verdicts)
            if trip is None and (not reply.calls or reply.finish != "stop"):
                await self._record(run, step)
                outcome, reason = concluded(heartbeat, offered, results, reply)
                said = (*attempt.joins, reply.message())
                return await self._end(run, outcome, reason, said, said=reply.text)
            if trip is None:
                step, trip = await self._act(run, step)
                results += step.results
                attempt = attempt.then(reply.message(), self.context.heard(step.results))
            over = self.clock.monotonic() >= ends
            if trip is None and over:
                return await self._end(run, Outcome.TIMED_OUT, f"the {allowed:g} s of this run were over", ())
            if trip is not None:
                trip = _too_late(trip) if over else trip
                rung, attempt = await ladder.climb(trip, attempt, step)
                self.recovery.took(trip, rung)
                await self._record(run, _withheld(step, trip, rung))
                if rung == "rest":
                    return await self._end(run, Outcome(trip.outcome), f"{trip.guard}: {trip.reason}", ())
        raise AssertionError("count() has no end")

    async def _act(self, run: Run, step: Step) -> tuple[Step, Verdict | None]:
        """Record the reply, then run its calls, record what came back and let the guards hear it."""
        await self._record(run, step)
        began = self.clock.monotonic()
        results = tuple([await self.tools.run(call) for call in step.reply.calls])
        heard = self.recovery.hear(results, self.clock.monotonic() - began)
        step = replace(step, results=results, verdicts=step.verdicts + tuple(v for v in heard if v.level > Level.PASS))
        await self._record(run, step)
        return step, self.recovery.tripped(heard)

    async def _record(self, run: Run, step: Step) -> None:
        await self.recorder.step(run, step)
        self.latest = run

    async def _end(
        self, run: Run, outcome: Outcome, reason: str, said_so_far: Sequence[Message], said: str = ""
    ) -> Run:
        """Commit what was written, then close the record.

        `said_so_far` joins the thread unless the run failed: a bad example is followed by the next run.
        """
        run = replace(run, ended_at=self.clock.now(), outcome=outcome, reason=reason, said=said)
        run = self.latest = replace(run, commit=await self.memory.keep(run) or run.commit)
        joins = outcome in (Outcome.OK, Outcome.NOTHING_TO_DO)
        await self.recorder.finish(run, said_so_far if joins else ())
        await self.recovery.close(outcome)
        return run


def _too_late(trip: Verdict) -> Verdict:
    """A trip after the run's end is no collapse that nothing helped against: there was no time to try."""
    return trip if trip.outcome == "over_budget" else replace(trip, outcome="timed_out")


def _withheld(step: Step, trip: Verdict, rung: Rung) -> Step:
    """A reply that tripped is withheld; one whose results tripped has already acted."""
    return replace(step, withheld=not step.results, rung=rung, hint="" if rung == "rest" else trip.hint)
