"""One output as every guard reads it: cut into prose, words, clauses and marks once, however many guards ask.

Nothing here is longer than `guards.text.clip` allows, whatever came in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias
from zlib import crc32

from guards.text import IS_UNSPACED, LINK, UNSPACED, UNSPACED_FROM, WORD, clip, split, words

NUMBER = "#"
"""Stands for every number among the spoken words, so that a template with another number stays the same template."""

_PIECE = re.compile(rf"(?! )(?:{WORD}|[{UNSPACED}]|[.!?…;:。！？；：।\n]+|[,，、—–()\[\]\"“”«»]+|\d+(?:[.,:]\d+)*)")
_ASCII_PIECE = re.compile(r"[a-z]+(?:'[a-z]+)*|[0-9]+(?:[.,:][0-9]+)*|[.!?;:\n]+|[,()\[\]\"]+")
_FULL = frozenset(".!?…;:。！？；：।\n")
_MARKS = _FULL | frozenset(',，、—–()[]"“”«»')

MOST_MARKS = 20_000
"""Words whose bits are remembered: the same few thousand come again in any stream."""
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

    __slots__ = ("clauses", "marks", "prose", "sentences", "spoken", "structure", "text", "words")

    def __init__(self, text: str) -> None:
        """Cut the text; each part is needed by one guard or another.

        `words`: words and numbers in lower case, first of the prose, then of all that is not prose, last of the links;
        scripts without spaces give pairs of characters, in the order of the text.
        `prose`: the text without code, tables, quotes, headings, list markers and links, and `structure` the rest.
        `spoken`: the words of the prose in lower case, without tags and link targets, every number `#`; scripts
        without spaces give one character each.  `marks`: 32 bits for each of them, the same in every process.
        `sentences`: (start, end) in `spoken` of what lies between full stops, line ends and their like.  `clauses`:
        the same between any marks, commas, dashes, quotes and brackets too.
        """
        self.text = text
        self.prose, self.structure = split(text)
        said, self.spoken, self.sentences, self.clauses = _spoken(_pieces(self.prose.lower()))
        self.words = _words(said, self.structure, text)
        self.marks = marks(self.spoken)


Spans: TypeAlias = tuple[tuple[int, int], ...]


def _pieces(prose: str) -> list[str]:
    """Return words, numbers and marks of a prose in lower case."""
    if "<" in prose or "](" in prose or "][" in prose:
        prose = _UNSAID.sub(" ", prose)
    pieces: list[str] = (_ASCII_PIECE if prose.isascii() else _PIECE).findall(prose)
    return pieces


def _words(said: list[str], structure: str, text: str) -> tuple[str, ...]:
    if said and max(said) >= UNSPACED_FROM:
        return tuple(words(text))
    links = LINK.findall(text) if "://" in text else ()
    return tuple(said + words("\n".join((structure, *links)))) if structure or links else tuple(said)


def _spoken(pieces: list[str]) -> tuple[list[str], tuple[str, ...], Spans, Spans]:
    """Return words and numbers; the same with NUMBER for each number; and the spans of sentences and clauses."""
    said: list[str] = []
    numbers: list[int] = []
    sentences: list[tuple[int, int]] = []
    clauses: list[tuple[int, int]] = []
    sentence = clause = 0
    for piece in (*pieces, "\n"):
        if piece.isalpha():
            said.append(piece)
            continue
        first = piece[0]
        if first not in _MARKS:
            if first.isdecimal() and not IS_UNSPACED.match(first):
                numbers.append(len(said))
            said.append(piece)
            continue
        if clause < len(said):
            clauses.append((clause, len(said)))
            clause = len(said)
        if sentence < clause and first in _FULL:
            sentences.append((sentence, clause))
            sentence = clause
    spoken = said.copy()
    for at in numbers:
        spoken[at] = NUMBER
    return said, tuple(spoken), tuple(sentences), tuple(clauses)


def read(text: str) -> Reading:
    """Return the reading of a text; the same object while the guards of a panel look at the same output."""
    return _read(clip(text))


@lru_cache(maxsize=4)
def _read(text: str) -> Reading:
    return Reading(text)


class _Marks(dict[str, int]):
    """32 bits of each word that was read lately; a number seldom comes again."""

    def __missing__(self, word: str) -> int:
        found = crc32(word.encode("utf-8", "surrogatepass"))
        if not word[0].isdecimal():
            self[word] = found
        return found


_marks = _Marks()


def marks(words: Iterable[str]) -> tuple[int, ...]:
    """Return 32 bits for each word, the same in every process."""
    if len(_marks) > MOST_MARKS:
        _marks.clear()
    return tuple(map(_marks.__getitem__, words))
