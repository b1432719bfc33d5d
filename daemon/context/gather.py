"""What the model sees in a run: instructions, the thread so far, then one new message with the task and the time.

Everything before the newest message is the same bytes as last time, so that a local model re-reads only what is new.
The one exception is a compaction, which happens when the thread has grown past its share of the window.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

import structlog

from daemon.context.compaction import ACKNOWLEDGED, HINT, SUMMARY, summarised
from daemon.context.data import marked, rules
from daemon.context.feedback import feedback
from daemon.context.quarantine import infected_by, quarantined
from daemon.stages import ThreadLog
from daemon.types import Feedback, Heartbeat, Message, Occurrence, Prompt, ToolResult, ToolSpec

log = structlog.get_logger()

_SUMMARY_SHARE = 0.1  # of the window, at about three characters a token
_AIM = 0.6  # of the mark: where a compaction should end
_RESULT_SHARE = 0.25
_CHARS_PER_TOKEN = 3

Recall = Callable[[str], Awaitable[Sequence[tuple[str, str]]]]
"""Given the instruction, the (path, excerpt) of the few notes that matter to it."""

Told = Callable[[str, int], Awaitable[Sequence[Feedback]]]
"""Given a thread and an occurrence, what a person has decided on what that thread wrote, and it was not told yet."""


async def nothing_told(thread: str, occurrence: int) -> Sequence[Feedback]:
    """Return what there is to tell where nobody reviews."""
    return ()


@dataclass(frozen=True, slots=True)
class Window:
    """How much a model can be shown: `tokens` in all, and how many a prompt takes."""

    tokens: int
    count: Callable[[Sequence[Message], Sequence[ToolSpec]], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class Gather:
    """Builds prompts for one agent and one window (implements stages.Context)."""

    threads: ThreadLog
    window: Window
    instructions: Callable[[], Awaitable[str]]
    recall: Recall
    zone: ZoneInfo
    compact_at: float
    keep_runs: int
    told: Told = nothing_told

    async def gather(self, heartbeat: Heartbeat, occurrence: Occurrence, tools: Sequence[ToolSpec]) -> Prompt:
        system = Message("system", f"{(await self.instructions()).strip()}\n\n{rules()}")
        task = Message("user", await self._task(heartbeat, occurrence), name=heartbeat.name)
        if heartbeat.thread is None:
            return Prompt(f"{heartbeat.name}#{occurrence.id}", (system, task), tuple(tools), begins=1)
        live = await self._live(heartbeat.thread, system, task, tools)
        return Prompt(heartbeat.thread, (system, *live, task), tuple(tools), begins=1 + len(live))

    def heard(self, results: Sequence[ToolResult]) -> tuple[Message, ...]:
        limit = int(self.window.tokens * _RESULT_SHARE * _CHARS_PER_TOKEN)
        return tuple(
            Message("tool", marked(r.call.name, r.text, limit), call_id=r.call.id, name=r.call.name, failed=not r.ok)
            for r in results
        )

    def hint(self, text: str) -> Message:
        return Message("user", f"Hint: {text}", name=HINT)

    async def quarantine(self, prompt: Prompt, evidence: Sequence[str]) -> Prompt:
        infected = infected_by(evidence, prompt.messages)
        raw = await self.threads.live(prompt.thread)
        shown = quarantined(raw, infected)
        if taken_out := sum(a != b for a, b in zip(raw, shown, strict=True)):
            await self.threads.show(prompt.thread, shown)
            log.info("thread.quarantined", thread=prompt.thread, taken_out=taken_out)
        live = _acknowledged([message for message in shown if message is not None])
        task, *since = prompt.turn
        turn = [message for message in quarantined(since, infected) if message is not None]
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

    async def _live(
        self, thread: str, system: Message, task: Message, tools: Sequence[ToolSpec]
    ) -> tuple[Message, ...]:
        """Return the thread's messages, compacted first if the prompt has grown past the mark.

        The result must be well below the mark, so that the next run does not compact again; it keeps fewer whole runs
        and a shorter summary until it is, and gives up when there is nothing left to leave out: it never loops.
        """
        raw = await self.threads.live(thread)
        live = _acknowledged(raw)
        mark = int(self.window.tokens * self.compact_at)
        before = await self.window.count((system, *live, task), tools)
        if before <= mark or not live:
            return live
        for keep_runs, share in ((self.keep_runs, _SUMMARY_SHARE), (1, _SUMMARY_SHARE), (0, _SUMMARY_SHARE), (0, 0.03)):
            summary, keep = summarised(raw, keep_runs, int(self.window.tokens * share * _CHARS_PER_TOKEN))
            shorter = _acknowledged((summary, *raw[len(raw) - keep :]))
            after = await self.window.count((system, *shorter, task), tools)
            if after <= mark * _AIM:
                break
        if after >= before:
            log.warning("thread.compaction_refused", thread=thread, tokens_before=before, tokens_after=after)
            return live
        await self.threads.compact(thread, summary, keep)
        log.info("thread.compacted", thread=thread, tokens_before=before, tokens_after=after, kept_messages=keep)
        return shorter


def _acknowledged(live: Sequence[Message]) -> tuple[Message, ...]:
    """Let the model answer its summary, because many templates want turns to alternate."""
    if live and live[0].name == SUMMARY:
        return (live[0], ACKNOWLEDGED, *live[1:])
    return tuple(live)
