"""A thread that has grown too long is made short before its next run: notes first, then a summary, then the thread.

The model is asked as in a run: its calls reach the vault only, every output passes the guards, every step is recorded
as one of the run.  What it may do for that is limited by a budget of its own.  Where it is too small, trips or gives no
summary that holds, an extract stands in; what cannot be made shorter stays, and a verdict says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol

import structlog

from daemon.context.checked import Checked
from daemon.context.compaction import Shorter
from daemon.context.data import prompt as told
from daemon.context.fit import Fit, Long, Window
from daemon.context.summary import Summary
from daemon.errors import ModelError, ModelUnavailable
from daemon.loop import Loop
from daemon.recovery import Recovery
from daemon.stages import Context, Recorder, Tools
from daemon.thread_notes import ThreadNotes
from daemon.types import (
    Heartbeat,
    Message,
    Occurrence,
    Outcome,
    Prompt,
    Reply,
    Run,
    Step,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from guards import Guard, Level, Verdict

log = structlog.get_logger()

STREAM: Final = "#compaction"
"""What the guards know a thread's compactions by, after the thread's own name."""
COMPARING: Final = ("repeat", "template", "opener", "sign_off", "catchphrase", "vocabulary", "fixation")
"""Guards that judge how alike outputs are, which says nothing of summaries of one thread."""
_SUMS_UP: Final = 8_192
"""Tokens of context; a model with less is too small to sum up a thread."""
_VAULT: Final = "vault"
_GOOD: Final = (Outcome.OK, Outcome.NOTHING_TO_DO)


Guarded = Callable[[Guard], Awaitable[Recovery | None]]
"""Given one more guard, what judges a model that sums up a thread; None while it must not be asked."""


def asks_a_model(summary: Literal["auto", "model", "extract"], window: Window) -> bool:
    """Say whether a setting wants a model's summary for a thread with this window."""
    return summary == "model" or (summary == "auto" and window.tokens >= _SUMS_UP)


class Grown(Context, Protocol):
    """A context that can say what stands before a task."""

    async def so_far(self, heartbeat: Heartbeat, tools: Sequence[ToolSpec]) -> Prompt:
        """Return instructions and thread."""


