"""A compulsive beginning and a compulsive ending."""

from __future__ import annotations

import random

import pytest

from guards import Call, Guard, Level, Output
from guards.edges import edge
from guards.reading import read
from guards.tics import Opener, SignOff

LEXICON = [
    a + b + c for a in "bdfgklmnprst" for b in ("ara", "elo", "inu", "oma", "uti") for c in ("", "na", "ro", "s")
]
CLOSING = "Keep the lamp low and the kettle warm."
OPENING = "Ah, what an evening this is!"
FOOTER = "This was the harbour hour, back again on Monday."


def fresh(count: int, size: int = 24, seed: int = 1) -> list[str]:
    """Texts of two sentences that share nothing but their language."""
    seeded = random.Random(seed)
    half = size // 2
    return [
        f"{' '.join(seeded.choice(LEXICON) for _ in range(half)).capitalize()}. "
        f"{' '.join(seeded.choice(LEXICON) for _ in range(half)).capitalize()}."
        for _ in range(count)
    ]


def trips(guard: Guard, texts: list[str]) -> list[int]:
    return [row for row, text in enumerate(texts) if guard.update(Output(text)).level is Level.TRIP]


def with_share(texts: list[str], share: float, seed: int = 2) -> list[str]:
    seeded = random.Random(seed)
    return [f"{text} {CLOSING}" if seeded.random() < share else text for text in texts]


@pytest.mark.parametrize(
    ("guard", "sick"),
    [(SignOff(), lambda text: f"{text} {CLOSING}"), (Opener(), lambda text: f"{OPENING} {text}")],
    ids=["sign_off", "opener"],
)
@pytest.mark.parametrize("onset", [5, 8, 60])
def test_a_tic_in_all_outputs_trips_within_twelve(guard: Guard, sick: object, onset: int) -> None:
    """From the sixth output of a stream on, a new sentence at the edge of every output is found by its twelfth use."""
    guard.reset()
    texts = fresh(onset + 12)
    assert callable(sick)
    first = trips(guard, texts[:onset] + [sick(text) for text in texts[onset:]])[0]
    assert onset + 8 <= first < onset + 12


@pytest.mark.parametrize("seed", range(5))
def test_a_sign_off_in_three_of_five_outputs_trips_within_sixty(seed: int) -> None:
    """It need not be in every output."""
    texts = fresh(100, seed=seed)
    rows = trips(SignOff(), texts[:40] + with_share(texts[40:], 0.6, seed))
    assert rows
    assert 40 < rows[0] < 100


def test_one_in_ten_outputs_may_end_alike() -> None:
    """A phrase that a host likes is no tic."""
    assert trips(SignOff(), fresh(40) + with_share(fresh(1500, seed=3), 0.1)) == []


@pytest.mark.parametrize("text", [f"{FOOTER} {{}} {CLOSING}", f"{OPENING} {{}} {FOOTER}"])
def test_what_was_there_from_the_start_stays_healthy(text: str) -> None:
    """A greeting and a sign-off that the stream began with never trip."""
    texts = [text.format(body) for body in fresh(400)]
    assert trips(SignOff(), texts) == trips(Opener(), texts) == []


def test_a_fixed_ending_may_be_changed_for_good_once() -> None:
    """Another footer in place of the old one is an edit of the form."""
    texts = fresh(200)
    edited = [f"{text} {FOOTER}" for text in texts[:80]] + [f"{text} {CLOSING}" for text in texts[80:]]
    assert trips(SignOff(), edited) == []


def test_a_tic_behind_a_fixed_ending_trips() -> None:
    """What comes on top of the old footer is no edit."""
    texts = [f"{text} {FOOTER}" for text in fresh(100)]
    first = trips(SignOff(), texts[:60] + [f"{text} {CLOSING}" for text in texts[60:]])[0]
    assert 60 < first < 70


@pytest.mark.parametrize(
    ("guard", "form"),
    [
        (SignOff(), f"{{}}\n\nAll who are named in the book may enter by the gate.\n{CLOSING}"),
        (SignOff(), f"{{}}\n\nAda Keeper, Harbour House,\nthe third door on the quay.\n\n{CLOSING}"),
        (Opener(), f"{OPENING}\n\nThis report covers the harbour and its piers.\n\n{{}}"),
    ],
    ids=["closing lines", "signature", "opening lines"],
)
def test_lines_that_come_together_are_a_new_form(guard: Guard, form: str) -> None:
    """Two lines that every output has from one day on were decided upon, and are no habit of speech."""
    guard.reset()
    texts = fresh(160)
    assert trips(guard, texts[:60] + [form.format(text) for text in texts[60:]]) == []


def test_two_short_sentences_in_one_breath_are_one_sign_off() -> None:
    """On one line, what stands before the first of them tells whether they are a piece of a form."""
    texts = fresh(80)
    sick = [f"{text}\n\nThat is all from me. {CLOSING}" for text in texts[60:]]
    assert 60 < trips(SignOff(), texts[:60] + sick)[0] < 72


def test_a_tic_above_a_fixed_beginning_trips() -> None:
    """What stands beside the sentence was there without it, and makes it no piece of a form."""
    texts = [f"{FOOTER} {text}" for text in fresh(80)]
    assert 60 < trips(Opener(), texts[:60] + [f"{OPENING} {text}" for text in texts[60:]])[0] < 72


