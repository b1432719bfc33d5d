"""One output as every guard reads it: cut into prose, words, clauses and marks once, however many guards ask.

A part is made when it is first asked for.  Nothing here is longer than `guards.text.clip` allows, whatever came in.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from zlib import crc32

from guards.text import IS_UNSPACED, UNSPACED, WORD, clip, split, words

NUMBER = "#"
"""Stands for every number among the spoken words, so that a template with another number stays the same template."""

_PIECE = re.compile(rf"(?! )(?:{WORD}|[{UNSPACED}]|[.!?…;:。！？；：।\n]+|[,，、—–()\[\]\"“”«»]+|\d+(?:[.,:]\d+)*)")
_ASCII_PIECE = re.compile(r"[a-z]+(?:'[a-z]+)*|[0-9]+(?:[.,:][0-9]+)*|[.!?;:\n]+|[,()\[\]\"]+")
_FULL = frozenset(".!?…;:。！？；：।\n")
_MARKS = _FULL | frozenset(',，、—–()[]"“”«»')

_UNSAID = re.compile(r"<[a-z/!][^<>\n]{0,300}>|(?<=\])\([^()\n]{0,500}\)|(?<=\])\[[^\[\]\n]{0,200}\]")
"""Tags, and where a link leads: markup that nobody would read out."""


class Reading:
    """The parts of one text.

    >>> reading = read("Good night, harbour. 12 boats are in!")
    >>> reading.spoken
    ('good', 'night', 'harbour', '#', 'boats', 'are', 'in')
    >>> reading.sentences
    ((0, 3), (3, 7))
    >>> reading.clauses
    ((0, 2), (2, 3), (3, 7))
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Words and numbers of the whole text in lower case; scripts without spaces give pairs of characters."""
        return tuple(words(self.text))

    @cached_property
    def _parts(self) -> tuple[str, str]:
        return split(self.text)

    @property
    def prose(self) -> str:
        """The text without code, tables, quotes, headings, list markers and links."""
        return self._parts[0]

    @property
    def structure(self) -> str:
        """What `prose` leaves out."""
        return self._parts[1]

    @cached_property
    def spoken(self) -> tuple[str, ...]:
        """The words of the prose in lower case, without tags and link targets, every number `#`.

        Scripts without spaces give one character each.
        """
        return self._spoken[0]

    @cached_property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """(start, end) in `spoken` of what lies between full stops, line ends and their like."""
        return self._spoken[1]

    @cached_property
    def clauses(self) -> tuple[tuple[int, int], ...]:
        """(start, end) in `spoken` of what lies between any marks, commas, dashes, quotes and brackets too."""
        return self._spoken[2]

    @cached_property
    def marks(self) -> tuple[int, ...]:
        """32 bits for each of `spoken`, the same in every process."""
        return tuple(map(_mark, self.spoken))

    @cached_property
    def _spoken(self) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
        said: list[str] = []
        sentences: list[tuple[int, int]] = []
        clauses: list[tuple[int, int]] = []
        sentence = clause = 0
        prose = self.prose.lower()
        if "<" in prose or "](" in prose or "][" in prose:
            prose = _UNSAID.sub(" ", prose)
        pieces = (_ASCII_PIECE if prose.isascii() else _PIECE).findall(prose)
        pieces.append("\n")
        for piece in pieces:
            first = piece[0]
            if first not in _MARKS:
                said.append(NUMBER if first.isdecimal() and not IS_UNSPACED.match(first) else piece)
                continue
            if clause < len(said):
                clauses.append((clause, len(said)))
                clause = len(said)
            if sentence < clause and first in _FULL:
                sentences.append((sentence, clause))
                sentence = clause
        return tuple(said), tuple(sentences), tuple(clauses)


def read(text: str) -> Reading:
    """Return the reading of a text; the same object while the guards of a panel look at the same output."""
    return _read(clip(text))


@lru_cache(maxsize=4)
def _read(text: str) -> Reading:
    return Reading(text)


@lru_cache(maxsize=4096)
def _mark(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass"))
