"""What becomes of due times that have come: which run now, which are written down as missed and why, what is due next.

Pure: everything that it judges by is an argument.  The rules, in the order in which they hold:

* never early: only times from the planned one up to now are judged;
* a time that is not a due time of the schedule any more is `schedule_changed`;
* while something forbids every run (the kill switch, an open breaker, the heartbeat still runs), nothing runs and that
  is the reason;
* `skip` runs nothing that came while nobody was looking (`missed_down`); `run_once` runs the newest and lets it stand
  for the others (`coalesced`); `all` runs each; none runs that is later than `grace` (`beyond_grace`).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime, timedelta

from daemon.heartbeat.due import Due, between
from daemon.types import Schedule

MOST_ROWS = 10_000
_A_TURN = timedelta(seconds=5)


class Reason(enum.StrEnum):
    """Why a due time did not run."""

    DOWN = "missed_down"
    BEYOND_GRACE = "beyond_grace"
    COALESCED = "coalesced"
    STILL_RUNNING = "skipped: still running"
    PAUSED = "paused"
    RESTING = "breaker_open"
    EMPTY = "empty_instruction"
    BAD_FILE = "bad_file"
    CHANGED = "schedule_changed"


@dataclass(frozen=True, slots=True)
class Missed:
    """Due times with the same reason; `text` begins with it, and says more where there is more to say."""

    reason: Reason
    times: tuple[datetime, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """The due times to run now, oldest first, the ones to write down, and the first due time that is still to come."""

    run: tuple[datetime, ...]
    missed: tuple[Missed, ...]
    next_due: datetime | None


@dataclass(frozen=True, slots=True)
class Watch:
    """Who was looking: without a break since `since`; times before that were missed for the reason `absent`.

    `blocked` is what forbids every run at the moment, None when nothing does; `why` says more of that.
    """

    since: datetime
    absent: Reason = Reason.DOWN
    blocked: Reason | None = None
    why: str = ""


def judge(
    schedule: Schedule, due: Due, planned: datetime, now: datetime, watch: Watch, *, most: int = MOST_ROWS
) -> Judgement:
    """Judge every due time from `planned`, the oldest that has no row yet, to `now`.

    At most `most` rows and one more are asked for; where there are more due times, the row of the oldest one stands for
    all that come before the newest `most`.
    """
    times, complete = between(due, planned, now, most)
    run = _to_run(schedule, times, now, watch)
    reasons = {time: _reason(schedule, time, run, watch) for time in times if time not in run}
    missed = [_missed(reason, [time for time in times if reasons.get(time) is reason], watch) for reason in Reason]
    if not complete:
        missed.insert(0, _summed(planned, times[0], watch))
    elif planned <= now and (not times or times[0] != planned):
        missed.insert(0, Missed(Reason.CHANGED, (planned,), Reason.CHANGED))
    return Judgement(tuple(run), tuple(each for each in missed if each.times), due.next_after(now))


def _to_run(schedule: Schedule, times: list[datetime], now: datetime, watch: Watch) -> list[datetime]:
    if watch.blocked is not None:
        return []
    oldest = now - max(schedule.grace, _A_TURN) - timedelta(seconds=1)
    fresh = [time for time in times if time > oldest and (schedule.misfire != "skip" or time >= watch.since)]
    return fresh if schedule.misfire == "all" else fresh[-1:]


def _reason(schedule: Schedule, time: datetime, run: list[datetime], watch: Watch) -> Reason:
    if run and schedule.misfire != "all":
        return Reason.COALESCED
    if time < watch.since:
        return Reason.BEYOND_GRACE if watch.absent is Reason.DOWN and schedule.misfire != "skip" else watch.absent
    return watch.blocked or Reason.BEYOND_GRACE


def _missed(reason: Reason, times: list[datetime], watch: Watch) -> Missed:
    text = f"{reason}: {watch.why}" if watch.why and reason is watch.blocked else reason
    return Missed(reason, tuple(times), text)


def _summed(planned: datetime, first: datetime, watch: Watch) -> Missed:
    text = f"{watch.absent}, like every due time from here up to {first:%Y-%m-%dT%H:%M:%SZ}"
    return Missed(watch.absent, (planned,), text)
