"""One phrase in ever more outputs."""

from __future__ import annotations

import json
import random
import re

import pytest

from guards import Level, Output
from guards.catchphrase import Catchphrase

LEXICON = [
    a + b + c for a in "bdfgklmnprst" for b in ("ara", "elo", "inu", "oma", "uti") for c in ("", "na", "ro", "s", "mik")
]
PHRASE = "the old lamp burns low tonight"
GREETING = "Good evening and welcome to the harbour hour with your keeper."
FAREWELL = "That was all for tonight and we will hear each other tomorrow."


def fresh(count: int, size: int = 5, seed: int = 1) -> list[list[str]]:
    """Outputs of as many sentences, which share nothing but their language."""
    seeded = random.Random(seed)

    def sentence() -> str:
        said = " ".join(seeded.choice(LEXICON) for _ in range(seeded.randint(6, 12)))
        return said.capitalize() + "."

    return [[sentence() for _ in range(size)] for _ in range(count)]


def sick(count: int, onset: int, share: float, way: str, seed: int = 2) -> list[str]:
    """Fresh outputs, from the onset on a share of them with the phrase."""
    seeded = random.Random(seed)
    texts = fresh(count, seed=seed)
    for sentences in texts[onset:]:
        if seeded.random() >= share:
            continue
        at = seeded.randrange(len(sentences))
        if way == "sentence":
            sentences.insert(at, PHRASE.capitalize() + ".")
        elif way == "clause":
            sentences[at] = f"{sentences[at][:-1]}, {PHRASE}."
        elif way == "second":
            sentences.insert(1, PHRASE.capitalize() + ".")
        else:
            words = sentences[at].split(" ")
            words.insert(seeded.randrange(1, len(words)), PHRASE)
            sentences[at] = " ".join(words)
    return [" ".join(sentences) for sentences in texts]


def trips(texts: list[str], **options: object) -> list[int]:
    guard = Catchphrase(**options)
    return [row for row, text in enumerate(texts) if guard.update(Output(text)).level is Level.TRIP]


@pytest.mark.parametrize("way", ["sentence", "clause", "between", "second"])
@pytest.mark.parametrize(("share", "within"), [(0.99, 20), (0.3, 100), (0.1, 300)])
def test_finds_a_phrase_wherever_it_stands(way: str, share: float, within: int) -> None:
    """In nearly all outputs within 20, in three of ten within 100, in one of ten within 300; never before the onset."""
    found = trips(sick(420, 100, share, way))
    assert 100 < found[0] <= 100 + within


@pytest.mark.parametrize("share", [0.99, 0.3])
def test_finds_a_wandering_phrase_between_a_fixed_greeting_and_farewell(share: float) -> None:
    """Outputs with a form hide no phrase that wanders through them."""
    texts = [f"{GREETING} {text} {FAREWELL}" for text in sick(260, 100, share, "sentence")]
    assert 100 < trips(texts)[0] <= 100 + 40 / share


def test_a_phrase_that_comes_up_during_the_start_is_found_too() -> None:
    """The start is no shelter: what comes up after its first 16 outputs is compared with those."""
    assert trips(sick(90, 20, 0.99, "sentence"))[0] <= 60


def test_a_phrase_that_comes_up_during_the_start_is_no_form() -> None:
    """From output 24 on in nearly all outputs, it is found as soon as one that comes up later."""
    assert 24 < trips(sick(90, 24, 0.99, "sentence"))[0] <= 44


@pytest.mark.parametrize("way", ["clause", "between"])
def test_finds_a_gross_phrase_in_the_items_of_a_form(way: str) -> None:
    """In outputs that are a heading and a list, a phrase that wanders through the items is found within 20."""
    texts = sick(140, 100, 0.99, way)
    items = [
        "\n".join(["The keeper noted on his round:", *(f"* {x}" for x in re.split(r"(?<=[.]) ", t))]) for t in texts
    ]
    assert 100 < trips(items)[0] <= 120


def test_a_number_is_no_neighbour() -> None:
    """Behind a reference that differs each time, a phrase at the end stands among other words all the same."""
    texts = [f"{' '.join(s)[:-1]} (#{1000 + i})" for i, s in enumerate(fresh(160, size=1))]
    sick = [text if i < 100 else f"{text}, {PHRASE}" for i, text in enumerate(texts)]
    assert 100 < trips(sick)[0] <= 120


