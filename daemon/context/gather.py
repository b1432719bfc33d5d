"""What the model sees in a run: instructions, the thread so far, then one new message with the task and the time.

Everything before the newest message is the same bytes as last time, so that a local model re-reads only what is new.
The exceptions are a compaction, when the thread has grown past its share of the window, and a quarantine.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from zoneinfo import ZoneInfo

import structlog

from daemon.context.compaction import HINT, acknowledged
from daemon.context.data import marked, rules
from daemon.context.feedback import feedback
from daemon.context.fit import CHARS_PER_TOKEN, Window
from daemon.context.quarantine import infected_by, quarantined
from daemon.stages import ThreadLog
from daemon.types import Feedback, Heartbeat, Message, Occurrence, Prompt, ToolResult, ToolSpec
from guards.written import Written

log = structlog.get_logger()

_RESULT_SHARE = 0.25

Recall = Callable[[str], Awaitable[Sequence[tuple[str, str]]]]
"""Given the instruction, the (path, excerpt) of the few notes that matter to it."""

Told = Callable[[str, int], Awaitable[Sequence[Feedback]]]
"""Given a thread and an occurrence, what a person has decided on what that thread wrote, and it was not told yet."""


async def nothing_told(thread: str, occurrence: int) -> Sequence[Feedback]:
    """Return what there is to tell where nobody reviews."""
    return ()


@dataclass(frozen=True, slots=True)
class Gather:
    """Builds prompts for one agent and one window (implements stages.Context).

    `written` says which arguments of calls hold words: a quarantine looks there too.
    """

    threads: ThreadLog
    window: Window
    instructions: Callable[[], Awaitable[str]]
    recall: Recall
    zone: ZoneInfo
    told: Told = nothing_told
    written: Written = field(default_factory=dict)

    async def gather(self, heartbeat: Heartbeat, occurrence: Occurrence, tools: Sequence[ToolSpec]) -> Prompt:
        task = Message("user", await self._task(heartbeat, occurrence), name=heartbeat.name)
        so_far = await self.so_far(heartbeat, tools)
        name = so_far.thread if heartbeat.thread else f"{heartbeat.name}#{occurrence.id}"
        return replace(so_far, thread=name).plus(task)

    async def so_far(self, heartbeat: Heartbeat, tools: Sequence[ToolSpec]) -> Prompt:
        """Return what stands before the task of a new run: instructions and the thread."""
        system = Message("system", f"{(await self.instructions()).strip()}\n\n{rules()}")
        live = acknowledged(await self.threads.live(heartbeat.thread)) if heartbeat.thread else ()
        return Prompt(heartbeat.stream, (system, *live), tuple(tools), begins=1 + len(live))

    def heard(self, results: Sequence[ToolResult]) -> tuple[Message, ...]:
        limit = int(self.window.tokens * _RESULT_SHARE * CHARS_PER_TOKEN)
        return tuple(
            Message("tool", marked(r.call.name, r.text, limit), call_id=r.call.id, name=r.call.name, failed=not r.ok)
            for r in results
        )

    def hint(self, text: str) -> Message:
        return Message("user", f"Hint: {text}", name=HINT)

    async def quarantine(self, prompt: Prompt, evidence: Sequence[str]) -> Prompt:
        infected = infected_by(evidence, prompt.messages, self.written)
        raw = await self.threads.live(prompt.thread)
        shown = quarantined(raw, infected, self.written)
        if taken_out := sum(a != b for a, b in zip(raw, shown, strict=True)):
            await self.threads.show(prompt.thread, shown)
            log.info("thread.quarantined", thread=prompt.thread, taken_out=taken_out)
        live = acknowledged([message for message in shown if message is not None])
        task, *since = prompt.turn
        turn = [message for message in quarantined(since, infected, self.written) if message is not None]
        return replace(prompt, messages=(prompt.messages[0], *live, task, *turn), begins=1 + len(live))

    async def _task(self, heartbeat: Heartbeat, occurrence: Occurrence) -> str:
        local = occurrence.scheduled_for.astimezone(heartbeat.schedule.timezone or self.zone)
        lines = [
            f"Heartbeat {heartbeat.name}, {local:%a %Y-%m-%d %H:%M} {local.tzname()}.",
            heartbeat.instruction.strip(),
        ]
        if notes := await self.recall(heartbeat.instruction):
            told = "\n".join(f"- {path}: {' '.join(text.split())}" for path, text in notes)
            lines += ["", "Noted before:", marked("vault", told, len(told))]
        for said in await self.told(heartbeat.stream, occurrence.id):
            lines += ["", *feedback(said)]
        return "\n".join(lines)
