"""Text from notes and commits, made safe to look at: what a terminal would obey or hide is spelled out.

It does not judge the text: look-alike letters and deceptive sentences stay as they are.
"""

from __future__ import annotations

import unicodedata

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(text: str, *, keep: str = "\n\t") -> str:
    """Spell out control, direction, zero-width and unassigned characters, except those in `keep`.

    >>> visible("a\\x1b[31mb\\u202ec")
    'a<U+001B>[31mb<U+202E>c'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in keep or unicodedata.category(c) not in _HIDDEN else f"<U+{ord(c):04X}>" for c in text)


def one_line(text: str, limit: int) -> str:
    """Return `text` on one line of at most `limit` characters, spelled out like `visible`.

    >>> one_line("a note\\nof two lines", 10)
    'a note of…'
    """
    line = visible(" ".join(text.split()), keep="")
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
