"""What must not be lost when a text is made shorter: identifiers, dates, measures, open loops."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as some

from daemon.context.pins import around, covers, identifiers, measures, open_loops


@pytest.mark.parametrize(
    "name",
    [
        "https://example.org/a?b=1",
        "ann@example.org",
        "@ann",
        "/srv/bills/nov.pdf",
        "~/notes/x",
        "people/ann.md",
        "config.toml",
        "3f2a9c1",
        "0b7a2c1e-5d3f-4f1a-9c55-0a1b2c3d4e5f",
        "PROJ-1234",
        "web-3",
        "v1.2.3",
        "10.0.0.1:8080",
        "#42",
        "4711000",
        "+493012345",
    ],
)
@pytest.mark.parametrize("sentence", ["We use {} now.", "({}), and more", "部署{}完成", "see: '{}'", "**{}**"])
def test_a_name_is_found_wherever_it_stands(name: str, sentence: str) -> None:
    """Quotes, brackets, stops and scripts without spaces around it are no part of it."""
    assert name in identifiers(sentence.format(name))


@pytest.mark.parametrize(
    "text", ["and/or", "3 runs", "12 GB", "12GB", "21:05", "the 3rd", "e.g. this", "load 0.31", "10am", "CI/CD"]
)
def test_everyday_words_are_no_names(text: str) -> None:
    """Ordinals, times, measures and slashes between words would only fill the page."""
    assert {} == identifiers(f"It was {text} today.")


def test_dates_and_measures_are_found_with_their_units() -> None:
    """The number alone would say nothing."""
    text = "On 20 November 12.5 GB were free, 30 % more than on 2026-11-19; it cost $40 or 1,250 yen in 3 runs."

    assert {"20 November", "2026-11-19", "12.5 GB", "30 %", "$40", "1,250"} == set(measures(text))


@pytest.mark.parametrize(
    "line",
    [
        "- [ ] call Ann",
        "TODO call Ann",
        "* todo: call Ann",
        "1. Next: call Ann",
        "Still waiting for Ann.",
        "待办：打电话",
    ],
)
def test_an_open_loop_is_known_by_its_mark(line: str) -> None:
    """Boxes, TODO, words of waiting, in several languages."""
    assert 1 == len(open_loops([line]))


@pytest.mark.parametrize(
    "line", ["Nothing is pending.", "Open: none", "No one is waiting for us.", "All is well.", "- [x] call Ann"]
)
def test_a_sentence_that_says_that_nothing_is_open_is_no_loop(line: str) -> None:
    """Routine words would come again in every run."""
    assert {} == open_loops([line])


@pytest.mark.parametrize(
    "done",
    ["- [x] call Ann about inv-77", "Done: call Ann about inv-77", "TODO: call Bo. done: Call Ann about inv-77."],
)
def test_a_loop_that_is_ticked_off_is_closed(done: str) -> None:
    """In the same words, whatever its mark was; others stay open."""
    loops = open_loops(["TODO: call Ann about inv-77. TODO: call Bo.", done])

    assert ["TODO: call Bo."] == list(loops.values())


def test_a_loop_in_other_words_is_covered_only_with_its_names() -> None:
    """A model may say it at greater length, but not without what it is about."""
    assert covers("Ann is to be called about inv-77 (she asked us to)", "TODO: call Ann about inv-77") is False
    assert covers("We must call Ann about inv-77 by Friday", "TODO: call Ann about inv-77")
    assert not covers("We must call Ann about inv-78 by Friday", "TODO: call Ann about inv-77")


@given(some.text(max_size=400))
def test_no_text_is_too_odd(text: str) -> None:
    """Every name and loop of any text stands in the text, and looking again finds the same."""
    assert all(name in text for name in identifiers(text))
    assert open_loops([text]) == open_loops([text])
    assert len(around(text)) <= 202


@pytest.mark.parametrize(
    "text", ["a-" * 500_000, "x" * 5_000_000, "1," * 500_000, "- [ ]" * 200_000, " " * 5_000_000, ".a" * 500_000]
)
def test_a_huge_text_takes_bounded_time(text: str) -> None:
    """Only the beginning of a text is looked at, and no pattern goes back and forth over it."""
    began = time.process_time()
    identifiers(text)
    measures(text)
    open_loops([text])

    assert time.process_time() - began < 3
