"""Due times inside a daily window, by night too and on the days when the clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from daemon.heartbeat.due import between
from daemon.heartbeat.trigger import trigger_of
from daemon.types import Schedule

BERLIN = ZoneInfo("Europe/Berlin")
SUNDAY = datetime(2026, 3, 29, tzinfo=UTC)
hours = st.integers(0, 23).map(time)


def walls(first: time, last: time, every: timedelta, day: datetime = SUNDAY) -> list[str]:
    """The due times of a day in Berlin, on the wall."""
    schedule = Schedule(every=every, timezone=BERLIN, active_hours=(first, last))
    start = datetime.combine(day.date(), time(0), BERLIN).astimezone(UTC)
    times, _ = between(trigger_of(schedule), start, start + timedelta(hours=22, minutes=59), 10_000)
    return [f"{moment.astimezone(BERLIN):%H:%M}" for moment in times]


def test_the_window_includes_its_start_and_excludes_its_end() -> None:
    """08:00-10:00 holds 08:00 and not 10:00."""
    assert ["08:00", "08:30", "09:00", "09:30"] == walls(time(8), time(10), timedelta(minutes=30))


def test_the_window_may_be_the_night() -> None:
    """22:00-03:30 holds the hours on both sides of midnight, without the one that is skipped in spring."""
    assert ["00:00", "01:00", "03:00", "22:00", "23:00"] == walls(time(22), time(3, 30), timedelta(hours=1))


def test_the_window_may_end_at_midnight() -> None:
    """20:00-24:00 holds the whole evening."""
    assert ["20:00", "22:00"] == walls(time(20), time(0), timedelta(hours=2))


@settings(deadline=None)
@given(
    first=hours,
    last=hours,
    every=st.sampled_from([timedelta(minutes=25), timedelta(hours=2), timedelta(hours=7)]),
    start=st.datetimes(
        datetime.fromisoformat("2026-01-01"), datetime.fromisoformat("2026-12-31"), timezones=st.just(UTC)
    ),
)
def test_a_window_leaves_out_what_lies_outside_and_nothing_else(
    first: time, last: time, every: timedelta, start: datetime
) -> None:
    """The due times with a window are those without it whose wall time lies inside."""
    assume(first != last)
    free = Schedule(every=every, timezone=BERLIN)
    kept = Schedule(every=every, timezone=BERLIN, active_hours=(first, last))
    span = (start, start + timedelta(days=5), 10_000)

    def inside(moment: datetime) -> bool:
        wall = moment.astimezone(BERLIN).time()
        return first <= wall < last if first < last else not last <= wall < first

    assert [each for each in between(trigger_of(free), *span)[0] if inside(each)] == between(trigger_of(kept), *span)[0]