def test_a_piece_of_a_new_notice_is_no_phrase() -> None:
    """A notice of thirty words, of which every second output cuts another part, is a form, not a catchphrase."""
    seeded = random.Random(8)
    notice = " ".join(seeded.choice(LEXICON) for _ in range(30)).split(" ")
    texts = fresh(260)
    for i, sentences in enumerate(texts[100:]):
        cut = seeded.randrange(4, 26)
        shown = notice if i % 2 else notice[:cut] if i % 4 else notice[cut:]
        sentences.insert(seeded.randrange(5), " ".join(shown).capitalize() + ".")
    assert trips([" ".join(sentences) for sentences in texts]) == []


def test_a_habit_that_took_hundreds_of_outputs_to_show_is_a_manner_of_speaking() -> None:
    """What adds up so slowly against a short start that 400 outputs are not enough does not trip later either."""
    texts = [" ".join(sentences) for sentences in fresh(1500)]
    for i in range(50, 1500, 10):
        texts[i] = texts[i].replace(" ", f" {PHRASE} ", 1)
    assert trips(texts) == []


def test_the_verdict_names_the_phrase_as_it_stands() -> None:
    """Reason, hint and evidence hold the words of the text with its capitals, and how often they stood."""
    guard = Catchphrase()
    texts = sick(140, 100, 0.99, "sentence")
    verdicts = [guard.update(Output(text)) for text in texts]
    row = next(i for i, verdict in enumerate(verdicts) if verdict.level is Level.TRIP)
    (span,) = verdicts[row].evidence
    assert span in texts[row]
    assert span.lower() == PHRASE
    assert f'"{span}" in 14 of the last' in verdicts[row].reason
    assert span in verdicts[row].hint
    assert verdicts[row - 1].level is Level.WARN


def test_an_output_without_the_phrase_passes() -> None:
    """A retry that leaves it out succeeds at once, however strong the evidence is."""
    guard = Catchphrase()
    for text in sick(160, 100, 0.99, "sentence"):
        guard.update(Output(text))
    assert guard.update(Output(" ".join(fresh(1, seed=9)[0]))).level is Level.PASS


def test_phrases_of_the_start_are_the_streams_own() -> None:
    """A motto that wandered through the outputs from the first one on never trips."""
    assert trips(sick(400, 0, 0.99, "sentence")) == []


@pytest.mark.parametrize("seed", range(3))
def test_a_phrase_that_keeps_its_share_is_no_collapse(seed: int) -> None:
    """A manner of speaking in one of sixteen outputs, which the start may happen to lack, trips in no 1,500 outputs."""
    assert trips(sick(1500, 0, 1 / 16, "sentence", seed=20 + seed)) == []


def test_a_new_line_of_a_form_is_an_edit() -> None:
    """A sponsor's sentence that joins a greeting and a farewell, at its fixed place and for good, does not trip."""
    texts = [" ".join(sentences) for sentences in fresh(300)]
    sponsor = "This hour is brought to you by the rope makers of the northern quay."
    texts = [f"{GREETING} {sponsor if i >= 100 else ''} {text} {FAREWELL}" for i, text in enumerate(texts)]
    assert trips(texts) == []


@pytest.mark.parametrize(
    "line",
    [
        "  ({}, review by the keeper of the gate)",
        "It is {} and many more. [told by the keeper {}]",
        "**All notes go into the harbour book**",
        "News of the week; boats and their masters; tides to come.",
        "For {} 40 boats lie along the outer quay wall {}.",
    ],
    ids=["credit", "credit after a sentence", "title", "list", "count"],
)
def test_a_line_that_nobody_says_is_no_catchphrase(line: str) -> None:
    """A credit in brackets, a title, a list of titles and a count may come into all outputs, each time elsewhere."""
    seeded = random.Random(9)
    texts = []
    for i, lines in enumerate(fresh(200)):
        if i >= 100:
            lines.insert(seeded.randrange(5), line.format(*(" ".join(seeded.sample(LEXICON, 2)) for _ in range(2))))
        texts.append("\n".join(lines))
    assert trips(texts) == []


