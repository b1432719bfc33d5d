"""What is read of a long text: its head and its tail, each line as it was, though a fence of code is cut in two."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guards import Level, Output
from guards.loop import Loop
from guards.text import HEAD, TAIL, clip, split

SPOKEN = "harbour tide crane ferry gull rope lamp pier fog bell north wind swell quay mast signal keeper boat"
ENTRY = "worker idle, queue empty, no new job\n"
AGAIN = "Then I look at the lamp again and it is lit. "


def prose(size: int, seed: int = 3) -> str:
    """Sentences of random words, so many characters long."""
    seeded, words = random.Random(seed), SPOKEN.split()
    said = ""
    while len(said) < size:
        said += " ".join(seeded.choices(words, k=seeded.randint(8, 16))).capitalize() + ".\n"
    return said[: said.rfind("\n", 0, size)]


def code(size: int, seed: int = 5) -> str:
    """Lines of code that differ, so many characters long."""
    seeded, words = random.Random(seed), SPOKEN.split()
    written = ""
    while len(written) < size:
        written += (
            f"{seeded.choice(words)}_{seeded.randint(0, 999)} = {seeded.choice(words)}({seeded.randint(0, 99)})\n"
        )
    return written


LOGS = {
    "opened in what is left out": f"{prose(14_000)}\n```\n{code(8_000)}{ENTRY * 39}```\n{prose(1_000, 7)}",
    "opened in what is left out and never closed": f"{prose(15_000)}\n~~~ text\n{code(9_000)}{ENTRY * 39}",
    "closed in what is left out, and another one after it": (
        f"{prose(11_000)}\n```python\n{code(5_000)}```\n{prose(9_000, 7)}\n```\n{code(1_000)}{ENTRY * 39}```\nDone."
    ),
}
LOOPS = {
    "closed in what is left out": f"{prose(11_000)}\n```python\n{code(4_000)}```\n{prose(11_500, 7)}\n\n{AGAIN * 20}",
    "opened in what is left out and closed in the tail": (
        f"{prose(13_000)}\n```python\n{code(9_000)}```\n{prose(4_500, 7)}\n\n{AGAIN * 20}"
    ),
}


@pytest.mark.parametrize("text", LOGS.values(), ids=LOGS.keys())
def test_a_log_in_a_fence_that_is_cut_is_no_loop(text: str) -> None:
    """Equal entries in a fence are a log, in a long text as in a short one, also while it is being written."""
    watch = Loop().watch()
    cut = [watch.feed(text[at : at + 6]) for at in range(0, len(text), 6)]

    assert Level.PASS is Loop().update(Output(f"{prose(3_000)}\n```\n{ENTRY * 39}```\n")).level
    assert Level.PASS is Loop().update(Output(text)).level
    assert not any(cut)


@pytest.mark.parametrize("text", LOOPS.values(), ids=LOOPS.keys())
def test_a_loop_behind_a_fence_that_is_cut_is_heard(text: str) -> None:
    """What is said after the code is prose, in a long text as in a short one."""
    assert Level.TRIP is Loop().update(Output(f"{prose(3_000)}\n\n{AGAIN * 20}")).level
    assert Level.TRIP is Loop().update(Output(text)).level


BLOCKS = st.lists(
    st.tuples(st.sampled_from(("prose", "```", "~~~", "```py", "  ```", "table", "open")), st.integers(1, 60)),
    min_size=12,
    max_size=40,
)


def written(blocks: list[tuple[str, int]]) -> str:
    """A text of blocks whose lines are all different; "open" is a fence of code with the other mark in it."""
    lines: list[str] = []
    for kind, count in blocks:
        own = [f"line {len(lines) + row} of the {kind.strip('`~ ')} block and some more words" for row in range(count)]
        if kind == "table":
            lines += [f"| {line} | {len(lines)} |" for line in own]
        elif kind == "open":
            lines += ["~~~", *own, "```", "~~~"]
        else:
            mark = kind.strip(" py")
            lines += [*own] if kind == "prose" else [kind, *own, mark]
    return "\n".join(lines)


@given(BLOCKS, st.integers(0, 400))
@settings(max_examples=60, deadline=None)
def test_every_line_is_read_as_in_the_whole_text(blocks: list[tuple[str, int]], before: int) -> None:
    """Prose stays prose and code stays code wherever the cut falls, and no line is read in part."""
    text = "x" * before + "\n" + written(blocks) + "\n" + written(blocks)
    part = clip(text)
    for kept, whole in zip(split(part), split(text), strict=True):
        assert {line for line in kept.split("\n") if line.strip()} <= set(whole.split("\n"))
    assert len(part) <= HEAD + TAIL
    assert part == clip(part)


@given(BLOCKS, st.integers(1, 2_000))
@settings(max_examples=30, deadline=None)
def test_a_text_that_grows_may_be_clipped_again_and_again(blocks: list[tuple[str, int]], piece: int) -> None:
    """What was clipped while it was written is read as if it had been clipped once."""
    text, grown = written(blocks * 3), ""
    for at in range(0, len(text), piece):
        grown = clip(grown + text[at : at + piece])
    prose_of, structure_of = split(text)
    said, shown = split(grown)

    assert {line for line in said.split("\n") if line.strip()} <= set(prose_of.split("\n"))
    assert {line for line in shown.split("\n") if line.strip()} <= set(structure_of.split("\n"))
    assert grown[-TAIL // 2 :] == text[-TAIL // 2 :]


@pytest.mark.parametrize(
    "text",
    ["x" * 30_000, " " * 30_000, "\n" * 30_000, "```\n" * 9_000, "~~~```" * 6_000, "漢" * 30_000, "\ud800" * 30_000],
)
def test_a_text_without_lines_is_cut_where_it_is(text: str) -> None:
    """One long word, nothing but space, nothing but fences: bounded all the same."""
    part = clip(text)

    assert HEAD + TAIL - 1_000 <= len(part) <= HEAD + TAIL
    assert part == clip(part)


def test_no_number_is_read_in_part() -> None:
    """In one long line the cut falls between words."""
    numbers = " ".join(str(number) for number in range(100_000, 110_000))

    assert set(clip(numbers).split()) <= set(numbers.split())


def test_fences_far_away_are_not_looked_for() -> None:
    """Of many megabytes only the end of what is left out is searched: the tail is then read as it stands."""
    last = "The lamp is lit."
    text = f"{prose(13_000)}\n```\n{'word ' * 500_000}\n{last}"

    assert split(clip(text))[0].endswith(last)
    assert split(text)[1].endswith(last)
