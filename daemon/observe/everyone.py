"""Several observers as one, and the recorder that tells them of each step once it is on the disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import structlog

from daemon.stages import Observer, Recorder
from daemon.types import Heartbeat, Message, Run, Step

log = structlog.get_logger()


class Everyone:
    """Passes on what happens (implements stages.Observer); one that cannot write is logged, the others still hear."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = tuple(observers)

    def run_finished(self, run: Run) -> None:
        self._tell(lambda observer: observer.run_finished(run))

    def step_done(self, run: Run, step: Step) -> None:
        self._tell(lambda observer: observer.step_done(run, step))

    def occurrence_missed(self, heartbeat: str, reason: str, count: int) -> None:
        self._tell(lambda observer: observer.occurrence_missed(heartbeat, reason, count))

    def next_due(self, heartbeat: str, at: datetime | None, lag_seconds: float | None) -> None:
        self._tell(lambda observer: observer.next_due(heartbeat, at, lag_seconds))

    def heartbeat_removed(self, heartbeat: str) -> None:
        self._tell(lambda observer: observer.heartbeat_removed(heartbeat))

    def breaker_changed(self, thread: str, guard: str, state: int) -> None:
        self._tell(lambda observer: observer.breaker_changed(thread, guard, state))

    def recovered(self, rung: str, result: str) -> None:
        self._tell(lambda observer: observer.recovered(rung, result))

    def model_state(self, model: str, up: bool) -> None:
        self._tell(lambda observer: observer.model_state(model, up))

    def vault_committed(self, kind: str) -> None:
        self._tell(lambda observer: observer.vault_committed(kind))

    def _tell(self, say: Callable[[Observer], None]) -> None:
        for observer in self._observers:
            try:
                say(observer)
            except (OSError, ValueError) as wrong:
                log.warning("observer.failed", observer=type(observer).__name__, reason=str(wrong))


class ObservedRecorder:
    """A recorder whose steps are heard of (implements stages.Recorder).

    A step with calls is recorded twice, before and after them; it is told once, when it is whole.
    """

    def __init__(self, recorder: Recorder, observer: Observer) -> None:
        self._recorder, self._observer = recorder, observer
        self._told: tuple[str, int] | None = None

    async def begin(self, run: Run, heartbeat: Heartbeat) -> None:
        await self._recorder.begin(run, heartbeat)

    async def step(self, run: Run, step: Step) -> None:
        await self._recorder.step(run, step)
        whole = step.withheld or bool(step.results) or not step.reply.calls
        if whole and self._told != (run.id, step.number):
            self._told = (run.id, step.number)
            if step.reply.note:
                log.warning("model.noted", model=step.reply.model, note=step.reply.note)
            self._observer.step_done(run, step)

    async def finish(self, run: Run, thread: Sequence[Message]) -> None:
        await self._recorder.finish(run, thread)
