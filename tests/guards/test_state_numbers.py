"""Lists of numbers in a saved memory: what a guard would not have written is refused."""

from __future__ import annotations

import pytest

from guards.base import Json
from guards.memory import integers, numbers

NEVER_WHOLE: list[Json] = [True, 1.0, "1", None, -1, 10**30]
NEVER_FINITE: list[Json] = [True, "1", None, float("nan"), float("inf"), 10**400]


@pytest.mark.parametrize("wrong", NEVER_WHOLE)
def test_a_list_of_whole_numbers_holds_nothing_else(wrong: Json) -> None:
    """A truth value, a fraction, a text, or a number out of range makes the list damaged."""
    assert [0, 7] == integers({"seen": [0, 7]}, "seen", 3)
    with pytest.raises(ValueError, match="'seen' should hold whole numbers"):
        integers({"seen": [0, wrong]}, "seen", 3)


@pytest.mark.parametrize("wrong", NEVER_FINITE)
def test_a_list_of_numbers_holds_finite_ones(wrong: Json) -> None:
    """What is no number, or is none that can be reckoned with, makes the list damaged."""
    assert [0.0, 0.5] == numbers({"logs": [0, 0.5]}, "logs", 3)
    with pytest.raises(ValueError, match="'logs' should hold finite numbers"):
        numbers({"logs": [0.5, wrong]}, "logs", 3)
