"""Every occurrence that is dispatched becomes exactly one recorded run, whatever happens inside it.

Here stands the daemon's one blanket `except`: a run that fails in a way that nobody foresaw is recorded as failed and
the daemon goes on.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import structlog

from daemon.errors import ModelUnavailable, StorageError, TrimtabError
from daemon.loop import Loop
from daemon.recovery import Recovery
from daemon.stages import Clock, Observer, Recorder
from daemon.telemetry import bind_run
from daemon.types import Heartbeat, Occurrence, Outcome, Run

log = structlog.get_logger()

Assemble = Callable[[Heartbeat, Run], Awaitable[Loop]]


class Runner:
    """Makes runs of occurrences; `assemble` builds the loop of one run out of concrete stages."""

    def __init__(self, assemble: Assemble, recorder: Recorder, observers: Sequence[Observer], clock: Clock) -> None:
        self._assemble, self._recorder = assemble, recorder
        self._observers, self._clock = observers, clock
        self._owed: list[tuple[Run, Recovery | None]] = []

    async def __call__(self, heartbeat: Heartbeat, occurrence: Occurrence) -> Run:
        """Carry out one occurrence.  Raises nothing but CancelledError, and that only after the run is recorded."""
        now = self._clock.now()
        run = Run(f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(3)}", occurrence, heartbeat.stream, now)
        loop: Loop | None = None
        with bind_run(run.id, heartbeat.name):
            log.info("run.started", scheduled_for=occurrence.scheduled_for.isoformat())
            try:
                await self._settle()
                await self._recorder.begin(run, heartbeat)
                loop = await self._assemble(heartbeat, run)
                run = await loop.run(heartbeat, run)
            except asyncio.CancelledError:
                run = self._ended(loop, run, Outcome.INTERRUPTED, "trimtab was stopped")
                await asyncio.shield(self._record(loop, run))
                raise
            except ModelUnavailable as failed:
                run = await self._failed(loop, run, Outcome.MODEL_UNAVAILABLE, str(failed))
            except TrimtabError as failed:
                run = await self._failed(loop, run, Outcome.FAILED, str(failed))
            except Exception as failed:
                log.exception("run.crashed")
                run = await self._failed(loop, run, Outcome.FAILED, f"{type(failed).__name__}: {failed}")
            else:
                self._tell(run)
        return run

    async def _failed(self, loop: Loop | None, run: Run, outcome: Outcome, reason: str) -> Run:
        run = self._ended(loop, run, outcome, reason)
        await self._record(loop, run)
        return run

    def _ended(self, loop: Loop | None, run: Run, outcome: Outcome, reason: str) -> Run:
        """Return the run as far as it came; one that had ended before something failed keeps its end."""
        latest = loop.latest if loop is not None and loop.latest is not None else run
        if latest.outcome is not None:
            return latest
        if loop is not None and (lost := loop.memory.pending()):
            reason = f"{reason} ({lost} note{'s' if lost > 1 else ''} of it not kept)"
        return replace(latest, ended_at=self._clock.now(), outcome=outcome, reason=" ".join(reason.split())[:500])

    async def _record(self, loop: Loop | None, run: Run) -> None:
        """Close the record and the guards; where even that fails (a full disk), owe it until the next run."""
        recovery = loop.recovery if loop is not None else None
        try:
            await self._close(run, recovery)
        except StorageError as failed:
            self._owed.append((run, recovery))
            log.error("run.unrecorded", reason=str(failed))
        self._tell(run)

    async def _settle(self) -> None:
        """Write down the ends of runs, and what their guards remember, that could not be written when they came."""
        while self._owed:
            owed = self._owed.pop(0)
            try:
                await self._close(*owed)
            except StorageError:
                self._owed.append(owed)
                raise

    async def _close(self, run: Run, recovery: Recovery | None) -> None:
        await self._recorder.finish(run, ())
        if recovery is not None and run.outcome is not None:
            await recovery.close(run.outcome)

    def _tell(self, run: Run) -> None:
        level = log.info if run.outcome in (Outcome.OK, Outcome.NOTHING_TO_DO) else log.warning
        seconds = (run.ended_at - run.started_at).total_seconds() if run.ended_at else 0.0
        level(
            "run.finished",
            outcome=str(run.outcome),
            **({"reason": run.reason} if run.reason else {}),
            steps=run.steps,
            tokens=run.usage.prompt + run.usage.completion,
            reused=run.usage.reused,
            seconds=round(seconds, 2),
            **({"commit": run.commit[:10]} if run.commit else {}),
        )
        for observer in self._observers:
            observer.run_finished(run)
