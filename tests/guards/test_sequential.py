"""The shared sequential test keeps its promise on streams that are not independent draws."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator

import pytest

from guards.sequential import Climb, Margin

MARGIN = Margin(floor=0.30, early=0.60)
HALF_A_YEAR = 17_520


def rare(seeded: random.Random) -> Iterator[float]:
    """Independent, once in fifty."""
    while True:
        yield float(seeded.random() < 0.02)


def often(seeded: random.Random) -> Iterator[float]:
    """Independent, three in ten: above the floor's half."""
    while True:
        yield float(seeded.random() < 0.3)


def slow(seeded: random.Random) -> Iterator[float]:
    """Each score nine tenths of the one before."""
    z = 0.0
    while True:
        z = 0.9 * z + math.sqrt(0.19) * seeded.gauss(0, 1)
        yield min(1.0, max(0.0, 0.25 + 0.12 * z))


def weekly(seeded: random.Random) -> Iterator[float]:
    """A share that swings between a twentieth and a quarter over the week."""
    i = 0
    while True:
        i += 1
        yield float(seeded.random() < 0.15 + 0.10 * math.sin(2 * math.pi * i / 672))


@pytest.mark.parametrize("stream", [rare, often, slow, weekly])
def test_a_healthy_half_year_has_no_trip(stream: Callable[[random.Random], Iterator[float]]) -> None:
    """At 96 outputs a day, three half years of each kind of healthy stream trip nothing."""
    for seed in range(3):
        climb, scores = Climb(MARGIN, 40), stream(random.Random(seed))
        assert max(climb.update(next(scores)) for _ in range(HALF_A_YEAR)) < 1


@pytest.mark.parametrize(("after", "within"), [(1.0, 16), (0.8, 40), (0.6, 120)])
def test_a_climb_is_found_the_sooner_the_higher(after: float, within: int) -> None:
    """A share that rises from a twentieth is found within so many outputs."""
    seeded = random.Random(2)
    climb = Climb(MARGIN, 40)
    for _ in range(200):
        assert climb.update(float(seeded.random() < 0.05)) < 1
    found = next(i for i in range(1000) if climb.update(float(seeded.random() < after)) >= 1)
    assert found < within


def test_silent_before_its_first_scores() -> None:
    """Nothing is said of the first sixteen scores, whatever they are."""
    climb = Climb(MARGIN, 40)
    assert [climb.update(1.0) for _ in range(16)] == [0.0] * 16


def test_the_start_is_frozen() -> None:
    """A slow rise over weeks is not learnt as normal."""
    seeded = random.Random(3)
    climb = Climb(MARGIN, 40)
    assert any(climb.update(float(seeded.random() < min(0.9, i / 3000))) >= 1 for i in range(3000))
    assert climb.normal == pytest.approx(0.30)


def test_a_recovered_stream_is_forgiven() -> None:
    """After a long collapse the statistic comes down again within a bounded number of good scores."""
    climb = Climb(MARGIN, 40)
    for x in [0.0] * 60 + [1.0] * 2000:
        climb.update(x)
    assert climb.score >= 1
    assert next(i for i in range(1000) if climb.update(0.0) < 1) < 200


def test_state_is_json_and_complete() -> None:
    """A test that is saved and loaded after every score equals one that never was."""
    seeded = random.Random(4)
    straight, saved = Climb(MARGIN, 40), Climb(MARGIN, 40)
    for _ in range(120):
        x = seeded.random()
        fresh = Climb(MARGIN, 40)
        fresh.load(json.loads(json.dumps(saved.state())))
        saved = fresh
        assert saved.update(x) == straight.update(x)


@pytest.mark.parametrize("block", [1, 4])
@pytest.mark.parametrize("before", [0, 5, 30, 90])
def test_many_zeros_at_once_are_as_many_one_by_one(before: int, block: int) -> None:
    """What outputs without a thing cost its test does not depend on whether they are counted first."""
    seeded = random.Random(before)
    scores = [float(seeded.random() < 0.4) for _ in range(before)]
    for zeros in (0, 1, 3, 50, 1000):
        one, other = Climb(MARGIN, 40), Climb(MARGIN, 40)
        for x in scores:
            one.take(x)
            other.take(x)
        state = {**one.state(), "block": block}
        one.load(state)
        other.load(state)
        for _ in range(zeros):
            one.take(0.0)
        other.take_zeros(zeros)
        assert other.score == pytest.approx(one.score, abs=1e-9)
        assert {**other.state(), "logs": 0} == {**one.state(), "logs": 0}
