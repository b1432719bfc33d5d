"""A call that one reply holds twice: it ran as often as it was answered."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from guards import Call, CallResult, Level, Output
from guards.tools import Tools

LOOK = Call("look", {"at": "log"})
CALM = CallResult(True, "All is calm.")


def first_trip(replies: Sequence[tuple[Sequence[Call], Sequence[CallResult]]]) -> int | None:
    """Return the first reply at which the guard trips, before or after its calls ran."""
    guard = Tools()
    for row, (calls, results) in enumerate(replies):
        before = guard.update(Output("", tuple(calls)))
        after = guard.observe(results) if results else before
        if Level.TRIP in (before.level, after.level):
            return row
    return None


@pytest.mark.parametrize(
    ("calls", "results", "row"),
    [([LOOK], [CALM], 3), ([LOOK] * 2, [CALM], 3), ([LOOK] * 2, [CALM] * 2, 1), ([LOOK] * 2, [], 4)],
    ids=["once", "written down twice", "made twice", "never answered"],
)
def test_a_call_counts_as_often_as_it_was_answered(calls: list[Call], results: list[CallResult], row: int) -> None:
    """Some recorders write each call down twice: four answers are a circle, two calls with one answer are one call."""
    assert first_trip([(calls, results)] * 6) == row


def test_answers_belong_to_different_calls_where_there_are_no_more_of_them() -> None:
    """Beside a call that stands twice, the second of two answers is that of the other call."""
    searches = [Call("search", {"q": f"boat {i}"}) for i in range(8)]
    replies = [([LOOK, LOOK, search], [CallResult(True, f"mark {i}"), CallResult(True, "no results found")])
               for i, search in enumerate(searches)]  # fmt: skip
    assert first_trip(replies) == 4


def test_half_of_a_pair_survives_a_save() -> None:
    """After a load a call that was written down twice is still one call."""
    guard, levels = Tools(), []
    for _ in range(4):
        before = guard.update(Output("", (LOOK, LOOK)))
        state, guard = guard.state(), Tools()
        guard.load(state)
        levels.append(max(before.level, guard.observe([CALM]).level))
        state, guard = guard.state(), Tools()
        guard.load(state)
    assert levels.index(Level.TRIP) == 3
