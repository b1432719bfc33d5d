"""The phrases in the output at hand: the keys of its word runs, which words are a phrase, and how they stand there."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from guards.phrases import PLACES, Phrase
from guards.places import EDGE, LISTED, WIDTH, Place, beside, is_count, is_credit, is_title, line_marks, pattern
from guards.reading import NUMBER, Reading

SPACED, UNSPACED = 4, 6
"""Words, or characters of a script without spaces, that make the shortest phrase."""
LONGEST = 16
"""A longer one is a piece of a form, not a phrase."""
LONG = Place(EDGE, EDGE, 0, 0, 255)
"""A place of such a piece."""
REST = 3
"""Words that an output, or the line of a form, must say beside the phrase."""
FEW = 5
"""After so few sightings its lines are not yet looked at, which costs."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A phrase in the output at hand: from word `start` to word `end` of what it says."""

    phrase: Phrase
    start: int
    end: int
    said: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the phrase."""
        return self.said[self.start : self.end]


def keys_of(reading: Reading) -> tuple[list[int], int]:
    """Return a key for each run of words, and how many words a run has; 0 for a run with a number."""
    said, marks, size = reading.spoken, reading.marks, SPACED
    first = () if reading.text.isascii() else said[:200]
    if 2 * sum(len(word) == 1 and word > "\u0dff" for word in first) > len(first):
        size = UNSPACED
    keys = [key & 0xFFFFFFFF for key in map(hash, zip(*(marks[i:] for i in range(size)), strict=False))]
    at = -1
    for _ in range(said.count(NUMBER)):
        at = said.index(NUMBER, at + 1)
        for i in range(max(0, at - size + 1), min(at + 1, len(keys))):
            keys[i] = 0
    return keys, size


def note(seen: Sequence[Sighting], reading: Reading, rows: int) -> None:
    """Note of each phrase what stands around it and where, once an output."""
    noted: set[int] = set()
    text = ""
    for one in seen:
        phrase, size = one.phrase, one.end - one.start
        if id(phrase) in noted:
            continue
        noted.add(id(phrase))
        place = LONG
        if size <= LONGEST:
            before, after = beside(reading, one.start, one.end)
            marks = 0
            often = phrase.hits > FEW and 2 * phrase.hits >= rows - phrase.first
            if often and _varies(phrase.places[-3:], before, after, size):
                text = text or reading.text.lower()
                marks = line_marks(one.words, text)
            where = WIDTH * one.start // max(1, len(reading.spoken) - size)
            place = Place(before, after, where, marks, size)
            phrase.whole += _is_whole(reading.clauses, one.start, one.end)
        phrase.noted = min(phrase.noted + 1, 0xFFFF)
        phrase.places = [*phrase.places[1 - PLACES :], place]


def _is_whole(clauses: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Return whether a clause begins at the start and one ends at the end."""
    first, behind = bisect_left(clauses, (start, 0)), bisect_left(clauses, (end, 0))
    return first < len(clauses) and clauses[first][0] == start and behind > 0 and clauses[behind - 1][1] == end


def _varies(lately: Sequence[Place], before: int, after: int, size: int) -> bool:
    """Return whether the same words stood among others lately; only then are their lines looked at, which costs."""
    return all(
        size == place.size and before != place.before and (after != place.after or after == EDGE) for place in lately
    )


def standing(words: Sequence[str], text: str, *, formed: bool, gross: bool) -> str | None:
    """Return the words as they stand in one paragraph of the text; None where two items of a list only meet, or begin.

    In outputs with a form they must stand with other words in a line, which is no item unless they are in nearly all
    outputs with other words before them: items are carried over.  A title, a credit, a list and a count are no phrase.
    """
    several = "\n" in text.strip()
    for match in re.finditer(pattern(words), text, re.IGNORECASE):
        start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
        lines = text[start : end if end >= 0 else len(text)].split("\n")
        if any(LISTED.match(line) or not line.strip() for line in lines[1:]):
            continue
        item = LISTED.match(lines[0])
        if item and start + item.end() >= match.start() - 1:
            continue  # the head of an item is its label
        if is_credit(text, match) or is_count(text, match.start()):
            continue
        if several and is_title("\n".join(lines), match.start() - start):
            continue
        if not formed or not ((item and not gross) or len(Reading("\n".join(lines)).spoken) - len(words) < REST):
            return match[0]
    return None
