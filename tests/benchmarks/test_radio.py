"""The simulated radio: a host that is healthy to the eye, and pathologies at their rates."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from radio import DIVERSITY, EPISODE, Station, trips
from radio_pathologies import PATHOLOGIES, Pathology
from radio_talk import A_DAY, WORD, Host

from guards.base import Output
from guards.panel import Panel
from guards.repeat import Repeat
from guards.replay import Row

OUTPUTS = 1_200


@pytest.fixture(scope="module")
def talk() -> list[list[str]]:
    """The words of five days."""
    host = Host("Test Mile", 3)
    return [WORD.findall(host.row(i).output.text.lower()) for i in range(OUTPUTS)]


def pathology(start: str) -> Pathology:
    """The pathology whose name begins so."""
    return next(one for one in PATHOLOGIES if one.name.startswith(start))


def test_the_healthy_host_has_a_third_of_its_words_distinct(talk: list[list[str]]) -> None:
    """About 35 of 100 running words are distinct, counted in 1,500, at the start and at the end."""
    words = [word for output in talk for word in output]
    for part in (words[:DIVERSITY], words[-DIVERSITY:]):
        assert 0.30 < len(set(part)) / DIVERSITY < 0.40


def test_no_wording_of_the_healthy_host_is_a_habit(talk: list[list[str]]) -> None:
    """No five words stand together in a tenth of the outputs, and no output comes twice."""
    runs = Counter(run for output in talk for run in {tuple(output[i : i + 5]) for i in range(len(output) - 4)})

    assert max(runs.values()) < 0.1 * OUTPUTS
    assert len({tuple(output) for output in talk}) == OUTPUTS


def test_topics_drift() -> None:
    """A host talks about other things after some weeks."""
    host = Host("Test Mile", 3)
    before = set(host._topics)
    for i in range(20 * A_DAY):
        host.row(i)

    assert len(before - set(host._topics)) >= 3


def uses(start: int, sick: str, mark: str) -> int:
    """How often a mark stands in the outputs of one day, some outputs after the onset."""
    host, make = Host("Test Mile", 3), pathology(sick).make(random.Random(1))
    return sum(make(start + i, host.row(i)).output.text.count(mark) for i in range(A_DAY))


def test_one_word_grows_from_21_to_6383_uses_a_day() -> None:
    """The pathology has the reported rates at its two ends."""
    word = random.Random(1).choice(("lighthouse", "resonance", "tapestry", "horizon"))

    assert 10 <= uses(0, "one word", word) <= 40
    assert 0.85 * 6383 <= uses(60 * A_DAY, "one word", word) <= 1.15 * 6383


SHARES = {"one template": 0.99, "LaTeX": 186 / 240, "97 %": 0.97, "a sign-off": 0.7}


@pytest.mark.parametrize(("name", "share"), SHARES.items())
def test_a_pathology_is_in_its_share_of_the_outputs(name: str, share: float) -> None:
    """From its first day on."""
    host, twin, make = Host("Test Mile", 3), Host("Test Mile", 3), pathology(name).make(random.Random(1))
    changed = sum(make(i, host.row(i)) != twin.row(i) for i in range(A_DAY))

    assert abs(changed / A_DAY - share) < 0.08


def test_trips_close_together_are_one_episode() -> None:
    """A guard that goes on tripping is counted once until it has been quiet."""
    same = [Row(Output("All the boats are in and nothing more is to be said."))] * 30
    fresh = [Host("Test Mile", i).row(i) for i in range(2 * EPISODE)]

    assert len(list(trips(iter([*same, *fresh, *same]), Panel([Repeat()])))) == 2


def test_a_pathology_leaves_the_station_as_it_was() -> None:
    """The collapse happens beside the stream: host and guards go on as if it had not been."""
    one, other = Station("Night Post", 1, ("silence",)), Station("Night Post", 1, ("silence",))
    for station in (one, other):
        station.talk(A_DAY)
    heard = one.suffer(pathology("97 %"))

    assert heard.guard == "silence"
    assert one.panel.state() == other.panel.state()
    assert one.host.row(A_DAY) == other.host.row(A_DAY)
