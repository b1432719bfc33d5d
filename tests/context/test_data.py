"""Marks around text that nobody vouches for."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from daemon.context.data import marked


def test_data_stands_between_marks_that_name_its_source() -> None:
    """A tool's text is shown as data of that tool."""
    assert '<data from="host">\nload 0.31\n</data>' == marked("host", "load 0.31", 100)


@given(st.text(alphabet=st.sampled_from('</dataDATA >\n from="x"i'), max_size=80))
def test_no_text_can_close_its_own_quotation(text: str) -> None:
    """Between the first and the last mark there is never another one, whatever the text says."""
    inside = marked("host", text, 1000).removeprefix('<data from="host">').removesuffix("</data>")

    assert re.search(r"<\s*/?data\b", inside, re.IGNORECASE) is None


def test_long_text_is_cut_and_says_how_much_is_missing() -> None:
    """What is left out is counted, not hidden."""
    assert "(cut: 10 of 25 characters shown)" in marked("vault", "x" * 25, 10)
