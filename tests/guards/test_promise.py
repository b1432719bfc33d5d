"""One promise for the whole panel."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable

import pytest

from guards import GUARDS, Call, CallResult, Guard, Level, Output
from guards.markup import CLASSES
from guards.panel import guard_class
from guards.promise import TESTS, YEAR, limit


def test_no_more_tests_run_than_the_promise_shares_the_year_among() -> None:
    """Every sequential guard says how many tests it runs, and all together are at most those that share the promise."""
    assert sum(guard_class(name).tests for name in GUARDS) <= TESTS


def test_each_statistic_that_can_trip_counts_as_a_test() -> None:
    """Markup has one a class, vocabulary bets, loose words and narrowing, fixation one word and several together."""
    counted = {name: guard_class(name).tests for name in ("markup", "vocabulary", "fixation", "tools")}
    assert counted == {"markup": len(CLASSES), "vocabulary": 3, "fixation": 2, "tools": 3}


def test_more_caution_is_a_higher_limit() -> None:
    """Ten times the years to one false trip, or ten times the candidates, is the same addition."""
    assert math.isclose(limit(), math.log(YEAR * TESTS))
    assert math.isclose(limit(caution=10) - limit(), math.log(10))
    assert math.isclose(limit(among=10), limit(caution=10))


def test_every_guard_that_tests_can_be_told_how_cautious_to_be() -> None:
    """The promise of `[breaker] caution` reaches every test of the panel, and nothing that does not test."""
    for name in GUARDS:
        kind = guard_class(name)
        assert ("caution" in kind.Options.__dataclass_fields__) == (kind.tests > 0), name


Rows = Iterable[tuple[Output, bool]]
WORDS = [a + b + c for a in ("ba", "do", "fi", "ku", "le", "mo", "pu", "ri") for b in "kmnst" for c in "aeiou"]


def leaks() -> Rows:
    """An output in six with LaTeX, after a start without."""
    for i in range(200):
        yield Output("The crane rests." + (r" \boxed{4}" if i >= 60 and i % 6 == 0 else "")), True


def silent() -> Rows:
    """Never a word from the first turn on, which only the test finds."""
    for _ in range(400):
        yield Output("", (Call("queue"),)), True


def claimed() -> Rows:
    """Deeds that no call did, in a transcript that once called tools."""
    for i in range(200):
        if i % 4 == 0:
            yield Output("", (Call("queue", {"n": i}),)), True
        yield Output("The lamp is lit."), True
        yield Output("The lamp is lit."), True
        yield Output("The lamp is lit."), True
        yield Output("I have saved the note." if i >= 30 else "The tide turns."), True


def failing() -> Rows:
    """Three of four different calls fail, after a start in which all worked."""
    for i in range(200):
        yield Output("", (Call(f"tool{i % 7}", {"n": i}),)), i < 60 or i % 4 == 0


def risen() -> Rows:
    """One word in twenty that comes in ever new company, after a start without it."""
    dice = random.Random(7)
    for i in range(300):
        said = [WORDS[int(len(WORDS) * dice.random() ** 2)] for _ in range(40)]
        yield Output(" ".join("lantern" if i >= 100 and dice.random() < 0.05 else word for word in said)), True


def shuffled() -> Rows:
    """Words that stood in one order at the start, and in any later."""
    dice = random.Random(7)
    for i in range(140):
        said = dice.sample(WORDS[:40], 20)
        yield Output(" ".join(said if i >= 80 else sorted(said))), True


def first_trip(guard: Guard, rows: Rows) -> float:
    for i, (output, ok) in enumerate(rows):
        said = (guard.update(output), guard.observe([CallResult(ok, f"result {i}")] if output.calls else []))
        if any(verdict.level is Level.TRIP for verdict in said):
            return i
    return math.inf


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("markup", leaks),
        ("silence", silent),
        ("claims", claimed),
        ("tools", failing),
        ("fixation", risen),
        ("vocabulary", shuffled),
    ],
)
def test_more_caution_trips_later_or_not(name: str, rows: Callable[[], Rows]) -> None:
    """With a million years to one false trip, the same collapse is believed later, if at all, than with one."""
    kind = guard_class(name)
    assert first_trip(kind(caution=1.0), rows()) < first_trip(kind(caution=1e6), rows())


@pytest.mark.parametrize(("name", "rows"), [("fixation", risen), ("vocabulary", shuffled)])
def test_no_test_is_capped_below_its_own_limit(name: str, rows: Callable[[], Rows]) -> None:
    """What bounds the bets, so that a recovery is soon forgiven, grows with the limit: all trip in the end."""
    assert first_trip(guard_class(name)(caution=1e6), rows()) < math.inf
