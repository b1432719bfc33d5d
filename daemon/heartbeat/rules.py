"""What a scheduler is told by whoever starts it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from daemon.types import Heartbeat


async def _never(_heartbeat: Heartbeat) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Rules:
    """How many runs at once, seconds between looks, seconds that runs get to end at a stop, and who may forbid a run.

    `switch` is asked at each look and returns the reason why nothing may start, None when it may; `resting` is asked of
    a heartbeat that is due.
    """

    concurrency: int = 1
    turn_seconds: float = 1.0
    drain_seconds: float = 30.0
    switch: Callable[[], str | None] = lambda: None
    resting: Callable[[Heartbeat], Awaitable[str | None]] = _never
