"""What is a loop inside one output, and what only looks like one."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guards import Level, Output
from guards.loop import Loop
from guards.period import stretches, tail_period

WORDS = [
    "harbour",
    "tide",
    "crane",
    "ferry",
    "gull",
    "rope",
    "lamp",
    "pier",
    "fog",
    "bell",
    "north",
    "wind",
    "swell",
    "quay",
]

LOOPS = {
    "sentence": "I will check the rope now. " * 9,
    "sentence after a good start": "The tide table is done and the crane is back. "
    + "I am finished with this now. " * 14,
    "two sentences twice": "The boats are all in and the gate is shut. I have written the log and put out the lamp. "
    * 2,
    "paragraph three times": (
        "First I look at the ferry and its ropes, then I ask the crane for the load of the day. " * 1 + "\n\n"
    )
    * 3,
    "one word": "quay " * 40,
    "a word at the end": "The count of boats is seven, and the lamp is lit. " + "boat " * 60,
    "characters": "nynynynynynynynynynynynynynynynynynynyny",
    "one character": "@" * 20,
    "random unit without breaks": "qhzkvnwpaxgmtlrudyes" * 12,
    "chant of digits in letters": "ABCDE" * 60,
    "stutter": "the the boat boat is is in in the the port port and and all all is is well well now now ok ok",
    "numbered list": "\n".join(f"{i}. Check that the lamp is lit." for i in range(1, 40)),
    "counter": "\n".join(f"Round {i} of the pier is done and all is well" for i in range(1, 30)),
    "irregular chant": " ".join(
        ("I do it now.", "I go ahead.", "I write it.", "I start now.")[i * i % 7 % 4] for i in range(60)
    ),
    "white space": "The answer is:" + " \n" * 400,
    "chinese": "今晚港口很安静。我会再去看一看灯。" * 8,
    "in a fence": "Here it is:\n```\n" + "raise the flag and lower the flag\n" * 100 + "```",
    "sentences that begin alike": "The fog is thick. I want to see the boats that left. I want to see the lamp again. "
    "I want to see the pier at noon. I want to see the crane move. I want to see the tide turn. I want to see",
    "paragraphs that begin alike": "\n\n".join(
        f"The keeper is asking for the {noun} again. Let me look for it at the other end of the pier before noon."
        for noun in ("rope", "lamp", "bell", "crane", "ferry")
    ),
    "one phrase in most sentences": "The point of the lamp is what you make of it. Ships pass by it each night. "
    "For some the point of the lamp is home. Nobody in the harbour knows. The point of the lamp is that it burns. "
    "It was here before the pier. Others say the point of the lamp is light. The point of the lamp is never dull.\n\n"
    "A keeper asked me about it once. The point of the lamp is yours to find. We sat there until the morning. "
    "I said that the point of the lamp is to turn. The point of the lamp is all there is. We let it be at that.",
    "lines that begin alike": "ha the tide is late again\nha true\nha we float on\nha true indeed\nha gulls\nha true",
    "a call in the text": 'I look. {"name": "look", "arguments": {"at": "pier", "far": 2}}\n' * 5,
    "a call in fences": '```json\n{"name": "look", "arguments": {"at": "pier", "far": 2}}\n```\n' * 8,
    "dots": "The tide is in" + "." * 700,
    "line of words in an indent": "Plan\n\n      First look, then " + "network " * 120,
}
LATER = " ".join(f"On day {i} the {noun} was seen by {i * 7} people." for i, noun in enumerate(WORDS * 2))
HEALTHY = {
    "short": "All quiet.",
    "acknowledgement twice": "HEARTBEAT_OK\nHEARTBEAT_OK",
    "divider": "Part one\n" + "-" * 900 + "\nPart two",
    "box": "╭─" * 300,
    "stars": "*" * 500,
    "table": "| pier | boats |\n| :--- | :--- |\n" + "| north | 4 |\n" * 20,
    "long prefix": "\n".join(f"- projects/harbour-cloud-project/regions/north-2/services/{i}" for i in range(15)),
    "json numbers": "[" + "0, " * 300 + "0]",
    "quoted log": "> 12:00:01 WARN lamp low\n" * 12,
    "code": "```python\n" + "".join(f"assert boats[{i}] == {i * i}\n" for i in range(60)) + "```",
    "hex": "The dump is 00000000000000000000000000000000ff00000000000000000000000000000000.",
    "refrain": "Row the boat home.\n" * 2
    + "The night is long and the wind is cold, but the lamp is lit and the soup is hot.",
    "the same word under other headings": "\n\n".join(
        f"### Pier {name}\n\n**Boat:** https://harbour.example/{name}\n\n(see above)" for name in WORDS
    ),
    "a song": "\n\n".join(
        f"The {a} is gone and the {b} is grey,\nthe {c} it sleeps at the end of the day.\n"
        "Row, row, row her home,\nrow her home by the morning."
        for a, b, c in zip(WORDS, WORDS[3:], WORDS[6:], strict=False)
    ),
    "a law": "\n".join(
        f"({i}) The {noun} shall be kept in good order. The keeper of pier {i % 4} answers for it. See section {i + 3}."
        for i, noun in enumerate(WORDS, 1)
    ),
    "changes of one kind": "\n".join(f"- Fix a bug where the {noun} was not seen by the keeper." for noun in WORDS),
    "padding in the middle": f"{LATER}\n\n| The plan:{' ' * 650}|\n\nThe crane is moved to the northern pier at six.",
    "zeros in the middle": f"The file begins with {'0' * 400}, and then come the names.\n\n{LATER}",
    "one caption under other links": "\n".join(
        f"https://harbour.example/{i}\n * seen by @keeper, @pilot" for i in range(6)
    ),
    "one frame around other links": "\n\n".join(
        f'### {n}. {noun}\n\n<frame width="56" src="https://harbour.example/{noun}" allow="sound; picture"></frame>'
        for n, noun in enumerate(WORDS)
    ),
    "a shout": "GOGOGOGOGOGOGOGO!",
    "emphasis": "No, no, no! The ferry is not late; it left at noon and came back at three with mail.",
    "recovered stutter": "I wait until until until until until until the tide turns, and then the ferry can leave.",
}


@pytest.mark.parametrize("text", LOOPS.values(), ids=LOOPS.keys())
def test_trips_on_a_loop(text: str) -> None:
    """Every kind of loop trips at the output that holds it, with a reason and a hint."""
    verdict = Loop().update(Output(text))
    assert verdict.level is Level.TRIP
    assert verdict.score >= 1
    assert verdict.reason
    assert verdict.hint


@pytest.mark.parametrize("text", HEALTHY.values(), ids=HEALTHY.keys())
def test_stays_silent_on_what_only_looks_like_a_loop(text: str) -> None:
    """Code, tables, logs, dividers, lists with one prefix and a little repetition are not loops."""
    assert Loop().update(Output(text)).level is Level.PASS


def test_a_stutter_that_recovers_is_a_warning() -> None:
    """A long stutter in the middle of an output that goes on well is told, but stops nothing."""
    text = (
        "I wait until " + "until " * 30 + "the tide turns, and then the ferry leaves the quay. " + " ".join(WORDS * 2)
    )
    assert Loop().update(Output(text)).level is Level.WARN


@pytest.mark.parametrize("loop", ["I am finished with this now. " * 70, LOOPS["in a fence"]], ids=["words", "block"])
def test_a_loop_in_the_middle_is_a_warning(loop: str) -> None:
    """However long something was repeated: an output that goes on well after it has recovered."""
    seeded = random.Random(5)
    goes_on = " ".join(f"{' '.join(seeded.sample(WORDS, 6))} {seeded.randrange(999)}." for _ in range(120))
    assert Loop().update(Output(f"{loop}\n{goes_on}")).level is Level.WARN
    assert Loop().update(Output(f"{goes_on}\n{loop}")).level is Level.TRIP


@pytest.mark.parametrize("loop", ["The lamp is lit. " * 30, "until " * 60, f"{' '.join(WORDS)}. " * 13])
@pytest.mark.parametrize("size", [600, 2_000])
def test_a_loop_at_the_end_of_a_long_good_text_is_found(loop: str, size: int) -> None:
    """Of a long prose in which little comes again only the end is looked at: a loop stands there."""
    seeded = random.Random(3)
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    story = " ".join("".join(seeded.choices(syllables, k=3)) + "." * (i % 9 == 0) for i in range(size))
    assert Loop().update(Output(story)).level is Level.PASS
    assert Loop().update(Output(f"{story}\n\n{loop}")).level is Level.TRIP


def test_a_block_is_a_block_long_after_its_fence() -> None:
    """A stream of which only the end is looked at is judged as the whole is: lines of a block are no loop of words."""
    block = "Here it is:\n```\n" + "raise the flag and lower the flag\n" * 79
    watch = Loop().watch()
    text = f"{block}```\nIt is well."
    assert all(watch.feed(text[i : i + 5]) is None for i in range(0, len(text), 5))


def test_what_might_be_meant_is_a_warning() -> None:
    """Four sentences in a row with one beginning, and a letter given twice, are told and stop nothing."""
    four = "The fog is thick. " + " ".join(f"I want to see the {noun} from the pier." for noun in WORDS[:4])
    letter = "The boats are all in and the gate is shut. I have written the log and put out the lamp."
    for text in (four, f"{letter}\n\n{letter}\n"):
        assert Loop().update(Output(text)).level is Level.WARN


@pytest.mark.parametrize("name", ["sentence after a good start", "paragraphs that begin alike", "a call in the text"])
def test_the_evidence_is_one_copy_as_it_stands(name: str) -> None:
    """A trip shows one copy of what repeats, exactly as it stands in the text."""
    verdict = Loop().update(Output(LOOPS[name]))
    assert len(verdict.evidence) == 1
    assert LOOPS[name].count(verdict.evidence[0]) > 2
    assert verdict.reason in verdict.hint


def test_more_patience_by_option() -> None:
    """`copies` multiplies what is allowed."""
    text = "I will check the rope now. " * 4
    assert Loop().update(Output(text)).level is Level.TRIP
    assert Loop(copies=3.0).update(Output(text)).level is Level.PASS


@pytest.mark.parametrize(
    "name", ["sentence", "one word", "characters", "white space", "chinese", "paragraph three times", "numbered list"]
)
def test_watch_agrees_with_update(name: str) -> None:
    """A loop that goes on is stopped while it is written, soon, and what was written until then trips `update` too."""
    unit = LOOPS[name]
    text = unit if name == "numbered list" else unit * 6
    watch = Loop().watch()
    for end in range(7, len(text), 7):
        verdict = watch.feed(text[end - 7 : end])
        if verdict is not None:
            assert verdict.level is Level.TRIP
            assert Loop().update(Output(text[:end])).level is Level.TRIP
            assert end <= 1500
            return
    pytest.fail("the watch saw nothing")


@pytest.mark.parametrize("text", HEALTHY.values(), ids=HEALTHY.keys())
def test_watch_lets_healthy_text_pass(text: str) -> None:
    """What `update` finds healthy is not stopped while it is written."""
    watch = Loop().watch()
    assert all(watch.feed(text[i : i + 5]) is None for i in range(0, len(text), 5))


@given(
    st.lists(st.sampled_from(WORDS), min_size=3, max_size=40, unique=True),
    st.integers(2, 8),
    st.lists(st.integers(), max_size=20),
)
def test_a_period_is_found_wherever_it_stands(unit: list[str], copies: int, before: list[int]) -> None:
    """Any unit of distinct items, repeated after any distinct items, is found with its period and length."""
    prefix = [f"n{i}-{x}" for i, x in enumerate(before)]
    found = stretches(prefix + unit * copies)
    best = max(found, key=lambda s: s.length, default=None)
    if len(unit) * copies >= 6:
        assert best is not None
        assert (best.period, best.start, best.end) == (len(unit), len(prefix), len(prefix) + len(unit) * copies)


@settings(max_examples=200)
@given(st.text("ab ", max_size=120), st.text("abc", min_size=1, max_size=30), st.integers(3, 20))
def test_the_tail_really_repeats_with_the_period_it_is_given(before: str, unit: str, copies: int) -> None:
    """`tail_period` claims only what a plain comparison confirms, and finds what is long enough."""
    text = before + unit * copies
    period, length = tail_period(text)
    if period:
        tail = text[-length:]
        assert tail[period:] == tail[:-period]
    if len(unit) * copies >= 48 + len(unit):
        assert length >= len(unit) * copies
