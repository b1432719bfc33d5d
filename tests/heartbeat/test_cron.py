"""The five fields mean what they mean to cron."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.heartbeat.cron import Cron
from daemon.heartbeat.cron_fields import FIELDS, numbers
from daemon.types import Schedule

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)  # a Thursday


def upcoming(line: str, count: int = 4, after: datetime = NEW_YEAR) -> list[str]:
    """The next due times as weekday, day, hour and minute."""
    cron, times, moment = Cron(Schedule(cron=Cron.read(line, ZoneInfo("UTC")))), list[str](), after
    for _ in range(count):
        due = cron.next_after(moment)
        assert due is not None
        moment = due
        times.append(f"{moment:%a %m-%d %H:%M}")
    return times


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("0 9 * * 0", ["Sun 01-04 09:00", "Sun 01-11 09:00"]),
        ("0 9 * * 7", ["Sun 01-04 09:00", "Sun 01-11 09:00"]),
        ("0 9 * * 1", ["Mon 01-05 09:00", "Mon 01-12 09:00"]),
        ("0 9 * * sat", ["Sat 01-03 09:00", "Sat 01-10 09:00"]),
        ("0 9 * * 5-7", ["Fri 01-02 09:00", "Sat 01-03 09:00", "Sun 01-04 09:00", "Fri 01-09 09:00"]),
        ("0 9 * * Sat-Sun", ["Sat 01-03 09:00", "Sun 01-04 09:00", "Sat 01-10 09:00"]),
        ("0 9 * * sun-tue", ["Sun 01-04 09:00", "Mon 01-05 09:00", "Tue 01-06 09:00", "Sun 01-11 09:00"]),
        ("0 9 * * */2", ["Thu 01-01 09:00", "Sat 01-03 09:00", "Sun 01-04 09:00", "Tue 01-06 09:00"]),
        ("*/30 8-20 * * 1-5", ["Thu 01-01 08:00", "Thu 01-01 08:30"]),
        ("0 0 1,15 * *", ["Thu 01-15 00:00", "Sun 02-01 00:00"]),
        ("0 0 10 * 1", ["Mon 01-05 00:00", "Sat 01-10 00:00", "Mon 01-12 00:00"]),
        ("0 0 */10 * 1", ["Mon 05-11 00:00"]),
        ("5 4 * jan-feb,dec *", ["Thu 01-01 04:05", "Fri 01-02 04:05"]),
        ("0 12 31 * *", ["Sat 01-31 12:00", "Tue 03-31 12:00"]),
    ],
)
def test_a_line_means_what_cron_means(line: str, expected: list[str]) -> None:
    """Sunday is 0 and 7, either of two restricted day fields is enough, and a step starts at the field's lowest."""
    assert expected == upcoming(line, len(expected))


def test_leap_days_are_waited_for() -> None:
    """29 February is due in 2028, and then in 2032."""
    cron = Cron(Schedule(cron="0 0 29 2 *"))
    first = cron.next_after(NEW_YEAR)
    assert first is not None

    assert datetime(2028, 2, 29, tzinfo=UTC) == first
    assert datetime(2032, 2, 29, tzinfo=UTC) == cron.next_after(first)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("0 0 * * * *", "not 6 fields; there is no field for seconds"),
        ("* * * *", "not 4 fields"),
        ("61 * * * *", "minute: expected 0-59, not '61'"),
        ("* 24 * * *", "hour: expected 0-23, not '24'"),
        ("* * 0 * *", "day of month: expected 1-31, not '0'"),
        ("* * * 13 *", "month: expected 1-12 or jan-dec, not '13'"),
        ("* * * * 8", "day of week: expected 0-7 or sun-sat, not '8'"),
        ("* * * * monday", "day of week: expected 0-7 or sun-sat, not 'monday'"),
        ("30-10 * * * *", "minute: expected a range from low to high, not '30-10'"),
        ("*/0 * * * *", "minute: expected a step from 1 to 59, not '*/0'"),
        ("*/60 * * * *", "minute: expected a step from 1 to 59, not '*/60'"),
        ("1,,2 * * * *", "minute: expected numbers, ranges, lists and steps"),
        ("* * L * *", "day of month: expected 1-31, not 'L'"),
        ("* * ? * *", "day of month: expected numbers"),
        ("@daily", "write its five fields"),
    ],
)
def test_a_wrong_line_says_which_field(line: str, said: str) -> None:
    """The error names the field, what it may hold and what was there."""
    with pytest.raises(ValueError, match="expected") as wrong:
        Cron.read(line, ZoneInfo("UTC"))

    assert said in str(wrong.value)


@settings(deadline=None)
@given(
    minutes=st.sets(st.integers(0, 59), min_size=1),
    weekdays=st.sets(st.integers(0, 6), min_size=1),
    moment=st.datetimes(
        datetime.fromisoformat("2024-01-01"), datetime.fromisoformat("2027-01-01"), timezones=st.just(UTC)
    ),
)
def test_the_next_match_is_the_first_that_looking_finds(
    minutes: set[int], weekdays: set[int], moment: datetime
) -> None:
    """Minute by minute from any moment on, the first that matches the lists is the one that is due."""
    line = f"{','.join(map(str, minutes))} */6 * * {','.join(map(str, weekdays))}"
    found = moment.replace(second=0, microsecond=0)
    while True:
        found += timedelta(minutes=1)
        if found.minute in minutes and found.hour % 6 == 0 and (found.weekday() + 1) % 7 in weekdays:
            break

    assert found == Cron(Schedule(cron=line)).next_after(moment)


@settings(deadline=None)
@given(st.sampled_from(FIELDS), st.data())
def test_a_range_with_a_step_is_a_range_with_a_step(field: object, data: st.DataObject) -> None:
    """first-last/step stands for exactly the numbers that range() gives."""
    chosen = next(each for each in FIELDS if each is field)
    first = data.draw(st.integers(chosen.low, min(chosen.high, 6)))
    last = data.draw(st.integers(first, min(chosen.high, 6)))
    step = data.draw(st.integers(1, chosen.high))

    assert list(range(first, last + 1, step)) == numbers(f"{first}-{last}/{step}", chosen)
