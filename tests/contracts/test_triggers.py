"""What every trigger in the registry promises."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.heartbeat import TRIGGERS
from daemon.heartbeat.due import Due
from daemon.registry import load
from daemon.types import Schedule

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Cairo"]
SECOND = timedelta(seconds=1)
BAD = ["", " ", "soon", "-1", [], ["30m"], {}, {"a": "b"}, "0", "1e9", "\x00", "９m", "*" * 500]
moments = st.datetimes(
    datetime.fromisoformat("2024-01-01"), datetime.fromisoformat("2027-12-31"), timezones=st.just(UTC)
)


def trigger(key: str, zone: ZoneInfo) -> Due:
    """Build a trigger of the registry from its own example."""
    kind: Any = load("trigger", TRIGGERS, key)
    made: Due = kind(Schedule(timezone=zone, **{key: kind.read(kind.example, zone)}))
    return made


@pytest.mark.parametrize("key", TRIGGERS)
@settings(deadline=None)
@given(moment=moments, zone=st.sampled_from(ZONES))
def test_a_due_time_comes_after_the_moment(key: str, moment: datetime, zone: str) -> None:
    """A due time is later than the moment asked about, in UTC and to the second."""
    due = trigger(key, ZoneInfo(zone)).next_after(moment)

    assert due is None or (due > moment and due.tzinfo is UTC and due.microsecond == 0)


@pytest.mark.parametrize("key", TRIGGERS)
@settings(deadline=None)
@given(moment=moments, zone=st.sampled_from(ZONES))
def test_a_trigger_has_no_memory(key: str, moment: datetime, zone: str) -> None:
    """Two triggers of the same schedule agree, whatever one of them was asked before: a restart moves nothing."""
    old = trigger(key, ZoneInfo(zone))
    old.next_after(moment + timedelta(days=400))

    assert trigger(key, ZoneInfo(zone)).next_after(moment) == old.next_after(moment)


@pytest.mark.parametrize("key", TRIGGERS)
@settings(deadline=None)
@given(moment=moments, later=st.timedeltas(timedelta(0), timedelta(days=3)), zone=st.sampled_from(ZONES))
def test_no_due_time_is_skipped(key: str, moment: datetime, later: timedelta, zone: str) -> None:
    """Asked at any moment before a due time, the trigger names that one or an earlier one, never a later one."""
    due = trigger(key, ZoneInfo(zone))
    target = due.next_after(moment)
    between = due.next_after(moment + later)

    assert target is None or between is None or (between == target) == (moment + later < target)
    assert target is None or due.next_after(target - SECOND) == target


@pytest.mark.parametrize("key", TRIGGERS)
@pytest.mark.parametrize("value", BAD)
def test_a_bad_value_gets_one_line(key: str, value: Any) -> None:
    """A value that is not understood raises ValueError with one line that says what was expected."""
    with pytest.raises(ValueError, match="expected") as wrong:
        load("trigger", TRIGGERS, key).read(value, ZoneInfo("UTC"))

    assert "\n" not in str(wrong.value)
    assert len(str(wrong.value)) < 250


@pytest.mark.parametrize("key", TRIGGERS)
@settings(deadline=None)
@given(value=st.text(max_size=40))
def test_no_text_breaks_a_trigger(key: str, value: str) -> None:
    """Any text at all is read, or is a ValueError."""
    kind: Any = load("trigger", TRIGGERS, key)
    try:
        read = kind.read(value, ZoneInfo("UTC"))
    except ValueError:
        return

    assert kind(Schedule(**{key: read})).next_after(datetime(2026, 1, 1, tzinfo=UTC)) is not read
