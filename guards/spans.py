"""Where words stand in a text, as they are written there."""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST = 100
"""Characters of a word that is worth pointing at."""
LINE = 200
"""Characters of a line that tell it from others."""


def spans(text: str, words: Iterable[str]) -> tuple[str, ...]:
    """Return each word as it first stands in the text, whatever its case; words that do not stand there are left out.

    >>> spans("The Lantern is lit. Lanterns are not.", ["lantern", "gull"])
    ('Lantern',)
    """
    found = (_found(text, word) for word in words if len(word) <= LONGEST)
    return tuple(match[0] for match in found if match)


def longest_line(text: str) -> tuple[str, ...]:
    """Return the beginning of the longest line: it stands in the earlier ones too, if the text is the same.

    >>> longest_line("The lamp.\\nThe lamp is lit.\\n"), longest_line(" ")
    (('The lamp is lit.',), ())
    """
    line = max(text.split("\n"), key=len).strip()
    return (line[:LINE],) if line else ()


def _found(text: str, word: str) -> re.Match[str] | None:
    escaped = re.escape(word)
    whole = re.search(rf"(?<!\w){escaped}(?!\w)", text, re.IGNORECASE)
    return whole or re.search(escaped, text, re.IGNORECASE)
