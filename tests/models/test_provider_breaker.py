"""A provider that keeps failing is left alone, and one call finds out when it is back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from daemon.models.provider_breaker import ProviderBreaker


def test_it_opens_after_the_limit_and_lets_one_probe_through() -> None:
    """Closed, open, half-open, closed."""
    breaker = ProviderBreaker(limit=3, cooldown=30)
    for _ in range(3):
        assert breaker.rest(0) is None
        breaker.failed(0)
    assert breaker.rest(10) == 20
    assert breaker.rest(31) is None
    assert breaker.rest(31) is not None, "only one probe at a time"
    breaker.worked()
    assert breaker.rest(31) is None


def test_each_failed_probe_doubles_the_rest() -> None:
    """The rest grows, but never beyond a quarter of an hour."""
    breaker, now, rests = ProviderBreaker(limit=1, cooldown=30), 0.0, []
    for _ in range(8):
        assert breaker.rest(now) is None
        breaker.failed(now)
        rests.append(breaker.rest(now))
        now += rests[-1] or 0
    assert rests == [30, 60, 120, 240, 480, 900, 900, 900]


def test_a_wait_that_the_provider_asked_for_is_kept() -> None:
    """One answer with a long Retry-After is enough to leave it alone for so long."""
    breaker = ProviderBreaker(limit=5)
    breaker.failed(0, after=1800)
    assert breaker.rest(60) == 1740


def test_a_cancelled_probe_frees_the_way_for_the_next() -> None:
    """A probe that said nothing about the provider does not block it for ever."""
    breaker = ProviderBreaker(limit=1, cooldown=10)
    breaker.failed(0)
    assert breaker.rest(11) is None
    breaker.unknown()
    assert breaker.rest(11) is None


@given(st.lists(st.tuples(st.floats(0, 2000), st.sampled_from(["worked", "failed", "unknown"])), max_size=40))
def test_it_never_rests_for_ever(history: list[tuple[float, str]]) -> None:
    """Whatever happened, a call is let through within a quarter of an hour."""
    breaker, now = ProviderBreaker(), 0.0
    for passed, end in history:
        now += passed
        if breaker.rest(now) is None:
            breaker.failed(now) if end == "failed" else getattr(breaker, end)()
    rest = breaker.rest(now) or 0.0
    assert rest <= 900
    breaker.unknown()
    assert breaker.rest(now + rest) is None
