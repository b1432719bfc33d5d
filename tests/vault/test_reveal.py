"""Deceptive text, shown to a person as it is."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as some

from vault.reveal import reveal, told

DECEPTIVE = [
    ("p\u0430ypal", "p<U+0430>ypal"),
    ("\u0430\u0440\u0440\u04cf\u0435 is a fine shop for fruit", "<U+0430><U+0440><U+0440><U+04CF><U+0435> is"),
    ("a\u202eb\u2066c", "a<U+202E>b<U+2066>c"),
    ("zero\u200bwidth\ufeff", "zero<U+200B>width<U+FEFF>"),
    ("esc\x1b[2Jape \x9b31m", "esc<U+001B>[2Jape <U+009B>31m"),
    ("over\rwritten", "over<U+000D>written"),
    ("tag\U000e0041", "tag<U+E0041>"),
    ("filler\u3164\u2800", "filler<U+3164><U+2800>"),
    ("no\u00a0break", "no<U+00A0>break"),
    ("vs\ufe01", "vs<U+FE01>"),
    ("z\u0335\u0327\u0322\u031b", "z<U+0335><U+0327><U+0322><U+031B>"),
    ("far" + " " * 200 + "away", "far<200 spaces>away"),
    ("\uff45\uff56\uff49\uff4c", "<U+FF45><U+FF56><U+FF49><U+FF4C>"),
]
HONEST = [
    "Grüße, naïve café",
    "Привет, мир",
    "β-Carotin, 25 µg",
    "漢字テスト",
    "done ❤️ ✅",
    "שלום",
    "e\u0301te\u0301",
    "\tx",
]


@pytest.mark.parametrize(("text", "shown"), DECEPTIVE)
def test_what_deceives_is_spelled_and_named(text: str, shown: str) -> None:
    """The characters are spelled where they stand, and one line says that there are some."""
    seen = reveal(text)

    assert seen.text.startswith(shown)
    assert told(seen.found)


@pytest.mark.parametrize("text", HONEST)
def test_ordinary_words_of_any_language_stay(text: str) -> None:
    """No language is treated as a deception, and no accent or coloured sign is."""
    assert reveal(text).text.replace("\ufe0f", "") == text.replace("\ufe0f", "")
    assert not reveal(text).found


@given(some.text(max_size=60))
def test_nothing_a_terminal_obeys_or_hides_is_left(text: str) -> None:
    """Whatever the text, what is shown has only characters with ink, spaces and tabs and line ends."""
    shown = reveal(text).text

    assert all(c in "\n\t" or unicodedata.category(c)[0] not in "CZ" or c == " " for c in shown)


def test_what_a_terminal_obeys_is_named_first() -> None:
    """However many harmless kinds there are, the warning begins with control characters and counts what it leaves."""
    text = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007" * 3 + "\x9b"
    said = told(reveal(text).found)

    assert said.startswith("U+009B control character, ")
    assert said.endswith(", and 2 more kinds")
