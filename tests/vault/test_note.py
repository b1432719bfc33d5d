"""Notes taken apart and put together again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault import parse, render

PIECES = st.sampled_from(
    [b"---\n", b"---\r\n", b"---", b"read_only: true\n", b"a: 'b' # c\n", b"\n", b"text\n", b"\xff", b"# T\n"]
)


@given(st.binary(max_size=200) | st.lists(PIECES, max_size=8).map(b"".join))
def test_parse_and_render_are_inverse(data: bytes) -> None:
    """Whatever bytes a note holds, taking it apart and putting it together gives the same bytes."""
    assert render(parse(data)) == data


@given(
    st.lists(PIECES, max_size=6).map(b"".join),
    st.sampled_from(["description", "read_only", "new"]),
    st.text(max_size=20),
)
def test_a_field_that_was_set_is_read_back(data: bytes, key: str, value: str) -> None:
    """Setting a field gives a note that parses to the same body and has that field."""
    value = " ".join("".join(c for c in value if c.isalnum() or c == " ").split())
    note = parse(render(parse(data).having(key, value)))

    assert note.fields[key] == value
    assert note.body == parse(data).body


@pytest.mark.parametrize(
    ("front", "closed"),
    [
        ("read_only: true", True),
        ("read_only: 'yes'", True),
        ("read_only:  True  # mine", True),
        ("read_only: false", False),
        ("other: true", False),
        ("  read_only: true", False),
    ],
)
def test_read_only_is_what_the_front_matter_says(front: str, closed: bool) -> None:
    """A note is closed to the agent when its own front matter has read_only as true."""
    assert parse(f"---\n{front}\n---\nbody\n".encode()).read_only is closed


def test_front_matter_begins_the_file() -> None:
    """A fence further down is part of the body."""
    assert parse(b"text\n---\nread_only: true\n---\n").fields == {}


def test_setting_a_field_leaves_every_other_byte() -> None:
    """Only the one line changes, and the rest of the front matter stays as the person wrote it."""
    note = parse(b"---\r\n# mine\r\ntags: [a,\r\n  b]\r\ndescription: old\r\n---\r\nbody")

    assert (
        render(note.having("description", "new"))
        == b"---\r\n# mine\r\ntags: [a,\r\n  b]\r\ndescription: new\r\n---\r\nbody"
    )
