"""One run: context → model → guards → tools, round and round until the model asks for nothing more or a guard ends it.

The loop holds no limit of its own (steps, tokens, seconds and dollars are guards too) and knows only what each stage
promises.  What is awaited from the recorder is safe from a kill.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from daemon.outcome import concluded
from daemon.recovery import Cure, Recovery
from daemon.stages import Clock, Context, Memory, Model, Recorder, Tools
from daemon.types import Heartbeat, Message, Outcome, Reply, Run, Step, ToolResult, Usage
from guards import Level

_HOUR = 3600.0


@dataclass(slots=True)
class Loop:
    """The stages that one run is made of.  `latest` is the run as far as it has come, for whoever must end it."""

    context: Context
    model: Model
    recovery: Recovery
    tools: Tools
    memory: Memory
    recorder: Recorder
    clock: Clock
    latest: Run | None = None

    async def run(self, heartbeat: Heartbeat, run: Run) -> Run:
        """Carry out one occurrence and return how it ended; after an exception the caller closes the record."""
        offered = self.tools.specs()
        await self.recovery.open(run.id, offered)
        prompt = await self.context.gather(heartbeat, run.occurrence, offered)
        first, sent, results = len(prompt.messages) - 1, prompt.messages, list[ToolResult]()
        ends = self.clock.monotonic() + (heartbeat.budget.seconds or _HOUR)

        for number in count(1):
            self.recovery.listen()
            began = self.clock.now()
            left = max(1.0, ends - self.clock.monotonic())
            reply = await self.model.reply(prompt, stop=self.recovery.stop, seconds=left)
            run = _spent(run, number, reply)
            step = Step(number, began, sent, reply, self.recovery.judge(reply), tools=offered)
            cure, heard = self.recovery.answer(step.verdicts), tuple[Message, ...]()
            if cure is None and (not reply.calls or reply.finish != "stop"):
                await self._record(run, step)
                outcome, reason = concluded(heartbeat, offered, results, reply)
                return await self._end(
                    run, outcome, reason, (*prompt.messages[first:], reply.message()), said=reply.text
                )
            if cure is None:
                step, cure = await self._act(run, step)
                results += step.results
                heard = self.context.heard(step.results)
                prompt = prompt.plus(reply.message(), *heard)
            if cure is not None:
                await self._record(run, _withheld(step, cure))
                if cure.rung == "rest":
                    return await self._end(run, cure.outcome, cure.reason, ())
                heard = (*heard, self.context.hint(cure.verdict.hint))
                prompt = prompt.plus(heard[-1])
            sent = heard
        raise AssertionError("count() has no end")

    async def _act(self, run: Run, step: Step) -> tuple[Step, Cure | None]:
        """Record the reply, then run its calls, record what came back and let the guards hear it."""
        await self._record(run, step)
        results = tuple([await self.tools.run(call) for call in step.reply.calls])
        heard = self.recovery.hear(results)
        step = replace(step, results=results, verdicts=step.verdicts + tuple(v for v in heard if v.level > Level.PASS))
        await self._record(run, step)
        return step, self.recovery.answer(heard)

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
        run = self.latest = replace(run, commit=await self.memory.keep(run))
        joins = outcome in (Outcome.OK, Outcome.NOTHING_TO_DO)
        await self.recorder.finish(run, said_so_far if joins else ())
        await self.recovery.close(outcome)
        return run


def _withheld(step: Step, cure: Cure) -> Step:
    """A reply that tripped is withheld; one whose results tripped has already acted."""
    return replace(step, withheld=not step.results, hint=cure.verdict.hint if cure.rung == "retry" else "")


def _spent(run: Run, number: int, reply: Reply) -> Run:
    was, now = run.usage, reply.usage
    usage = Usage(
        was.prompt + now.prompt,
        was.reused + now.reused,
        was.completion + now.completion,
        was.usd + now.usd,
        was.seconds + now.seconds,
    )
    return replace(run, steps=number, usage=usage, model=reply.model)