def test_what_is_mostly_a_piece_of_a_notice_is_no_phrase() -> None:
    """Words of a long notice that stands in most outputs may stand among others in the remaining ones."""
    seeded = random.Random(10)
    notice = [seeded.choice(LEXICON) for _ in range(30)]
    texts = fresh(400)
    for i, sentences in enumerate(texts[100:]):
        part = {0: notice[4:9], 1: notice[20:25]}.get(i % 6)
        shown = [seeded.choice(LEXICON), *part, seeded.choice(LEXICON)] if part else notice
        sentences.insert(seeded.randrange(5), " ".join(shown).capitalize() + ".")
    assert trips([" ".join(sentences) for sentences in texts]) == []


def test_an_item_that_is_carried_over_is_no_catchphrase() -> None:
    """In minutes, the same item of a changing agenda stands in forty meetings in a row, each time elsewhere."""
    seeded = random.Random(5)
    texts = []
    for i, items in enumerate(fresh(200, size=6)):
        if 80 <= i < 120:
            items.insert(seeded.randrange(6), "Move the mooring rules into the harbour book.")
        texts.append(
            "\n".join(["Present were the keeper and the pilot of the north pier.", *(f"* {x}" for x in items)])
        )
    assert trips(texts) == []


def test_a_topic_that_comes_and_goes_does_not_trip() -> None:
    """A name of four words in six of ten outputs for two weeks, then in none, is a topic."""
    seeded = random.Random(6)
    texts = [" ".join(s) for s in fresh(300)]
    for i in range(100, 120):
        if seeded.random() < 0.6:
            texts[i] = texts[i].replace(" ", " great northern harbour bridge ", 1)
    assert trips(texts) == []


@pytest.mark.parametrize("text", ["Nothing new.", "All the boats are in and nothing moves on the water tonight."])
def test_outputs_that_say_nothing_else_are_left_to_repeat(text: str) -> None:
    """An acknowledgement or the same output again holds no phrase beside other words."""
    texts = [" ".join(s) for s in fresh(60)] + [text] * 60
    assert trips(texts) == []


def test_a_phrase_of_a_script_without_spaces_is_found() -> None:
    """Six and more characters in a row are a phrase where words are not parted."""
    seeded = random.Random(7)
    signs = [chr(0x4E00 + 7 * i) for i in range(400)]
    texts = ["".join(seeded.choice(signs) for _ in range(12)) + "。" for _ in range(400)]
    outputs = ["".join(texts[i : i + 3]) for i in range(0, 300, 3)]
    sick = [text if i < 60 else text.replace("。", "。港口的灯从来不灭。", 1) for i, text in enumerate(outputs)]
    assert 60 < trips(sick)[0] <= 80


def test_more_caution_needs_more_evidence() -> None:
    """A million years to one false trip come later than one."""
    texts = sick(420, 100, 0.3, "between")
    assert trips(texts, caution=1e6)[0] > trips(texts)[0]


def test_memory_is_bounded_under_a_flood_of_recurring_phrases() -> None:
    """Thousands of different phrases that each come back leave at most 150 kB."""
    guard = Catchphrase()
    lines = [" ".join(s) for s in fresh(60, size=30, seed=3)]
    for _ in range(8):
        for text in lines:
            guard.update(Output(text))
    assert len(json.dumps(guard.state())) <= 150_000


def test_a_memory_with_other_hashes_is_refused() -> None:
    """A memory that a Python with other hashes wrote would know none of the start's phrases."""
    state = Catchphrase().state()
    with pytest.raises(ValueError, match="hashes"):
        Catchphrase().load({**state, "hashes": 7})


@pytest.mark.parametrize("key", ["table", "seen", "rows", "common"])
def test_a_damaged_table_is_refused(key: str) -> None:
    """Half a record, a wrong kind or a missing part raises ValueError at load."""
    guard = Catchphrase()
    for text in sick(130, 60, 0.99, "sentence"):
        guard.update(Output(text))
    state = json.loads(json.dumps(guard.state()))
    state["phrases"][key] = "AAAA"
    with pytest.raises(ValueError, match=key):
        Catchphrase().load(state)
