"""Who runs now: at most so many at once, never two runs of one heartbeat or of one thread."""

from __future__ import annotations

import asyncio

from daemon.types import Heartbeat


class Lanes:
    """The runs in hand, by the name of their heartbeat."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._running: dict[str, str | None] = {}
        self._idle = asyncio.Event()
        self._idle.set()

    def __contains__(self, name: str) -> bool:
        return name in self._running

    def __len__(self) -> int:
        return len(self._running)

    def hindrance(self, heartbeat: Heartbeat) -> str:
        """Return why the heartbeat cannot start now, "" when it can."""
        if heartbeat.name in self._running:
            return "it is still running"
        for name, thread in self._running.items():
            if thread is not None and thread == heartbeat.thread:
                return f"its thread {thread!r} is busy with {name}"
        if len(self._running) >= self._most:
            return f"{', '.join(self._running)} must end first (concurrency {self._most})"
        return ""

    def enter(self, heartbeat: Heartbeat) -> None:
        """Count a run in; the caller has seen that nothing hinders it."""
        assert not self.hindrance(heartbeat)
        self._running[heartbeat.name] = heartbeat.thread
        self._idle.clear()

    def leave(self, name: str) -> None:
        """Count a run out."""
        del self._running[name]
        if not self._running:
            self._idle.set()

    async def empty(self) -> None:
        """Wait until nothing runs."""
        await self._idle.wait()
