"""The breaker as a state machine, under clocks that jump."""

from __future__ import annotations

import json

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from guards import Breaker
from guards.breaker import DAY, Position

COOL = 1800.0


class BreakerMachine(RuleBasedStateMachine):
    """Trips, passes and questions in any order, with a clock that also jumps back, and saves and loads in between."""

    def __init__(self) -> None:
        super().__init__()
        self.breaker = Breaker(COOL)
        self.now = 1e9
        self.failed_probes = 0

    @rule(seconds=st.floats(0, 3 * DAY))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(seconds=st.floats(0, 400 * DAY))
    def clock_jumps_back(self, seconds: float) -> None:
        self.now -= seconds

    @rule()
    def guard_trips(self) -> None:
        probing = self.breaker.position is Position.HALF_OPEN
        self.failed_probes += probing
        self.breaker.trip(self.now)
        assert self.breaker.position is Position.OPEN
        assert self.breaker.wait(self.now) == self.breaker.rest == min(COOL * 2**self.failed_probes, DAY)

    @rule()
    def output_passes(self) -> None:
        allowed = self.breaker.wait(self.now) == 0
        self.breaker.passed(self.now)
        assert (self.breaker.position is Position.CLOSED) == allowed
        if allowed:
            self.failed_probes = 0

    @rule()
    def a_run_asks(self) -> None:
        waits = self.breaker.wait(self.now)
        assert self.breaker.allows(self.now) == (waits == 0)

    @rule()
    def rests_to_the_end(self) -> None:
        self.now += self.breaker.wait(self.now)
        self.now += 1e-3
        assert self.breaker.allows(self.now)
        assert self.breaker.position is not Position.OPEN

    @rule()
    def process_restarts(self) -> None:
        fresh = Breaker(COOL)
        fresh.load(json.loads(json.dumps(self.breaker.state())))
        assert fresh.state() == self.breaker.state()
        self.breaker = fresh

    @invariant()
    def never_waits_longer_than_a_day_or_less_than_nothing(self) -> None:
        assert 0 <= self.breaker.wait(self.now) <= self.breaker.rest <= DAY
        assert self.breaker.code in (0, 1, 2)


TestBreakerMachine = BreakerMachine.TestCase
TestBreakerMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def test_codes_are_what_the_metric_promises() -> None:
    """0 is closed, 1 half-open, 2 open."""
    breaker = Breaker(COOL)
    assert breaker.code == 0
    breaker.trip(10.0)
    assert breaker.code == 2
    assert breaker.allows(10.0 + COOL)
    assert breaker.code == 1


def test_rest_doubles_up_to_a_day() -> None:
    """Each failed probe doubles the rest, and a thousand of them do not overflow it."""
    breaker, now = Breaker(COOL), 0.0
    rests = []
    for _ in range(1000):
        breaker.trip(now)
        rests.append(breaker.rest)
        now += breaker.rest
        assert breaker.allows(now)
    assert rests[:7] == [1800, 3600, 7200, 14400, 28800, 57600, 86400]
    assert rests[-1] == DAY


def test_a_pass_closes_only_after_the_rest() -> None:
    """An output that passes while the breaker is open was not the probe."""
    breaker = Breaker(COOL)
    breaker.trip(0.0)
    breaker.passed(1.0)
    assert breaker.code == 2
    breaker.passed(COOL)
    assert breaker.code == 0


def test_a_clock_set_back_a_year_ends_within_one_rest() -> None:
    """A breaker that opened in the clock's future is open for one rest from now, not until that future."""
    breaker = Breaker(COOL)
    breaker.trip(1e9)
    assert not breaker.allows(1e9 - 365 * DAY)
    assert breaker.wait(1e9 - 365 * DAY) == COOL
    assert breaker.allows(1e9 - 365 * DAY + COOL)


@pytest.mark.parametrize("cool_down", [0, -1, 2 * DAY, float("nan"), float("inf")])
def test_a_senseless_cool_down_is_refused(cool_down: float) -> None:
    """A cool-down is more than nothing and at most a day."""
    with pytest.raises(ValueError, match="cool-down"):
        Breaker(cool_down)


@pytest.mark.parametrize("state", [{}, {"version": 1, "position": 3, "since": 0, "failed": 0}, {"version": 2}])
def test_a_damaged_state_leaves_the_breaker_as_it_was(state: dict[str, int]) -> None:
    """A state that cannot be read raises and changes nothing."""
    breaker = Breaker(COOL)
    breaker.trip(5.0)
    before = breaker.state()
    with pytest.raises(ValueError, match=r"."):
        breaker.load(state)
    assert breaker.state() == before
