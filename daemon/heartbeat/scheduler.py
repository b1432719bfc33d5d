"""The loop that looks at what is due: claim first, then dispatch, at most so many at once.

Everything that starts a run happens in `_turn`, one at a time, so nothing here needs a lock.  It does not know what a
run is; an exception that leaves a dispatch ends the scheduler, loudly.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import structlog

from daemon.errors import ConfigError, StorageError, TrimtabError, UsageError
from daemon.heartbeat import fields
from daemon.heartbeat.alarms import Alarms
from daemon.heartbeat.asked import Asked, Started
from daemon.heartbeat.explain import Explanation, schedule_text
from daemon.heartbeat.file import is_empty
from daemon.heartbeat.folder import Folder
from daemon.heartbeat.lanes import Lanes
from daemon.heartbeat.misfire import Reason
from daemon.heartbeat.passage import IN_USE_FROM, Passage, PassageOfTime
from daemon.heartbeat.rules import Rules
from daemon.heartbeat.timetable import Plan, Timetable
from daemon.stages import Clock, Ledger, Observer
from daemon.types import Heartbeat, Occurrence

log = structlog.get_logger()
Dispatch = Callable[[Heartbeat, Occurrence], Awaitable[Any]]
_STOPPING = "trimtab is stopping"


class Scheduler:
    """Wakes heartbeats.  `run` lives until it is cancelled."""

    def __init__(
        self,
        ledger: Ledger,
        dispatch: Dispatch,
        folder: Folder,
        clock: Clock,
        alarms: Alarms,
        observers: Sequence[Observer] = (),
        rules: Rules = Rules(),  # noqa: B008  # frozen
    ) -> None:
        self._dispatch, self._folder, self._rules = dispatch, folder, rules
        self._clock, self._alarms = clock, alarms
        self._timetable = Timetable(ledger, observers)
        self._lanes = Lanes(rules.concurrency)
        self._passage = PassageOfTime(rules.turn_seconds)
        self._nudged = asyncio.Event()
        self._asked = Asked()
        self._group: asyncio.TaskGroup | None = None
        self._stopping = False
        self._complaints: dict[str, str] = {}
        self._passed, self._changed = Passage.EVEN, set[str]()
        self._ticked, self._awake = clock.monotonic(), asyncio.Event()

    async def run(self) -> None:
        """Look, dispatch, rest, until cancelled; then start nothing more and give the runs in hand their time to end.

        Raises whatever a dispatch or the ledger raised.
        """
        self._alarms.start(self._nudged.set)
        self._ticked = self._clock.monotonic()
        try:
            async with asyncio.TaskGroup() as self._group:
                pulse = self._group.create_task(self._pulse(), name="scheduler pulse")
                try:
                    while True:
                        self._nudged.clear()
                        await self._look()
                        self._awake.set()
                        self._ticked = self._clock.monotonic()
                        await self._nudged.wait()
                finally:
                    pulse.cancel()
                    self._stopping = True
                    self._asked.refuse_all(_STOPPING)
                    await self._drain()
        except BaseExceptionGroup as group:
            raise group.exceptions[0] if len(group.exceptions) == 1 else group from None
        finally:
            self._group = None
            self._alarms.stop()

    async def awake(self) -> None:
        """Wait until the first look is done."""
        await self._awake.wait()

    def tick_age(self) -> float:
        """Return the seconds since due work was last looked at to the end; feed a watchdog only while they are few."""
        return self._clock.monotonic() - self._ticked

    async def beat(self, name: str) -> Started:
        """Run a heartbeat now, as soon as nothing hinders it; return when it has started.

        Raises UsageError (no such heartbeat, everything is paused, it is running, trimtab is stopping) or the
        ConfigError of its file.
        """
        if self._stopping:
            raise UsageError(_STOPPING)
        if self._group is None:
            raise UsageError("the scheduler is not running")
        self._heartbeat(name)
        started = self._asked.add(name)
        self._nudged.set()
        return await started

    async def claim_now(self, name: str) -> tuple[Heartbeat, Occurrence]:
        """Claim a manual occurrence, at the present second or the first after it that is not taken.

        For whoever dispatches it without `run`, after `folder.look()`.  Raises UsageError or the ConfigError of its
        file.
        """
        heartbeat = self._heartbeat(name)
        return heartbeat, await self._timetable.claim_manual(name, self._clock.now())

    def explain(self, name: str) -> Explanation:
        """Return why a heartbeat ran or did not.  Raises UsageError for an unknown name."""
        found = self._folder.found.get(name)
        if found is None:
            raise UsageError(self._unknown(name))
        plan = self._timetable.plans.get(name)
        if isinstance(found, ConfigError) or plan is None:
            return Explanation(name, "", None, "", problem=str(found) if isinstance(found, ConfigError) else "")
        heartbeat, now = plan.heartbeat, self._clock.now()
        waits = plan.next is not None and plan.next <= now
        return Explanation(
            name,
            schedule_text(heartbeat.schedule),
            plan.next,
            plan.last,
            paused=heartbeat.paused,
            stopped=self._rules.switch() or "",
            running=name in self._lanes,
            hindrance=self._lanes.hindrance(heartbeat) if waits else "",
            clock_unset=now < IN_USE_FROM,
        )

    def next_due(self) -> Mapping[str, datetime | None]:
        """Return when each scheduled heartbeat is due next."""
        return {name: plan.next for name, plan in sorted(self._timetable.plans.items())}

    async def _pulse(self) -> None:
        while True:
            await self._clock.sleep(self._rules.turn_seconds)
            self._nudged.set()

    async def _look(self) -> None:
        """Take a turn.  A disk that is full ends nothing: what was not written is written at a later look."""
        try:
            await self._turn()
        except StorageError as full:
            self._complain("scheduler.hindered", str(full))
        else:
            self._complain("scheduler.hindered", "")

    async def _turn(self) -> None:
        now = self._clock.now()
        if now < IN_USE_FROM:
            self._complain("clock.unset", f"the clock says {now:%Y-%m-%d}; nothing is due before it is set")
            return
        self._complain("clock.unset", "")
        await self._take_news(now)
        await self._start_asked()
        reason = self._rules.switch()
        self._complain("scheduler.halted", reason or "")
        far = datetime.max.replace(tzinfo=now.tzinfo)
        for plan in sorted(self._timetable.plans.values(), key=lambda plan: plan.next or far):
            await self._consider(plan, now, reason)
        for plan in self._timetable.plans.values():
            self._alarms.set(plan.name, plan.next if plan.next is not None and plan.next > now else None)

    async def _take_news(self, now: datetime) -> None:
        """Take over how time passed and what changed in the folder; what could not be written comes again."""
        passage = self._passage.look(now, self._clock.monotonic())
        if passage is not Passage.EVEN:
            log.warning("clock.jumped", passage=passage.value, now=now.isoformat())
            self._passed = Passage.BACK if Passage.BACK in (passage, self._passed) else passage
        if self._passed is not Passage.EVEN:
            await self._timetable.break_off(now, back=self._passed is Passage.BACK)
            self._passed = Passage.EVEN
        self._changed |= self._folder.look()
        self._complain("heartbeats.unlisted", str(self._folder.problem or ""))
        for name in sorted(self._changed):
            await self._timetable.take(name, self._folder.found.get(name), now)
            self._alarms.set(name, None)
            self._changed.discard(name)

    async def _consider(self, plan: Plan, now: datetime, halted: str | None) -> None:
        running = plan.name in self._lanes
        if running and halted is None and plan.heartbeat.schedule.misfire == "all":
            return
        blocked = Reason.STILL_RUNNING if running else await self._forbidden(plan, now)
        if halted is not None:
            blocked = Reason.PAUSED
        hindered = bool(self._lanes.hindrance(plan.heartbeat))
        occurrence = await self._timetable.claim(plan, now, blocked, hindered, halted or "")
        if occurrence is not None:
            self._start(plan.heartbeat, occurrence)

    async def _forbidden(self, plan: Plan, now: datetime) -> Reason | None:
        if plan.next is None or plan.next > now:
            return None
        if is_empty(plan.heartbeat):
            return Reason.EMPTY
        return Reason.RESTING if await self._rules.resting(plan.heartbeat) else None

    async def _start_asked(self) -> None:
        for wish in self._asked.open():
            try:
                heartbeat = self._heartbeat(wish.name)
                if wish.name in self._lanes:
                    raise UsageError(f"{wish.name} is running now")
                if self._lanes.hindrance(heartbeat):
                    continue
                heartbeat, occurrence = await self.claim_now(wish.name)
            except TrimtabError as refused:
                wish.refuse(refused)
            else:
                wish.grant(Started(occurrence, self._start(heartbeat, occurrence)))

    def _start(self, heartbeat: Heartbeat, occurrence: Occurrence) -> asyncio.Task[Any]:
        assert self._group is not None
        self._lanes.enter(heartbeat)
        task = self._group.create_task(self._carry_out(heartbeat, occurrence), name=f"run {heartbeat.name}")
        task.add_done_callback(lambda _: self._ended(heartbeat.name))
        return task

    async def _carry_out(self, heartbeat: Heartbeat, occurrence: Occurrence) -> Any:
        return await self._dispatch(heartbeat, occurrence)

    def _ended(self, name: str) -> None:
        self._lanes.leave(name)
        self._nudged.set()

    def _heartbeat(self, name: str) -> Heartbeat:
        halted = self._rules.switch()
        if halted is not None:
            raise UsageError(f"everything is paused ({halted})")
        found = self._folder.found.get(name)
        if isinstance(found, ConfigError):
            raise found
        if found is None:
            raise UsageError(self._unknown(name))
        if is_empty(found):
            raise UsageError(f"{name} has no instruction; there is nothing to run")
        return found

    def _unknown(self, name: str) -> str:
        return f"no heartbeat is called {name!r}{fields.near(name, self._folder.found)}"

    def _complain(self, event: str, problem: str) -> None:
        """Log a problem when it comes up, not at every look that it lasts."""
        if problem and problem != self._complaints.get(event):
            log.error(event, problem=problem)
        self._complaints[event] = problem

    async def _drain(self) -> None:
        if not len(self._lanes):
            return
        log.info("scheduler.draining", runs=len(self._lanes), seconds=self._rules.drain_seconds)
        waits = [
            asyncio.ensure_future(each) for each in (self._lanes.empty(), self._clock.sleep(self._rules.drain_seconds))
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
