"""Whether a thread still fits into its share of a model's window, and how it is made to fit again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from daemon.context.compaction import Shorter, acknowledged, runs, shortened
from daemon.context.summary import Summary
from daemon.stages import ThreadLog
from daemon.types import Message, Prompt, ToolSpec

CHARS_PER_TOKEN: Final = 3  # fewer than most texts have, so that what is cut by characters fits
_CHARS_PER_TOKEN_AT_MOST: Final = 4
SUMMARY_SHARE: Final = 0.1  # of the window
_AIM: Final = 0.6  # of the mark: where a compaction should end, so that the next run does not compact again
_REPLY_SHARE: Final = 0.1
_WRITTEN_SHARE: Final = 0.7  # of the room of a summary; the rest is for what the model forgot


@dataclass(frozen=True, slots=True)
class Window:
    """How much a model can be shown: `tokens` in all, and how many a prompt takes."""

    tokens: int
    count: Callable[[Sequence[Message], Sequence[ToolSpec]], Awaitable[int]]


async def estimate(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> int:
    """Return about how many tokens a prompt takes, for a model that cannot count for us."""
    said = sum(len(m.text) + sum(len(str(call.args)) for call in m.calls) + 8 for m in messages)
    return (said + sum(len(str(tool)) for tool in tools)) // _CHARS_PER_TOKEN_AT_MOST


@dataclass(frozen=True, slots=True)
class Long:
    """A thread that has grown past its mark: what is live, and the prompt so far, without a task, with its tokens."""

    live: tuple[Message, ...]
    prompt: Prompt
    tokens: int


@dataclass(frozen=True, slots=True)
class Fit:
    """Measures and shortens threads; `compact_at` is a share of the window, `keep_runs` stay whole if they fit."""

    threads: ThreadLog
    window: Window
    compact_at: float
    keep_runs: int

    @property
    def written_chars(self) -> int:
        """How many characters a model's summary may have."""
        return int(self.window.tokens * SUMMARY_SHARE * CHARS_PER_TOKEN * _WRITTEN_SHARE)

    @property
    def _mark(self) -> int:
        return int(self.window.tokens * self.compact_at)

    async def long(self, prompt: Prompt) -> Long | None:
        """Return the thread of a prompt if it is to be compacted now: too long, and with turns since the last time."""
        tokens = await self.window.count(prompt.messages, prompt.tools)
        if tokens <= self._mark or not await self.threads.fresh(prompt.thread):
            return None
        return Long(await self.threads.live(prompt.thread), prompt, tokens)

    async def may_ask(self, long: Long, ask: Message) -> bool:
        """Say whether a model can be asked about a long thread: it fits with an answer, and shortening it helps."""
        shown = await self.window.count((*long.prompt.messages, ask), long.prompt.tools)
        least = await self.window.count(long.prompt.messages[:1], long.prompt.tools)
        return shown <= self.window.tokens * (1 - _REPLY_SHARE) and least <= self._mark * _AIM

    async def shortened(self, long: Long, written: Summary | None = None) -> Shorter | None:
        """Return the thread made short, None if nothing that can be left out makes it shorter.

        The result should be well below the mark: it keeps fewer whole runs and a shorter summary until it is.  With a
        model's summary it stays above the mark rather than lose that.
        """
        system, found = long.prompt.messages[:1], None
        least = long.tokens
        keeps = dict.fromkeys(min(keep, len(runs(long.live))) for keep in (self.keep_runs, 1, 0))
        tries = [(keep, SUMMARY_SHARE) for keep in keeps] + ([] if written else [(0, 0.03)])
        for keep_runs, share in tries:
            room = int(self.window.tokens * share * CHARS_PER_TOKEN)
            made = shortened(long.live, keep_runs, room, written)
            shown = (*system, *acknowledged((made.summary, *long.live[len(long.live) - made.keep :])))
            tokens = await self.window.count(shown, long.prompt.tools)
            if tokens < least:
                least, found = tokens, made
            if tokens <= self._mark * _AIM:
                break
        return found
