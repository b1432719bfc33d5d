"""What a turn, a day and a month may cost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guards import Call, Level, Output, Spend
from guards.budget import Budget, _calendar

ASK = (Call("look"),)
NOON = datetime(2031, 1, 31, 12, tzinfo=UTC).timestamp()


def spent(
    turn: str | None = "a",
    ts: float | None = None,
    calls: tuple[Call, ...] = (),
    *,
    tokens: int = 0,
    usd: float = 0.0,
    seconds: float = 0.0,
) -> Output:
    return Output("", calls, turn=turn, ts=ts, spend=Spend(tokens, usd, seconds))


def test_without_limits_nothing_trips() -> None:
    """The default has no limits."""
    assert Budget().update(spent(tokens=10**9, usd=1e9, seconds=1e9)).level is Level.PASS


def test_steps_trip_when_the_last_allowed_reply_asks_for_more() -> None:
    """Of three steps the third may answer but not call; calls of the second are not warned of yet."""
    guard = Budget(steps=3)
    assert [guard.update(spent(calls=ASK)).level for _ in range(3)] == [Level.PASS, Level.PASS, Level.TRIP]
    guard = Budget(steps=3)
    assert [guard.update(spent(calls=calls)).level for calls in (ASK, ASK, ())] == [Level.PASS] * 3


def test_a_new_turn_has_a_new_budget() -> None:
    """Counters of a turn end with it; outputs without a turn are each one."""
    guard = Budget(tokens=100)
    assert guard.update(spent("a", tokens=60)).level is Level.PASS
    assert guard.update(spent("b", tokens=60)).level is Level.PASS
    assert [guard.update(spent(None, tokens=60)).level for _ in range(5)] == [Level.PASS] * 5


@pytest.mark.parametrize(
    ("what", "outcome"), [("tokens", "over_budget"), ("usd", "over_budget"), ("seconds", "timed_out")]
)
def test_warns_at_eighty_percent_and_trips_at_a_hundred(what: str, outcome: str) -> None:
    """The score is the share used; the outcome says money or time."""
    guard = Budget(**{what: 10})
    two: dict[str, Any] = {what: 2}
    verdicts = [guard.update(spent(**two)) for _ in range(5)]
    assert [v.level for v in verdicts] == [Level.PASS] * 3 + [Level.WARN, Level.TRIP]
    assert [v.score for v in verdicts] == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert verdicts[-1].outcome == outcome


def test_a_budget_of_nothing_is_used_by_anything() -> None:
    """A limit of 0 dollars lets free outputs pass and no other."""
    guard = Budget(usd=0)
    assert guard.update(spent(usd=0.0)).level is Level.PASS
    assert guard.update(spent(usd=0.01)).level is Level.TRIP


def test_days_and_months_begin_anew_in_utc() -> None:
    """A day's spend ends at midnight, a month's with the month."""
    guard = Budget(usd_per_day=1.0, usd_per_month=3.0)
    assert guard.update(spent(None, NOON, usd=0.9)).level is Level.WARN
    assert guard.update(spent(None, NOON + 3600, usd=0.2)).level is Level.TRIP
    tomorrow = guard.update(spent(None, NOON + 86_400, usd=0.2))
    assert tomorrow.level is Level.PASS
    assert tomorrow.score == 0.2


def test_a_month_holds_many_days() -> None:
    """Thirty affordable days can be an unaffordable month."""
    guard = Budget(tokens_per_month=1000)
    first = datetime(2031, 3, 1, tzinfo=UTC).timestamp()
    levels = [guard.update(spent(None, first + 86_400 * day, tokens=40)).level for day in range(31)]
    assert levels.index(Level.TRIP) == 24


def test_a_clock_that_steps_back_over_midnight_refills_nothing() -> None:
    """Yesterday once more still counts what today has used."""
    guard = Budget(tokens_per_day=100)
    guard.update(spent(None, NOON, tokens=99))
    assert guard.update(spent(None, NOON - 86_400, tokens=2)).level is Level.TRIP


@given(st.integers(0, 300 * 366), st.integers(0, 86_399))
def test_the_calendar_is_the_civil_one(day: int, second: int) -> None:
    """Two moments share a running month exactly when the calendar says so, and months run without gaps."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=day, seconds=second)
    found, month = _calendar(day * 86_400.0 + second)
    assert found == day + 1
    epoch = _calendar(0.0)[1]
    assert month - epoch == (moment.year - 1970) * 12 + moment.month - 1


@pytest.mark.parametrize("ts", [float("nan"), float("inf"), -float("inf"), -5.0, 1e300])
def test_senseless_times_and_amounts_are_survived(ts: float) -> None:
    """No time and no amount raises or poisons the counters."""
    guard = Budget(usd=1.0, tokens_per_day=10)
    guard.update(spent("a", ts, usd=float("inf"), tokens=-5, seconds=float("nan")))
    fresh = Budget()
    fresh.load(guard.state())
    assert fresh.state() == guard.state()
