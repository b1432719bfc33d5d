"""Stretches that no word breaks: white space, one character, a unit repeated without a space between the copies.

A loop does not recover: it goes on until the output is cut off.  What more text follows is padding, a ruler or a dump.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from guards.finding import Finding, worse
from guards.period import stretches
from guards.text import quote

_DRAWN = re.compile(r"[\s\-=_*#.~+|/\\<>:^0…·•\u2010-\u2015\u2500-\u25ff]+")
"""What dividers, boxes and progress bars are drawn with."""
UNBROKEN = 24
"""Characters of a word in which copies may hide."""
_BLANK = re.compile(r"\s{200,}")
PIECE = 100
"""Characters: what is twice as long and all alike holds one such piece at a place that is looked at."""
LEADERS, LEADING = ".:0…·•", 300
"""Dots and zeros lead to a page number or fill a row, but not for four lines."""
ENDING = 40
"""Characters that may follow a loop which stands at the end: a closing bracket, half a sentence."""
_LINK = re.compile(r"://|%[0-9A-Fa-f]{2}")


def goes_on(length: int, after: str, size: int) -> bool:
    """Whether a stretch stands at the end of a text of `size` characters, or makes half of it."""
    return length >= 0.5 * size or len(after.strip()) < ENDING


def again(items: Sequence[str]) -> int:
    """Return how many groups of three items were there before."""
    return len(items) - 2 - len(set(zip(items, items[1:], items[2:], strict=False)))


def white(text: str) -> Finding | None:
    """Find white space in a row."""
    if not any(text[i : i + PIECE].isspace() for i in range(0, len(text), PIECE)):
        return None
    runs = [m for m in _BLANK.finditer(text) if goes_on(len(m[0]), text[m.end() :], len(text))]
    longest = max((len(m[0]) for m in runs), default=0)
    limit = 600 if longest < 0.7 * len(text) else 200
    return Finding(longest / limit, f"{longest} white-space characters in a row") if longest >= limit else None


def one_character(bare: str) -> Finding | None:
    """Find dots or zeros in a row, or a text that is one character."""
    for i in range(0, len(bare), PIECE):
        c = bare[i]
        if c in LEADERS and c * LEADING in bare[max(0, i - PIECE) : i + LEADING + PIECE]:
            after = bare[i:].lstrip(c)
            if goes_on(len(bare) - len(after) - len(bare[:i].rstrip(c)), after, len(bare)):
                return Finding(1.0, f"the character {quote(c)} {LEADING} times in a row and more")
    if len(bare) < 12 or len(set(bare[:12]) - {"\n"}) != 1 or len(set(bare) - {"\n"}) != 1 or _DRAWN.match(bare):
        return None
    return Finding(len(bare) / 12, f"nothing but {quote(bare[0])} {len(bare)} times")


def unbroken(prose: str, size: int) -> Finding | None:
    """Find a unit that is repeated without a space between the copies, in a text of `size` characters."""
    best: Finding | None = None
    words = prose.split()
    if max(map(len, words), default=0) < UNBROKEN:
        return None
    for word in words:
        if len(word) < UNBROKEN or not _may_repeat(word) or _DRAWN.fullmatch(word) or _LINK.search(word):
            continue
        found = _within(word, size)
        if found is not None:
            after = prose[prose.rindex(word) + len(word) :]
            best = worse(best, found if goes_on(len(word), after, size) else replace(found, stops=False))
    return best


def _within(word: str, size: int) -> Finding | None:
    best: Finding | None = None
    for s in stretches(word):
        unit = word[s.start : s.start + s.period]
        if s.length < 24 or s.length < 0.6 * len(word) or _DRAWN.fullmatch(unit):
            continue
        filling = s.length >= 0.3 * size
        need = (20 if s.period == 1 else 12 if s.period <= 4 else 5 if s.period <= 24 else 3) * (1 if filling else 3)
        if not any(c.isalnum() for c in unit) and s.length < 0.6 * size:
            continue
        why = f"the characters {quote(unit, 40)} {s.copies:.0f} times in a row"
        best = worse(best, Finding(s.copies / need, why, span=unit))
    return best


def _may_repeat(word: str) -> bool:
    """Whether a stretch can be 0.6 of the word: a third of it, but for two characters, comes again in threes."""
    return again(word) >= 0.2 * len(word) - 2
