"""The days on which the clocks change, against a count of every minute."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.heartbeat.cron import Cron
from daemon.heartbeat.due import Due, between
from daemon.heartbeat.every import Every
from daemon.heartbeat.wall import next_moment
from daemon.types import Schedule

MINUTE = timedelta(minutes=1)
CHANGES = [
    ("Europe/Berlin", datetime(2026, 3, 29, 1, tzinfo=UTC)),
    ("Europe/Berlin", datetime(2026, 10, 25, 1, tzinfo=UTC)),
    ("America/New_York", datetime(2026, 3, 8, 7, tzinfo=UTC)),
    ("America/New_York", datetime(2026, 11, 1, 6, tzinfo=UTC)),
    ("Australia/Lord_Howe", datetime(2026, 4, 4, 15, tzinfo=UTC)),
    ("Australia/Lord_Howe", datetime(2026, 10, 3, 15, 30, tzinfo=UTC)),
    ("Africa/Cairo", datetime(2026, 4, 23, 22, tzinfo=UTC)),
    ("Africa/Cairo", datetime(2026, 10, 29, 21, tzinfo=UTC)),
    ("Pacific/Apia", datetime(2011, 12, 30, 10, tzinfo=UTC)),
]


def counted(zone: ZoneInfo, first: datetime, last: datetime, length: timedelta, *, evenly: bool) -> list[datetime]:
    """Every due minute from `first` to `last`, found by looking at each."""
    found, before, moment = [], (first - MINUTE).astimezone(zone).replace(tzinfo=None), first
    while moment <= last:
        local = moment.astimezone(zone)
        wall = local.replace(tzinfo=None)
        skipped, missing = before + MINUTE, False
        while skipped < wall and not evenly:
            missing |= not (skipped - datetime.fromisoformat("1970-01-01")) % length
            skipped += MINUTE
        matches = not (wall - datetime.fromisoformat("1970-01-01")) % length
        if missing or (matches and (evenly or not local.fold)):
            found.append(moment)
        before, moment = wall, moment + MINUTE
    return found


def due_times(due: Due, first: datetime, last: datetime) -> list[datetime]:
    """Every due time from `first` to `last`."""
    times, complete = between(due, first, last, 100_000)
    assert complete
    return times


@pytest.mark.parametrize(("name", "change"), CHANGES)
@settings(deadline=None)
@given(minutes=st.sampled_from([1, 7, 15, 20, 30, 40, 45, 50, 60, 61, 90, 120, 180, 420, 720, 1440, 4320]))
def test_a_cadence_crosses_a_change_of_the_clocks(name: str, change: datetime, minutes: int) -> None:
    """Around every kind of change, the due times are those that counting every minute gives."""
    length, zone = timedelta(minutes=minutes), ZoneInfo(name)
    first, last = change - timedelta(hours=30), change + timedelta(hours=30)

    times = due_times(Every(Schedule(every=length, timezone=zone)), first, last)

    assert counted(zone, first, last, length, evenly=minutes <= 60) == times


@pytest.mark.parametrize(("name", "change"), CHANGES)
def test_a_half_hour_stays_a_half_hour(name: str, change: datetime) -> None:
    """`every: 30m` is never more than 30 minutes from the one before, and on the wall at :00 and :30."""
    zone = ZoneInfo(name)
    times = due_times(
        Every(Schedule(every=30 * MINUTE, timezone=zone)), change - timedelta(days=2), change + timedelta(days=2)
    )

    assert {timedelta(minutes=30)} == {later - sooner for sooner, later in pairwise(times)}
    assert {0, 30} == {time.astimezone(zone).minute for time in times}


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        (datetime.fromisoformat("2026-03-28"), ["2026-03-28T01:30Z", "2026-03-29T01:00Z", "2026-03-30T00:30Z"]),
        (datetime.fromisoformat("2026-10-24"), ["2026-10-24T00:30Z", "2026-10-25T00:30Z", "2026-10-26T01:30Z"]),
    ],
)
def test_a_nightly_job_runs_once_a_night(day: datetime, expected: list[str]) -> None:
    """02:30 in Berlin is due once on the night it is skipped (at 03:00) and once on the night it comes twice."""
    zone = ZoneInfo("Europe/Berlin")
    first = day.replace(tzinfo=zone).astimezone(UTC)
    times = due_times(Cron(Schedule(cron="30 2 * * *", timezone=zone)), first, first + timedelta(days=3))

    assert expected == [f"{time:%Y-%m-%dT%H:%MZ}" for time in times]


def test_an_hourly_cron_job_stays_hourly() -> None:
    """`15 * * * *` runs in both of the two hours that are called two, and not at all in the one that is skipped."""
    zone = ZoneInfo("Europe/Berlin")
    for change in (datetime(2026, 3, 29, 1, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC)):
        times = due_times(
            Cron(Schedule(cron="15 * * * *", timezone=zone)), change - timedelta(hours=5), change + timedelta(hours=5)
        )

        assert {timedelta(hours=1)} == {later - sooner for sooner, later in pairwise(times)}


def test_a_pattern_may_come_to_an_end() -> None:
    """No next wall time is no next moment."""
    assert next_moment(datetime(2026, 1, 1, tzinfo=UTC), ZoneInfo("UTC"), lambda wall: None, evenly=True) is None