@dataclass(frozen=True, slots=True)
class Compacting:
    """Makes the threads of one run fit (implements stages.Upkeep); without `guarded` no model is ever asked.

    `loop` are the stages of the run.
    """

    loop: Loop
    context: Grown
    fit: Fit
    notes: ThreadNotes
    guarded: Guarded | None = None

    async def __call__(self, heartbeat: Heartbeat, run: Run) -> Run:
        if heartbeat.thread is None:
            return run
        long = await self.fit.long(await self.context.so_far(heartbeat, self.loop.tools.specs()))
        if long is None:
            return run
        run, written, answered = await self._asked(heartbeat, run, long)
        if not answered:
            return run
        shorter = await self.fit.shortened(long, written)
        if shorter is None and written is not None:
            written, shorter = None, await self.fit.shortened(long)
        if shorter is None:
            return await self._refused(run, long)
        return await self._done(run, long, shorter, "model" if written else "extract")

    async def _asked(self, heartbeat: Heartbeat, run: Run, long: Long) -> tuple[Run, Summary | None, bool]:
        """Let the model take notes and write a summary; return the run with its steps, and what passed the check.

        False at the end says that it could not be had, and that the thread can wait for it: it still fits.
        """
        ask = Message("user", self._question(), name="compaction")
        if self.guarded is None or not await self.fit.may_ask(long, ask):
            return run, None, True
        check = Checked("\n".join(message.text for message in long.live), self.fit.written_chars)
        recovery = await self.guarded(check)
        if recovery is None:
            return run, None, True
        loop = replace(
            self.loop,
            context=_Asked(self.context, long.prompt.plus(ask)),
            recovery=recovery,
            tools=_OnlyVault(self.loop.tools),
            memory=_Later(),
            recorder=_Inside(self.loop.recorder),
            latest=run,
            upkeep=None,
        )
        try:
            done = await loop.run(replace(heartbeat, expect=(), facts=()), run)
        except ModelUnavailable as gone:
            log.warning("thread.summary_put_off", thread=long.prompt.thread, reason=str(gone))
            so_far = loop.latest or run
            return replace(run, steps=so_far.steps, usage=so_far.usage), None, False
        except ModelError as failed:
            done = replace(loop.latest or run, outcome=Outcome.FAILED, reason=str(failed))
        if done.outcome not in _GOOD:
            log.warning(
                "thread.summary_failed", thread=long.prompt.thread, outcome=str(done.outcome), reason=done.reason
            )
        run = replace(run, steps=done.steps, usage=done.usage, model=done.model)
        return run, check.summary if done.outcome in _GOOD else None, True

    def _question(self) -> str:
        offers_vault = any(spec.name == _VAULT for spec in self.loop.tools.specs())
        summary = told("compaction").replace("{chars}", f"{self.fit.written_chars:,}")
        return "\n\n".join([summary, told("notes_first")] if offers_vault else [summary])

    async def _done(self, run: Run, long: Long, shorter: Shorter, by: str) -> Run:
        """Keep the notes, then shorten the thread: after a kill between the two the next run does it again."""
        thread = long.prompt.thread
        refused = await asyncio.to_thread(self.notes.add, thread, shorter.evicted, self.loop.clock.now())
        commit = await self.loop.memory.keep(run)
        await self.fit.threads.compact(thread, shorter.summary, shorter.keep)
        log.info(
            "thread.compacted",
            thread=thread,
            by=by,
            tokens_before=long.tokens,
            kept_messages=shorter.keep,
            noted=len(shorter.evicted) - refused,
        )
        return replace(run, commit=commit or run.commit)

    async def _refused(self, run: Run, long: Long) -> Run:
        """Record that the thread stays as it is: nothing that can be left out makes it shorter."""
        reason = f"nothing that can be left out makes the thread shorter than its {long.tokens:,} tokens"
        log.warning("thread.compaction_refused", thread=long.prompt.thread, tokens=long.tokens)
        verdict = Verdict(Checked.name, Level.TRIP, 1.0, reason, outcome="failed")
        reply = Reply("", model=run.model, note=reason)
        step = replace(
            Step(run.steps + 1, self.loop.clock.now(), (), reply, (verdict,)),
            withheld=True,
            edited_by_breaker=True,
            rung="rest",
        )
        run = replace(run, steps=step.number)
        await self.loop.recorder.step(run, step)
        return run


class _Asked:
    """A context that has one prompt, and hears as usual (implements stages.Context)."""

    def __init__(self, usual: Context, prompt: Prompt) -> None:
        self._prompt = prompt
        self.heard, self.hint = usual.heard, usual.hint

    async def gather(self, heartbeat: Heartbeat, occurrence: Occurrence, tools: Sequence[ToolSpec]) -> Prompt:
        return self._prompt

    async def quarantine(self, prompt: Prompt, evidence: Sequence[str]) -> Prompt:
        """Return the prompt as it is: the thread itself is not what collapsed."""
        return prompt


class _OnlyVault:
    """The hands of a run, all of them shown and only the vault at work (implements stages.Tools)."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self.specs = tools.specs

    async def run(self, call: ToolCall) -> ToolResult:
        if call.name == _VAULT:
            return await self._tools.run(call)
        return ToolResult(call, False, "error: only the vault answers while this thread is summed up")


class _Later:
    """A memory that leaves the keeping to whoever asked for the summary (implements stages.Memory)."""

    def pending(self) -> int:
        return 0

    async def keep(self, run: Run) -> str | None:
        return None


class _Inside:
    """A recorder of steps within a run that goes on (implements stages.Recorder)."""

    def __init__(self, recorder: Recorder) -> None:
        self.begin, self.step = recorder.begin, recorder.step

    async def finish(self, run: Run, thread: Sequence[Message]) -> None:
        """Leave the record open."""
