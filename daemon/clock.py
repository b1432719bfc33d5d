"""Time as an argument: the real clock, one that a test moves, and one in which a wait takes no time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

_ROUNDS = 25


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        """Return the present moment in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class HeldClock:
    """A clock in memory: `advance` lets time pass and wakes whoever waits for it, `jump` sets the wall clock alone.

    It moves from one awaited moment to the next and lets the event loop settle at each, so that months pass in seconds
    and in the same order every time.  Whoever waits for real I/O is not waited for.
    """

    def __init__(self, start: datetime) -> None:
        self._now, self._monotonic = start.astimezone(UTC), 0.0
        self._sleepers: dict[asyncio.Future[None], float] = {}
        self._alarms: dict[str, tuple[datetime, Callable[[], None]]] = {}

    def now(self) -> datetime:
        """Return the present moment in UTC."""
        return self._now

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        return self._monotonic

    async def sleep(self, seconds: float) -> None:
        """Wait until `advance` has passed so many seconds."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers[waiting] = self._monotonic + seconds
        try:
            await waiting
        finally:
            self._sleepers.pop(waiting, None)

    def alarm(self, name: str, at: datetime | None, ring: Callable[[], None]) -> None:
        """Call `ring` once when the wall clock has come to `at`; None takes the alarm of that name away."""
        if at is None:
            self._alarms.pop(name, None)
        else:
            self._alarms[name] = (at, ring)

    def jump(self, seconds: float) -> None:
        """Set the wall clock forward or back; no time passes."""
        self._now += timedelta(seconds=seconds)

    async def advance(self, seconds: float) -> None:
        """Let so many seconds pass."""
        until = self._monotonic + seconds
        await self._settle()
        while (moment := self._next()) <= until:
            self._pass(moment)
            await self._settle()
        self._pass(until)

    def _next(self) -> float:
        """Return the monotonic time of the next thing that somebody waits for."""
        alarms = ((at - self._now).total_seconds() + self._monotonic for at, _ in self._alarms.values())
        return max(self._monotonic, min((*self._sleepers.values(), *alarms), default=float("inf")))

    def _pass(self, moment: float) -> None:
        self._now += timedelta(seconds=moment - self._monotonic)
        self._monotonic = moment
        for waiting in [waiting for waiting, at in self._sleepers.items() if at <= moment]:
            del self._sleepers[waiting]
            if not waiting.done():
                waiting.set_result(None)
        for name in [name for name, (at, _) in self._alarms.items() if at <= self._now]:
            self._alarms.pop(name)[1]()

    async def _settle(self) -> None:
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)


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
