"""The due times of every heartbeat and what the ledger is told of them.

`Plan.next` is the oldest due time that has no row in the ledger yet, and always what the ledger holds as planned, so
that a timetable that is built again after a crash goes on exactly there.  It knows neither when to look nor how a run
is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog

from daemon.errors import ConfigError, UsageError
from daemon.heartbeat.due import Due
from daemon.heartbeat.folder import Found
from daemon.heartbeat.misfire import Missed, Reason, Watch, judge
from daemon.heartbeat.trigger import trigger_of
from daemon.stages import Ledger, Observer
from daemon.types import Heartbeat, Occurrence

log = structlog.get_logger()
_BUMPS = 120
_LONG_AGO = datetime(1970, 1, 2, tzinfo=UTC)


@dataclass(slots=True)
class Plan:
    """A heartbeat that is scheduled.  `last` says what became of its latest due time since the daemon started."""

    heartbeat: Heartbeat
    due: Due
    next: datetime | None
    watch: Watch
    last: str = ""

    @property
    def name(self) -> str:
        return self.heartbeat.name


class Timetable:
    """The plans by name, kept in step with the ledger."""

    def __init__(self, ledger: Ledger, observers: Sequence[Observer]) -> None:
        self._ledger, self._observers = ledger, observers
        self._bad: set[str] = set()
        self.plans: dict[str, Plan] = {}

    async def take(self, name: str, found: Found | None, now: datetime) -> None:
        """Take over what the folder found under a name; None is nothing any more."""
        old = self.plans.get(name)
        if isinstance(found, Heartbeat):
            if old and old.heartbeat.schedule == found.schedule and not old.heartbeat.paused and not found.paused:
                old.heartbeat = found
            else:
                await self._schedule(found, now, old)
            self._bad.discard(name)
        elif isinstance(found, ConfigError):
            self.plans.pop(name, None)
            self._bad.add(name)
            self._tell(name, None, None)
            log.warning("heartbeat.rejected", heartbeat=name, problem=str(found))
        else:
            self.plans.pop(name, None)
            self._bad.discard(name)
            await self._forget(name, now)

    async def claim(
        self, plan: Plan, now: datetime, blocked: Reason | None, hindered: bool, why: str = ""
    ) -> Occurrence | None:
        """Settle every due time of a plan up to `now`, and claim the one that is to run, if there is one.

        `blocked` forbids it, and `why` is written down with that; `hindered` leaves what is to run unclaimed, to be
        judged again at the next look.
        """
        if plan.next is None or plan.next > now:
            return None
        watch = Watch(plan.watch.since, plan.watch.absent, blocked, why)
        judgement = judge(plan.heartbeat.schedule, plan.due, plan.next, now, watch)
        for missed in judgement.missed:
            await self._miss(plan, missed)
        times = (*judgement.run, judgement.next_due)
        if hindered or not judgement.run:
            await self._plan(plan, times[0])
            return None
        for time, after in zip(judgement.run, times[1:], strict=True):
            occurrence = await self._ledger.claim(plan.name, time, next_due=after)
            plan.next = after
            if occurrence is not None:
                plan.last = f"{_shown(time)} ran"
                self._tell(plan.name, plan.next, (now - time).total_seconds())
                log.info("occurrence.claimed", heartbeat=plan.name, scheduled_for=_shown(time), next_due=_shown(after))
                return occurrence
            log.info(
                "occurrence.passed", heartbeat=plan.name, scheduled_for=_shown(time), reason="it has a row already"
            )
        await self._ledger.plan(plan.name, judgement.next_due)
        self._tell(plan.name, plan.next, None)
        return None

    async def claim_manual(self, name: str, now: datetime) -> Occurrence:
        """Claim the present moment, or the first microsecond after it that has no row.  UsageError when none is near.

        Due times are whole seconds, so a run by hand takes none of them away.
        """
        for bump in range(_BUMPS):
            time = now.replace(microsecond=now.microsecond or 1) + timedelta(microseconds=bump)
            occurrence = await self._ledger.claim(name, time, next_due=None, manual=True)
            if occurrence is not None:
                if plan := self.plans.get(name):
                    plan.last = f"{_shown(time)} ran (manual)"
                log.info("occurrence.claimed", heartbeat=name, scheduled_for=_shown(time), manual=True)
                return occurrence
        raise UsageError(f"each of the next {_BUMPS} microseconds of {name} is taken; try again")

    async def break_off(self, now: datetime, *, back: bool) -> None:
        """Say that nobody was looking until now; where the clock went back, plan anew from where it stands."""
        for plan in self.plans.values():
            plan.watch = Watch(now)
            if back and plan.next is not None and plan.next > now:
                await self._plan(plan, plan.due.next_after(now))

    async def _schedule(self, heartbeat: Heartbeat, now: datetime, old: Plan | None) -> None:
        planned = await self._ledger.planned(heartbeat.name)
        due = trigger_of(heartbeat.schedule)
        absent = Reason.BAD_FILE if heartbeat.name in self._bad else Reason.DOWN
        plan = Plan(heartbeat, due, planned, Watch(now, absent), old.last if old else "")
        if heartbeat.paused:
            await self.claim(plan, now, Reason.PAUSED, hindered=True)
            await self._plan(plan, None)
        elif planned is None or planned > now:
            await self._plan(plan, due.next_after(now) or due.next_after(_LONG_AGO))
        self.plans[heartbeat.name] = plan
        self._tell(plan.name, plan.next, None)
        log.info("heartbeat.scheduled", heartbeat=plan.name, next_due=_shown(plan.next), paused=heartbeat.paused)

    async def _forget(self, name: str, now: datetime) -> None:
        planned = await self._ledger.planned(name)
        if planned is not None and planned <= now:
            await self._ledger.miss(name, [planned], Reason.CHANGED)
        await self._ledger.plan(name, None)
        for observer in self._observers:
            observer.heartbeat_removed(name)
        log.info("heartbeat.removed", heartbeat=name)

    async def _miss(self, plan: Plan, missed: Missed) -> None:
        count = await self._ledger.miss(plan.name, missed.times, missed.text)
        if not count:
            return
        plan.last = f"{_shown(missed.times[-1])} did not run: {missed.text}"
        log.warning(
            "occurrence.missed",
            heartbeat=plan.name,
            reason=missed.text,
            count=count,
            first=_shown(missed.times[0]),
            last=_shown(missed.times[-1]),
        )
        for observer in self._observers:
            observer.occurrence_missed(plan.name, missed.reason, count)

    async def _plan(self, plan: Plan, due: datetime | None) -> None:
        if due != plan.next:
            await self._ledger.plan(plan.name, due)
            plan.next = due
            self._tell(plan.name, plan.next, None)

    def _tell(self, name: str, due: datetime | None, lag: float | None) -> None:
        for observer in self._observers:
            observer.next_due(name, due, lag)


def _shown(moment: datetime | None) -> str:
    return "never" if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}"
