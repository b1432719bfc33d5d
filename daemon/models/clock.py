"""Time as an argument: the real one, and one for tests in which a wait takes no time."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta


class WallClock:
    """The machine's own time (implements stages.Clock)."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class SkippingClock:
    """Time that passes at once when someone sleeps, and only then; `slept` lists it (implements stages.Clock)."""

    def __init__(self, start: datetime = datetime(2026, 1, 5, 8, tzinfo=UTC)) -> None:
        self._start, self._passed = start, 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        return self._passed

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._passed += seconds
