"""What becomes of due times that have come, for every policy, on numbers that can be checked by hand and at random."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.heartbeat.due import between
from daemon.heartbeat.misfire import Judgement, Reason, Watch, judge
from daemon.heartbeat.trigger import trigger_of
from daemon.types import Schedule

MINUTE = timedelta(minutes=1)
EIGHT = datetime(2026, 3, 2, 8, tzinfo=UTC)
Misfire = Literal["skip", "run_once", "all"]


def told(judgement: Judgement) -> tuple[list[str], dict[str, list[str]]]:
    """The times to run and the missed ones by reason, as HH:MM."""
    return (
        [f"{time:%H:%M}" for time in judgement.run],
        {missed.text: [f"{time:%H:%M}" for time in missed.times] for missed in judgement.missed},
    )


@pytest.mark.parametrize(
    ("misfire", "grace", "since", "run", "missed"),
    [
        ("run_once", 10, 0, ["08:50"], {"coalesced": ["08:30", "08:40"]}),
        ("run_once", 4, 0, [], {"beyond_grace": ["08:30", "08:40", "08:50"]}),
        ("all", 20, 0, ["08:40", "08:50"], {"beyond_grace": ["08:30"]}),
        ("all", 60, 0, ["08:30", "08:40", "08:50"], {}),
        ("skip", 10, 56, [], {"missed_down": ["08:30", "08:40", "08:50"]}),
        ("skip", 10, 45, ["08:50"], {"coalesced": ["08:30", "08:40"]}),
        ("run_once", 4, 56, [], {"beyond_grace": ["08:30", "08:40", "08:50"]}),
    ],
)
def test_a_backlog_is_judged_by_its_policy(
    misfire: Misfire, grace: int, since: int, run: list[str], missed: dict[str, list[str]]
) -> None:
    """At 08:56, with 08:30 to 08:50 behind, each policy runs and writes down what it says it does."""
    schedule = Schedule(every=10 * MINUTE, misfire=misfire, grace=grace * MINUTE)
    now = EIGHT + 56 * MINUTE
    judgement = judge(schedule, trigger_of(schedule), EIGHT + 30 * MINUTE, now, Watch(EIGHT + since * MINUTE))

    assert (run, missed) == told(judgement)
    assert EIGHT + 60 * MINUTE == judgement.next_due


@pytest.mark.parametrize("blocked", [Reason.PAUSED, Reason.STILL_RUNNING, Reason.RESTING])
def test_what_is_forbidden_says_so(blocked: Reason) -> None:
    """Nothing runs, and what came due while somebody was looking has the hindrance as its reason."""
    schedule = Schedule(every=10 * MINUTE, misfire="all", grace=timedelta(hours=1))
    watch = Watch(EIGHT + 35 * MINUTE, blocked=blocked)
    judgement = judge(schedule, trigger_of(schedule), EIGHT + 30 * MINUTE, EIGHT + 56 * MINUTE, watch)

    assert ([], {"beyond_grace": ["08:30"], str(blocked): ["08:40", "08:50"]}) == told(judgement)


def test_a_turn_of_the_loop_is_not_an_outage() -> None:
    """Without any grace at all, a due time that the loop comes to a moment later still runs."""
    schedule = Schedule(every=10 * MINUTE, grace=timedelta(0))
    judgement = judge(schedule, trigger_of(schedule), EIGHT, EIGHT + timedelta(seconds=3.9), Watch(EIGHT))

    assert (["08:00"], {}) == told(judgement)


def test_years_without_a_clock_cost_a_bounded_number_of_rows() -> None:
    """Of ten years of seconds only the newest have their own rows; the oldest row stands for the rest and says so."""
    schedule = Schedule(every=timedelta(seconds=1), grace=timedelta(0))
    ancient = EIGHT - timedelta(days=3650)
    judgement = judge(schedule, trigger_of(schedule), ancient, EIGHT, Watch(EIGHT), most=50)
    summed, coalesced = judgement.missed

    assert ((EIGHT,), 49) == (judgement.run, len(coalesced.times))
    assert ((ancient,), "missed_down, like every due time from here up to 2026-03-02T07:59:11Z") == (
        summed.times,
        summed.text,
    )


def test_a_time_of_an_old_schedule_is_written_down_as_such() -> None:
    """What was planned and is no due time any more is `schedule_changed`, and nothing runs for it."""
    schedule = Schedule(cron="0 12 * * *")
    judgement = judge(schedule, trigger_of(schedule), EIGHT, EIGHT + 30 * MINUTE, Watch(EIGHT))

    assert ([], {"schedule_changed": ["08:00"]}) == told(judgement)


schedules = st.builds(
    Schedule,
    every=st.sampled_from([timedelta(seconds=90), 7 * MINUTE, 45 * MINUTE, timedelta(hours=5), timedelta(days=1)]),
    timezone=st.sampled_from([ZoneInfo("UTC"), ZoneInfo("Europe/Berlin"), ZoneInfo("Australia/Lord_Howe")]),
    misfire=st.sampled_from(["skip", "run_once", "all"]),
    grace=st.sampled_from([timedelta(0), 10 * MINUTE, timedelta(hours=30)]),
)
spans = st.timedeltas(timedelta(0), timedelta(days=4))


@settings(deadline=None)
@given(
    schedule=schedules,
    start=st.datetimes(
        datetime.fromisoformat("2026-03-20"), datetime.fromisoformat("2026-11-01"), timezones=st.just(UTC)
    ),
    span=spans,
    looked=spans,
    blocked=st.sampled_from([None, Reason.PAUSED]),
    most=st.sampled_from([3, 100_000]),
)
def test_every_due_time_gets_exactly_one_judgement(
    schedule: Schedule, start: datetime, span: timedelta, looked: timedelta, blocked: Reason | None, most: int
) -> None:
    """From the planned time to now each due time is run or missed, never both, never early, and bounded in number."""
    due = trigger_of(schedule)
    planned = due.next_after(start)
    assert planned is not None
    now = start + span
    judgement = judge(schedule, due, planned, now, Watch(start + looked, blocked=blocked), most=most)
    rows = [time for missed in judgement.missed for time in missed.times]
    slots, _ = between(due, planned, now, 1_000_000)

    assert sorted([*judgement.run, *rows]) == (slots if len(slots) <= most else [planned, *slots[-most:]])
    assert all(time <= now for time in judgement.run)
    assert list(judgement.run) == sorted(judgement.run)
    assert len(judgement.run) <= (0 if blocked else 1 if schedule.misfire != "all" else most)
    assert judgement.next_due == due.next_after(now)
    if schedule.misfire == "skip":
        assert all(time >= start + looked for time in judgement.run)
