"""Where a phrase stood: its neighbours, its place in the output and in its line, and what they say together.

A catchphrase is an island that wanders: other words around it each time, anywhere in the text.  A line of a form has
the same neighbours, or a fixed place, or a line to itself; a label or an author's name stands at one end of its line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from guards.reading import NUMBER, Reading

EDGE = 0
"""In place of a neighbour where the output begins or ends."""
HEAD, TAIL, STOP, KNOWN = 1, 2, 4, 8
"""Marks: nothing said before the phrase in its line, nothing after it, a full stop behind it; it was looked at."""
WIDTH = 15
"""Where in the output a place is: from 0, first, to this, last."""
ENOUGH = 10
"""Places from which one can tell whether they differ."""
STABLE = 0.6
"""The least share of the places in which a phrase had the same words; otherwise it is a piece of something longer."""
NEW = 0.65, 0.75
"""The least share of different words before and after the phrase: in free outputs, and in outputs that have a form."""
AT_EDGE = 0.6
"""A phrase that stands at the edge of the output more often has only one side to judge."""
WANDERS = 0.16
"""The least deviation of a place that wanders; anywhere is 0.29, a new line of a form less."""
IN_LINE, SIDE = 0.6, 0.25
"""Amid lines this share of the places has words before it in its line (a label begins one), this share words after."""
MIXED = 0.5
"""Then the least share of different words before and after it; a form has few ends of lines."""
LISTED = re.compile(r"\s*(?:[-*+•|>#]|\d{1,5}[.)])\s")
"""The mark of an item or other line with a form."""
_LISTS = re.compile(r"[;:|]\s*\w")
"""The marks between the parts of a list in one line."""
_COUNT = re.compile(r"\d[+%]?\s?\Z")
NEAR = 300
"""Characters in which the brackets around a phrase are looked for."""
_STOPS = frozenset(".!?…。！？")
_CLOSERS = " \t\r\n\"'”’»)*_"
_SAID = re.compile(r"[^\W_]")


class Place(NamedTuple):
    """One sighting: kinds of the words beside it (1 to 255, or EDGE), where, the marks of its line, how many words."""

    before: int
    after: int
    where: int
    marks: int
    size: int


def beside(reading: Reading, start: int, end: int) -> tuple[int, int]:
    """Return the kinds of the words before and after; a number is passed over, it differs and says nothing."""
    said, before, after = reading.spoken, start - 1, end
    while before >= 0 and said[before] == NUMBER:
        before -= 1
    while after < len(said) and said[after] == NUMBER:
        after += 1
    kinds = reading.marks
    left = 1 + kinds[before] % 255 if before >= 0 else EDGE
    return left, 1 + kinds[after] % 255 if after < len(said) else EDGE


def same_extent(places: Sequence[Place], size: int) -> list[Place]:
    """Return the places where the phrase had as many words, none if those are too few to judge it by."""
    same = [place for place in places if place.size == size]
    return same if len(same) >= max(ENOUGH, STABLE * len(places)) else []


def is_island(places: Sequence[Place], *, formed: bool, whole: bool) -> bool:
    """Return whether the words around the phrase differ, and in outputs with a form whether it wanders too.

    At the beginning of all outputs only one that is `whole`, a sentence or clause, can be one: what runs on is a label.
    """
    before = [place.before for place in places if place.before != EDGE]
    after = [place.after for place in places if place.after != EDGE]
    inside = (1 - AT_EDGE) * len(places)
    if formed:
        return min(different(before), different(after)) >= NEW[1] and wanders(places)
    if len(before) < inside or len(after) < inside:
        label = not (whole or before)
        return not label and different(max(before, after, key=len)) >= NEW[0]
    return min(different(before), different(after)) >= NEW[0]


def is_amid_lines(places: Sequence[Place]) -> bool:
    """Return whether the phrase wanders through lines of other words, where no label and no item stands."""
    known = [place for place in places if place.marks & KNOWN]
    if not known or places[-1].marks & (HEAD | KNOWN) != KNOWN or not wanders(places):
        return False
    before = [place.before for place in known if not place.marks & HEAD]
    after = [place.after for place in known if not place.marks & TAIL]
    if len(before) < IN_LINE * len(known) or different(before) < MIXED:
        return False
    if len(after) >= SIDE * len(known):
        return different(after) >= MIXED
    stopped = sum(place.marks & (TAIL | STOP) != TAIL for place in known)
    return stopped >= SIDE * len(known)  # what ends items without a full stop is their label, or their author


def line_marks(words: Sequence[str], text: str) -> int:
    """Return the marks of the words' first place in a text in lower case."""
    for phrase in (" ".join(words), "".join(words)):
        if (start := text.find(phrase)) >= 0:
            end = start + len(phrase)
            break
    else:
        if (match := re.search(pattern(words), text)) is None:
            return HEAD | TAIL | KNOWN
        start, end = match.span()
    head, tail = text[text.rfind("\n", 0, start) + 1 : start], text[end:].partition("\n")[0]
    item = LISTED.match(head)
    said = _SAID.search(head, item.end() if item else 0), _SAID.search(tail)
    return KNOWN | HEAD * (said[0] is None) | TAIL * (said[1] is None) | STOP * (tail[:1] in _STOPS)


def is_title(line: str, start: int) -> bool:
    """Return whether a line begins with a phrase and has no full stop."""
    return not _SAID.search(line, 0, start) and line.rstrip(_CLOSERS)[-1:] not in _STOPS


def is_credit(text: str, match: re.Match[str]) -> bool:
    """Return whether a phrase stands in brackets with other words, or is cut by one that opens in it."""
    if any(match[0].rfind(opened) > match[0].rfind(closed) for opened, closed in ("()", "[]")):
        return True
    head, tail = text[max(0, match.start() - NEAR) : match.start()], text[match.end() : match.end() + NEAR]
    bracket = head.rfind("(")
    return bracket > head.rfind(")") and _SAID.search(head[bracket:] + tail.partition(")")[0]) is not None


def is_count(text: str, start: int) -> bool:
    """Return whether a number stands right before a place: what follows says what was counted."""
    return _COUNT.search(text, max(0, start - NEAR), start) is not None


def is_list(span: str) -> bool:
    """Return whether a phrase has two marks of a list in it."""
    return len(_LISTS.findall(span)) > 1


def pattern(words: Sequence[str]) -> str:
    """Return a regular expression that finds the words with any marks between them."""
    return r"[\W_]{0,8}".join(re.escape(word) for word in words)


def wanders(places: Sequence[Place]) -> bool:
    """Return whether the places within their outputs are far enough apart."""
    mean = sum(place.where for place in places) / len(places)
    return sum((place.where - mean) ** 2 for place in places) >= len(places) * (WIDTH * WANDERS) ** 2


def different(neighbours: Sequence[int]) -> float:
    """Return the share of different ones."""
    return len(set(neighbours)) / len(neighbours) if neighbours else 0.0
