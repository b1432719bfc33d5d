"""What a call cost."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from daemon.models.prices import Price


def test_each_kind_of_token_has_its_price() -> None:
    """Fresh, cached, stored and completed tokens are told apart; nothing is counted twice."""
    price = Price(prompt=3, completion=15, cached=0.3, cache_write=3.75)
    usd = price.usd(prompt=1_000_000, reused=500_000, written=100_000, completion=200_000)
    assert usd == pytest.approx(0.4 * 3 + 0.5 * 0.3 + 0.1 * 3.75 + 0.2 * 15)


def test_without_a_cached_price_all_of_the_prompt_costs_the_same() -> None:
    """The careful assumption is that the provider gives nothing away."""
    assert Price(prompt=2, completion=0).usd(prompt=10, reused=10, written=0, completion=5) == pytest.approx(2e-5)


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf")])
def test_a_price_is_a_number_of_dollars(bad: float) -> None:
    """A price that is negative or no number is refused."""
    with pytest.raises(ValidationError):
        Price(prompt=bad, completion=1)
