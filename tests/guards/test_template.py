"""One shape with changing words in it, output after output."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest

from guards import Call, Level, Output
from guards.reading import read
from guards.skeleton import skeleton
from guards.template import RECENT, Template

LEXICON = [
    a + b + c for a in "bdfgklmnprst" for b in ("ara", "elo", "inu", "oma", "uti") for c in ("", "na", "ro", "s")
]
LINKS = ["the", "of", "and", "in", "a", "to", "with", "from", "but", "that", "is", "not", "for", "on", "at", "by"]
NAMES = ["Harbour Hour", "Late Kettle", "Copper Rain", "Nine Bells", "Low Tide", "Attic Radio", "Salt Post", "Rope"]
SHAPES = (
    "Tonight on {name}: {a}. Stay with us, {b} comes after that and {c} before the night is over.",
    "This is {name} with {a}; not for {b} alone, but because {c} asked us to.",
    "What would {name} be without {a}? A pier with no {b}, and {c} at the end of it.",
)


def fresh(count: int, size: int = 40, seed: int = 1) -> list[str]:
    """Free sentences: invented words among real small ones, no two in the same order."""
    seeded = random.Random(seed)
    texts = []
    for _ in range(count):
        said = [seeded.choice(LINKS if seeded.random() < 0.45 else LEXICON) for _ in range(size)]
        for at in range(seeded.randrange(5, 12), size, seeded.randrange(6, 14)):
            said[at] += seeded.choice((",", ".", ";"))
        texts.append(" ".join(said).capitalize() + ".")
    return texts


def filled(count: int, shapes: int, seed: int = 2) -> list[str]:
    """A few shapes in turn at random, filled with one to three words each time."""
    seeded = random.Random(seed)

    def fill() -> str:
        return " ".join(seeded.choice(LEXICON) for _ in range(seeded.randrange(1, 4)))

    return [
        seeded.choice(SHAPES[:shapes]).format(name=seeded.choice(NAMES), a=fill(), b=fill(), c=fill())
        for _ in range(count)
    ]


def trips(texts: list[str]) -> list[int]:
    guard = Template()
    return [row for row, text in enumerate(texts) if guard.update(Output(text)).level is Level.TRIP]


@pytest.mark.parametrize("onset", [6, 20, 60, 300])
@pytest.mark.parametrize("shapes", [1, 3])
def test_a_template_with_changing_fill_trips_within_twenty(onset: int, shapes: int) -> None:
    """One shape with eight names in it, or three shapes in turn, is found wherever in the stream it begins."""
    first = trips(fresh(onset) + filled(30, shapes))[0]
    assert onset + 5 < first < onset + 20


def test_free_text_never_trips() -> None:
    """A thousand outputs without a common shape."""
    assert trips(fresh(1000)) == []


def test_a_template_that_was_chosen_stays_healthy() -> None:
    """A stream that was written after three shapes from its first output on goes on so for ever."""
    assert trips(filled(600, 3)) == []


@pytest.mark.parametrize(
    "frame", ["Good evening from the pier, and welcome to the hour. {} That was it for today, sleep well."]
)
def test_a_greeting_and_a_sign_off_are_no_template(frame: str) -> None:
    """Fixed words around free text may even begin later."""
    texts = fresh(200)
    assert trips(texts[:60] + [frame.format(text) for text in texts[60:]]) == []


def test_what_is_carried_over_word_for_word_is_no_template() -> None:
    """Minutes that repeat last week's list and add to it are not new fill in an old shape."""
    notes = fresh(80, size=14)
    assert trips([" ".join(notes[max(0, week - 5) : week + 1]) for week in range(80)]) == []


def test_every_tenth_output_may_be_made_so() -> None:
    """A form that comes by now and then is no collapse."""
    texts, forms = fresh(800), filled(800, 1)
    assert trips([forms[i] if i % 12 == 11 else text for i, text in enumerate(texts)]) == []


def test_an_output_of_its_own_shape_passes() -> None:
    """After a trip, a retry that is built differently goes through."""
    guard = Template()
    for text in fresh(40) + filled(40, 1):
        guard.update(Output(text))
    assert guard.update(Output(fresh(1, seed=9)[0])).level is Level.PASS
    assert guard.update(Output(filled(1, 1, seed=9)[0])).level is Level.TRIP


def test_the_start_does_not_learn_a_collapse() -> None:
    """A template that begins in the warm-up still trips a hundred outputs later."""
    rows = trips(fresh(15) + filled(150, 1))
    assert rows[0] < 35
    assert len(rows) > 120


@pytest.mark.parametrize(
    "make",
    [
        lambda text: Output(text, (Call("x"),)),
        lambda text: Output(text[:30]),
        lambda text: Output(f"Merge pull request #7 from harbour/pier\n\n{text}"),
    ],
    ids=["calls", "titles", "merges"],
)
def test_some_outputs_have_no_shape(make: Callable[[str], Output]) -> None:
    """Words beside a call, outputs of a few words and what git writes of a merge are not judged."""
    guard = Template()
    assert all(guard.update(make(text)).score == 0.0 for text in fresh(20) + filled(40, 1))


def test_the_verdict_counts_the_outputs() -> None:
    """Reason and hint say how many of the last outputs were made so, and show this one."""
    guard = Template()
    verdict = [guard.update(Output(text)) for text in fresh(30) + filled(30, 1)][-1]
    assert verdict.level is Level.TRIP
    assert "20 of the last 20 outputs" in verdict.reason
    assert "Tonight on" in verdict.hint
    assert "comes after that and" in verdict.evidence


def test_equal_shapes_have_equal_pieces_whatever_fills_them() -> None:
    """A gap is a gap, of one word or of three."""
    one, other = (read(f"The keeper of {fill} said that it was late, and left.") for fill in ("Gull", "the Old Pier"))
    same = read("The baker from Rain wrote that it is late, and left.")
    assert skeleton(one)[0] != skeleton(same)[0]
    short, long = (read(f"The keeper of {fill} said that it was late.") for fill in ("Gull", "North Copper Rain"))
    assert skeleton(short)[0] == skeleton(long)[0]
    assert skeleton(short)[1] != skeleton(long)[1]
    assert skeleton(other) != skeleton(one)


@pytest.mark.parametrize(
    ("key", "bad"),
    [
        ("recent", ["zz"]),
        ("recent", ["0" * 9]),
        ("recent", [[]] * (RECENT + 1)),
        ("known", "AAAA"),
        ("known", "*"),
        ("made", [2]),
    ],
)
def test_a_damaged_memory_is_refused(key: str, bad: object) -> None:
    """Rows that are not whole, a start of another size and counts that are none raise ValueError."""
    guard = Template()
    state = json.loads(json.dumps(guard.state()))
    state[key] = bad
    with pytest.raises(ValueError, match=key):
        guard.load(state)
