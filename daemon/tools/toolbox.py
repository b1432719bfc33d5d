"""The hands of one run: every call is checked against its schema, held to its time and size, and answered in words.

Whatever goes wrong with a call becomes a failed result that says what to do instead.  What a result says is not judged
here, and a result is not marked as data here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

import structlog

from daemon.errors import ToolError
from daemon.tools.arguments import Arguments
from daemon.tools.base import Setting, Tool
from daemon.types import ToolCall, ToolResult, ToolSpec

__all__ = ["Approve", "Setting", "Tool", "Toolbox", "allow"]

log = structlog.get_logger()

Approve: TypeAlias = Callable[[ToolCall], Awaitable[str | None]]
"""Asked before a call is made; returns None to let it go on, or why it may not."""


async def allow(call: ToolCall) -> str | None:
    """Let every call go on."""
    return None


class Toolbox:
    """The tools of one run (implements stages.Tools).  `clock` gives seconds that never run backwards."""

    def __init__(
        self,
        tools: Sequence[Tool],
        setting: Setting,
        approve: Approve = allow,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._setting, self._approve, self._clock = setting, approve, clock
        self._tools = {spec.name: (tool, spec, Arguments(spec.parameters)) for tool in tools for spec in [tool.spec()]}

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return what this run may call, in the order that the heartbeat names it."""
        return tuple(spec for _, spec, _ in self._tools.values())

    async def run(self, call: ToolCall) -> ToolResult:
        """Run one call; a failure is a result whose text begins with `error: `.  Only cancellation passes through."""
        began = self._clock()
        try:
            ok, text = True, await self._answer(call)
        except (ToolError, OSError) as failed:
            ok, text = False, f"error: {failed}"
        seconds = self._clock() - began
        log.info("tool.called", tool=call.name[:60], ok=ok, seconds=round(seconds, 3), run=self._setting.run)
        return ToolResult(call, ok, text, seconds)

    async def _answer(self, call: ToolCall) -> str:
        if call.name not in self._tools:
            there = ", ".join(self._tools) or "none"
            raise ToolError(f"no tool named {call.name[:60]}; there are: {there}")
        tool, spec, arguments = self._tools[call.name]
        args = arguments.checked(call.args)
        if reason := await self._approve(call):
            raise ToolError(f"not approved: {reason}")
        return _bounded(await self._within(tool, spec, args), spec.max_chars)

    async def _within(self, tool: Tool, spec: ToolSpec, args: Mapping[str, Any]) -> str:
        try:
            async with asyncio.timeout(spec.timeout_seconds) as limit:
                return await tool.run(args, self._setting)
        except TimeoutError:
            if not limit.expired():
                raise
            raise ToolError(f"{spec.name} took longer than {spec.timeout_seconds:g} s and was stopped") from None


def _bounded(text: str, limit: int) -> str:
    """Return `text`, or its beginning and a line that says how much of it that is."""
    if len(text) <= limit:
        return text
    return f"{text[:limit].rstrip()}\n[cut: the first {limit:,} of {len(text):,} characters]"