def test_a_closing_question_with_a_changing_end_trips() -> None:
    """The first words of the last sentence are enough, whatever it goes on with."""
    seeded = random.Random(5)
    asked = [f"{text} Would you like me to {' '.join(seeded.sample(LEXICON, 4))}?" for text in fresh(30, seed=6)]
    verdicts = [SignOff().update(Output(text)) for text in asked[:1]]
    assert verdicts[0].level is Level.PASS
    first = trips(SignOff(), fresh(15) + asked)[0]
    assert 15 < first < 25


def test_a_name_under_the_text_is_passed_over() -> None:
    """Two speakers who sign with their names still have endings."""
    texts = [f"{text}\n\n— {'Ada' if i % 2 else 'Ben'}" for i, text in enumerate(fresh(20))]
    sick = [f"{text} {CLOSING}\n\n— {'Ada' if i % 2 else 'Ben'}" for i, text in enumerate(fresh(20, seed=9))]
    assert trips(SignOff(), texts) == []
    assert trips(SignOff(), texts + sick)[0] < 32


def test_pictograms_under_the_text_are_passed_over() -> None:
    """A line of hearts and stars hides no ending."""
    texts = fresh(60)
    first = trips(SignOff(), texts[:30] + [f"{text} {CLOSING}\n\n🌙✨\n" for text in texts[30:]])[0]
    assert 30 < first < 40


@pytest.mark.parametrize(
    "footer",
    [
        "Signed-off-by: Ada Keeper <ada@harbour.example>",
        "[pier]: https://harbour.example/pier",
        "Read more in the [log book](https://harbour.example/log).",
        "- one more entry for the log book",
        "```\nmake harbour\n```",
        "Written by the keeper - Day 4",
        "## Next\n\nNothing is planned.",
        "The same in one command:\n\n$ make harbour lights now",
        "This page was written by the keeper, ada@harbour.example.",
        "Remember to put these notes into harbour.example/log",
    ],
    ids=[
        "trailer",
        "link",
        "sentence with a link",
        "list",
        "code",
        "signature",
        "section",
        "command",
        "address",
        "page",
    ],
)
def test_a_form_field_at_the_end_is_no_sign_off(footer: str) -> None:
    """Trailers, links, lists, code, dated signatures and empty sections may come into every output at once."""
    texts = fresh(120)
    assert trips(SignOff(), texts[:60] + [f"{text}\n\n{footer}" for text in texts[60:]]) == []


@pytest.mark.parametrize(
    "title",
    [
        "Client side caching\n\n",
        "# The harbour\n\nNews from the pier today. ",
        "Docs: Add the pier\n\n",
        "  * New light at the pier.\n  * ",
    ],
    ids=["subject", "heading", "label", "list"],
)
def test_a_title_is_no_opener(title: str) -> None:
    """Subject lines, labels, headings and lists may be the same for a while."""
    texts = fresh(120)
    assert trips(Opener(), texts[:60] + [f"{title}{text[:-1]}" for text in texts[60:]]) == []


def test_copies_of_one_text_are_not_a_tic() -> None:
    """Equal texts are for the guard that counts repeats."""
    assert trips(SignOff(), [*fresh(40), *[f"{fresh(1)[0]} {CLOSING}"] * 60]) == []


def test_an_output_without_the_tic_passes() -> None:
    """After a trip, a retry that ends otherwise goes through, and the next lapse trips again."""
    guard = SignOff()
    trips(guard, fresh(40) + with_share(fresh(20, seed=4), 1.0))
    free, lapse = fresh(2, seed=8)
    assert guard.update(Output(free)).level is Level.PASS
    assert guard.update(Output(f"{lapse} {CLOSING}")).level is Level.TRIP


def test_what_is_said_beside_a_call_has_no_ending() -> None:
    """Words before a tool call announce the call."""
    guard = SignOff()
    for text in with_share(fresh(60), 1.0):
        assert guard.update(Output(text, (Call("host"),))).level is Level.PASS


def test_the_verdict_names_the_sentence_and_how_often() -> None:
    """Reason and hint count the outputs and quote the sentence; the evidence stands in the text."""
    guard = SignOff()
    texts = fresh(20) + with_share(fresh(10, seed=4), 1.0)
    verdict = [guard.update(Output(text)) for text in texts][-1]
    assert "10 of the last 20 outputs" in verdict.reason
    assert CLOSING[:-1] in verdict.hint
    assert verdict.evidence == (CLOSING[:-1],)
    assert verdict.evidence[0] in texts[-1]


def test_a_script_without_spaces_has_edges_too() -> None:
    """Han text is compared by characters."""
    seeded = random.Random(3)
    signs = "山水火木金土日月星云雨风花草鱼鸟马牛羊门石田竹米"
    texts = ["".join(seeded.choice(signs) for _ in range(20)) + "。" for _ in range(60)]
    sick = [f"{text}愿你今晚一路平安。" for text in texts[30:]]
    assert trips(SignOff(), texts[:30]) == []
    assert trips(SignOff(), texts[:30] + sick)[0] < 40


def test_the_ending_of_a_text_is_its_last_sentence() -> None:
    """The sentence is given as it stands in the text."""
    found = edge(read(f"{fresh(1)[0]}\n\n{CLOSING}\n\n— Ada"), "last")
    assert found.said == CLOSING[:-1]
    assert found.words[0] == ("the", "kettle", "warm")
    assert found.words[1] == ("keep", "the", "lamp")


@pytest.mark.parametrize("text", ["", "\x00" * 50, "." * 5000, "\n" * 5000, "a. " * 9000, "(" * 3000, "\ud800 " * 99])
def test_odd_texts_have_edges_or_none(text: str) -> None:
    """Nothing raises, and nothing takes long."""
    assert len(edge(read(text), "first").keys) == len(edge(read(text), "last").keys) == 3
