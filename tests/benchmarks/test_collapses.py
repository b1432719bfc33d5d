"""The made collapses: what they leave alone, what they change, and that a seed decides everything."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from collapse_edits import insert, language
from collapse_phrases import OPENERS, PHRASES, SIGN_OFFS, TEMPLATES, half, phrase
from collapse_spirals import SPIRALS, TONGUES, spiral
from collapses import KINDS

from guards.base import Call, CallResult, Output
from guards.replay import Row

WORDS = (
    "harbour lantern copper morning engine letter window garden ladder signal bridge market winter pocket thunder "
    "basket mirror candle orchard pencil"
)
ONSET, ROWS = 30, 360


def prose(seed: int, rows: int = ROWS) -> list[Row]:
    """A host whose outputs are all different, with a fence of code in each."""
    rng = random.Random(seed)
    texts = [". ".join(" ".join(rng.choices(WORDS.split(), k=9)) for _ in range(4)) for _ in range(rows)]
    return [Row(Output(f"{text}, number {i}.\n```\nx = {i}\n```")) for i, text in enumerate(texts)]


def chinese(rows: int = ROWS) -> list[Row]:
    """A host that writes without spaces."""
    rng = random.Random(3)
    texts = ["".join(rng.choices("港口灯塔早晨信件窗户花园梯子信号桥梁市场冬天", k=30)) for _ in range(rows)]
    return [Row(Output(f"今天{text},第{i}号。")) for i, text in enumerate(texts)]


def working(rows: int = ROWS) -> list[Row]:
    """A host that calls tools and at times says nothing."""
    return [
        Row(Output("" if i % 3 else f"File {i} is read.", (Call("read", {"n": i}),)), (CallResult(True, f"{i}"),))
        for i in range(rows)
    ]


HOSTS = {"prose": prose(1), "chinese": chinese(), "working": working(), "mute": [Row(Output(""))] * ROWS}


@pytest.mark.parametrize("host", HOSTS)
def test_a_collapse_begins_at_its_onset_and_a_seed_decides_it(host: str) -> None:
    """Whatever the kind: texts before the onset stay, no row is lost, equal seeds give equal rows."""
    rows = HOSTS[host][: ONSET + 20]
    for name, kind in KINDS.items():
        made = kind.inject(rows, ONSET, random.Random(5))

        assert made == kind.inject(rows, ONSET, random.Random(5)), name
        assert len(made) == len(rows), name
        assert [row.output.text for row in made[:ONSET]] == [row.output.text for row in rows[:ONSET]], name


@pytest.mark.parametrize("held_out", [False, True])
def test_every_collapse_changes_a_healthy_host(held_out: bool) -> None:
    """Whatever the kind, from the onset on there is something to be found, with either half of the words."""
    rows = HOSTS["prose"][: ONSET + 100]
    same = [
        name for name, kind in KINDS.items() if kind.inject(rows, ONSET, random.Random(2), held_out=held_out) == rows
    ]

    assert same == []


@pytest.mark.parametrize("share", [99, 30, 10])
@pytest.mark.parametrize("variant", ["anywhere", "sentence", "clause"])
def test_a_catchphrase_stands_in_its_share_of_the_outputs(share: int, variant: str) -> None:
    """The phrase is in about as many outputs as the name says, and code is left alone."""
    rows = HOSTS["prose"]
    made = KINDS[f"catchphrase_{share}_{variant}"].inject(rows, ONSET, random.Random(4))[ONSET:]
    changed = [row.output.text for row, was in zip(made, rows[ONSET:], strict=True) if row != was]

    assert abs(len(changed) / len(made) - share / 100) < 0.08
    assert all("```\nx = " in text for text in changed)


def test_a_phrase_goes_to_many_places() -> None:
    """A phrase between two words of a long output stands nearly anywhere in it."""
    text = f"{WORDS} {WORDS} {WORDS}"
    rng = random.Random(1)
    places = {insert(text, "like a lantern", "anywhere", rng).index("like a lantern") for _ in range(100)}

    assert len(places) > 30


def test_phrases_have_four_to_nine_words_and_two_halves() -> None:
    """What guard authors see and what they are measured with have no phrase, sign-off, opener or shape in common."""
    for lists in (PHRASES, SIGN_OFFS, OPENERS, TEMPLATES):
        for items in lists.values():
            assert not set(half(items, False)) & set(half(items, True))
    made = {held: {phrase("en", random.Random(i), held) for i in range(200)} for held in (False, True)}
    assert not made[False] & made[True]
    assert {len(one.split()) for one in made[False] | made[True]} <= set(range(4, 10))


@pytest.mark.parametrize("tongue", TONGUES)
@pytest.mark.parametrize("of", SPIRALS)
def test_a_spiral_never_says_the_same_twice(of: str, tongue: str) -> None:
    """Three hundred outputs of a spiral are all different, in both halves."""
    for held_out in (False, True):
        source = spiral(of, tongue, random.Random(9), held_out)
        said = [next(source) for _ in range(300)]

        assert len(set(said)) == 300
        assert not any("{" in text for text in said)


def test_narrowing_leaves_fewer_words() -> None:
    """In the end, the host says the same few words."""
    rng = random.Random(2)
    rows = [Row(Output(" ".join("".join(rng.choices("abcdefgh", k=6)) for _ in range(40)))) for _ in range(ROWS)]
    made = KINDS["narrowing"].inject(rows, ONSET, random.Random(1))[-20:]

    assert len({word for row in made for word in row.output.text.split()}) < 0.4 * 20 * 40


@pytest.mark.parametrize(("name", "period"), [("same_call", 1), ("cycle_2", 2), ("cycle_3", 3), ("cycle_5", 5)])
def test_calls_come_round(name: str, period: int) -> None:
    """After its period, a cycle brings the same calls with the same results."""
    made = KINDS[name].inject(HOSTS["working"], ONSET, random.Random(1))[ONSET:]
    seen = [(row.output.calls, row.results) for row in made]

    assert seen[period:] == seen[:-period]
    assert len({str(one) for one in seen}) == period


def test_silence_is_97_percent() -> None:
    """Almost every output after the onset calls a tool and has no words."""
    made = KINDS["silent_97"].inject(HOSTS["prose"], ONSET, random.Random(1))[ONSET:]

    assert all(row.output.calls for row in made)
    assert 0.94 < sum(row.output.text == "" for row in made) / len(made) <= 1


def test_tool_collapses_know_what_is_offered() -> None:
    """Invented tools are not among those that are offered; healthy calls are."""
    made = KINDS["unknown_tool"].inject(HOSTS["prose"], ONSET, random.Random(1))

    for i, row in enumerate(made):
        assert row.output.offered
        assert all((call.name in row.output.offered) == (i < ONSET) for call in row.output.calls)


def test_the_language_of_a_host_is_guessed() -> None:
    """Phrases come in the language of the host."""
    said = {
        "de": "Das Licht ist an und der Hafen ist ruhig, auch für die Boote mit einem Mast.",
        "es": "La luz de la torre es clara y el puerto no se ve con los barcos del norte.",
        "en": "The light is on and the harbour is calm for all of the boats that are in.",
        "zh": "灯亮着,港口很安静。",
    }

    assert [language([Row(Output(text))]) for text in said.values()] == list(said)


def test_a_template_names_all_eight() -> None:
    """The names rotate while the shape stays."""
    made = KINDS["template"].inject(HOSTS["prose"], ONSET, random.Random(6))[ONSET:]
    words = Counter(word for row in made for word in set(row.output.text.split()))

    assert sum(count == len(made) for count in words.values()) >= 5
