"""Two changes of one text, joined line by line."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as some

from vault.joining import MOST_LINES, common_start, joined

TEXTS = some.lists(some.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"d"]), max_size=8).map(b"".join)


@given(TEXTS, TEXTS)
def test_where_one_side_did_nothing_the_other_is_the_result(base: bytes, other: bytes) -> None:
    """A change is carried over whole when nothing else has happened, and no change leaves all as it is."""
    assert joined(base, base, other) in (other, other + b"\n")
    assert joined(base, other, base) == other


@given(TEXTS, TEXTS, TEXTS)
def test_no_line_that_our_side_added_is_ever_lost(base: bytes, ours: bytes, theirs: bytes) -> None:
    """Whatever comes out holds every line that only our side has, as often as it has it."""
    result = joined(base, ours, theirs)
    if result is None:
        return
    added = Counter(ours.splitlines()) - Counter(base.splitlines())
    assert not added - Counter(result.splitlines())


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "both"),
    [
        (b"# day\n", b"# day\n- mine\n", b"# day\n- yours\n", b"# day\n- mine\n- yours\n"),
        (b"- a\n- b\n", b"- a\n- b\n- c\n", b"- a\n", b"- a\n- c\n"),
        (b"- a\n- b\n- c\n", b"- a\n- b\n- c\n- d\n", b"- a\n- c\n", b"- a\n- c\n- d\n"),
        (b"x\n", b"x\ny", b"x\nz\n", b"x\ny\nz\n"),
        (b"a\nb\n", b"a\nB\n", b"A\nb\n", b"A\nB\n"),
        (b"a\nb\nc\n", b"a\nmine\nb\nc\n", b"c\n", b"mine\nc\n"),
    ],
)
def test_changes_that_only_touch_are_both_kept(base: bytes, ours: bytes, theirs: bytes, both: bytes) -> None:
    """Two entries at one end stay, an older entry goes although a newer one follows it, neighbours do not clash."""
    assert joined(base, ours, theirs) == both


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        (b"a\n", b"mine\n", b"yours\n"),
        (b"a\nb\n", b"a\nmine\nb\n", b"A\nB\n"),
        (b"a\nb\nc\n", b"a\nB\nc\n", b"a\nc\n"),
    ],
)
def test_changes_of_the_same_lines_clash(base: bytes, ours: bytes, theirs: bytes) -> None:
    """What our side has changed is neither replaced nor taken away."""
    assert joined(base, ours, theirs) is None


def test_more_than_can_be_compared_is_a_clash() -> None:
    """Beyond the bound nothing is guessed."""
    many = b"".join(b"%d\n" % n for n in range(MOST_LINES + 10))

    assert joined(many, b"x\n" + many + b"y\n", b"z" + many + b"z") is None


def test_the_common_start_is_whole_lines() -> None:
    """Half a line in common is nothing in common."""
    assert common_start(b"# d\n\n- 1\n", b"# d\n\n- 2\n") == b"# d\n\n"
    assert common_start(b"abc", b"abd") == b""


def test_what_does_not_touch_is_carried_over_alone() -> None:
    """With `part`, a change in the same line is left out and a new line at the end still comes."""
    base, ours = b"state: none\n- a\n", b"state: mine\n- a\n"
    theirs = b"state: theirs\n- a\n- b\n"

    assert joined(base, ours, theirs) is None
    assert joined(base, ours, theirs, part=True) == b"state: mine\n- a\n- b\n"
