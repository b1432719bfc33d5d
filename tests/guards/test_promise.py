"""One promise for the whole panel."""

from __future__ import annotations

import math

from guards import GUARDS
from guards.panel import guard_class
from guards.promise import TESTS, YEAR, limit


def test_no_more_tests_run_than_the_promise_shares_the_year_among() -> None:
    """Every sequential guard says how many tests it runs, and all together are at most those that share the promise."""
    assert sum(guard_class(name).tests for name in GUARDS) <= TESTS


def test_more_caution_is_a_higher_limit() -> None:
    """Ten times the years to one false trip, or ten times the candidates, is the same addition."""
    assert math.isclose(limit(), math.log(YEAR * TESTS))
    assert math.isclose(limit(caution=10) - limit(), math.log(10))
    assert math.isclose(limit(among=10), limit(caution=10))
