"""The parts of an output that every guard reads."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guards.reading import NUMBER, Reading, read
from guards.text import quote, split


def test_link_targets_and_tags_are_not_spoken() -> None:
    """A link is its words, a tag is nothing, and both stay in the prose for guards that look for markup."""
    reading = Reading('See [the tide table](/tides/2031) or [the chart][charts-old], <img width="600"> then go.')
    assert reading.spoken == ("see", "the", "tide", "table", "or", "the", "chart", "then", "go")
    assert "<img" in reading.prose


@pytest.mark.parametrize(
    "line",
    [
        "Signed-off-by: A Keeper <keeper@pier.example>",
        "Change-Id: I0a1b2c3d",
        "2031-05-06 10:11:12,345 WARNING pier.gate: slow",
        "[2031-05-06T10:11] INFO opened",
    ],
)
def test_trailers_and_log_lines_are_structure(line: str) -> None:
    """What a tool wrote below or between the words is no prose."""
    prose, structure = split(f"The gate is open.\n{line}\nThe tide is out.")
    assert prose == "The gate is open.\nThe tide is out."
    assert structure == line


@pytest.mark.parametrize(
    "line", ["Note: the gate is open.", "2031-05-06 10:11 I walked to the gate.", "By-the-by, the gate: open"]
)
def test_labelled_and_dated_sentences_stay_prose(line: str) -> None:
    """A diary's dated line and a sentence behind a label are what somebody said."""
    assert split(line) == (line, "")


def test_every_number_is_the_same_word() -> None:
    """A template with another number stays the same template."""
    assert read("Pier 7, 12.5 m").spoken == ("pier", NUMBER, NUMBER, "m")


@given(st.text(max_size=300))
def test_parts_cover_every_spoken_word_once(text: str) -> None:
    """Sentences and clauses cut the spoken words without gap or overlap, whatever the text."""
    reading = Reading(text)
    for cuts in (reading.sentences, reading.clauses):
        ends = [0, *(end for _, end in cuts)]
        assert [start for start, _ in cuts] == ends[:-1]
        assert ends[-1] == len(reading.spoken)
    assert len(reading.marks) == len(reading.spoken)


@given(st.text(max_size=200) | st.text('"\\n\x00 …', max_size=200), st.integers(8, 150))
def test_nothing_inside_closes_a_quotation(text: str, limit: int) -> None:
    """A quotation is one printable line within its limit, and the first quote that nothing escapes is its last."""
    said = quote(text, limit)
    assert said.isprintable()
    assert len(said) <= limit
    assert re.fullmatch(r'"(?:[^"\\]|\\.)*"', said)
