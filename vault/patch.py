"""A patch as lines whose changed words are known: read from the text that libgit2 makes of two contents.

Only the counts in a hunk's head say where it ends, so that no line of a note can pass for a part of the patch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Final, Literal, TypeAlias

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@.*")
_WORDS = re.compile(r"\w+|[^\S\n]+|[^\w\s]|\n")
_MOST_WORDS: Final = 3_000
"""The most words of two sides whose differences are looked for; beyond that whole lines are shown."""
_ALIKE: Final = 0.3
"""The share of words in common from which a changed line is worth marking word by word."""

Sort: TypeAlias = Literal[" ", "-", "+", "@", "\\"]
Part: TypeAlias = tuple[str, bool]
"""A piece of a line, and whether it is what changed in it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its sort as in a diff, and its text in parts.  `marked` says that the parts tell changed words."""

    sort: Sort
    parts: tuple[Part, ...]
    marked: bool = False

    @property
    def text(self) -> str:
        """The whole line without its sort."""
        return "".join(part for part, _ in self.parts)


def lines(patch: str) -> Iterator[Line]:
    """Give the hunks of a patch of one file, line by line."""
    for block in _blocks(_plain(patch)):
        yield from block


def _plain(patch: str) -> Iterator[tuple[Sort, str]]:
    old = new = 0
    for line in patch.split("\n"):
        if old <= 0 and new <= 0:
            if hunk := _HUNK.fullmatch(line):
                old, new = int(hunk[1] or 1), int(hunk[2] or 1)
                yield "@", line
            elif line.startswith("\\"):
                yield "\\", line[1:].strip()
            continue
        sort: Sort = {"-": "-", "+": "+", "\\": "\\"}.get(line[:1], " ")  # type: ignore[assignment]
        old -= sort in " -"
        new -= sort in " +"
        yield sort, line[1:]


def _blocks(plain: Iterator[tuple[Sort, str]]) -> Iterator[list[Line]]:
    """Give the lines in groups; a group of removed lines and the added ones after it are compared word by word."""
    removed: list[str] = []
    for sort, group in groupby(plain, key=lambda line: line[0]):
        texts = [text for _, text in group]
        if sort == "-":
            removed += texts
        elif sort == "+" and removed:
            yield _compared(removed, texts)
            removed = []
        elif sort == "\\" and removed:
            continue  # the file had no newline at its end before; the new side says how it is now
        else:
            yield [Line("-", ((text, False),)) for text in removed]
            removed = []
            yield [Line(sort, ((text, False),)) for text in texts]
    yield [Line("-", ((text, False),)) for text in removed]


def _compared(removed: Sequence[str], added: Sequence[str]) -> list[Line]:
    one, other = (_WORDS.findall("\n".join(side)) for side in (removed, added))
    whole = [*(Line("-", ((t, False),)) for t in removed), *(Line("+", ((t, False),)) for t in added)]
    if len(one) + len(other) > _MOST_WORDS:
        return whole
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return whole
    kept_one, kept_other = [False] * len(one), [False] * len(other)
    for a, b, size in matcher.get_matching_blocks():
        kept_one[a : a + size] = kept_other[b : b + size] = [True] * size
    return [*_marked("-", one, kept_one), *_marked("+", other, kept_other)]


def _marked(sort: Sort, words: Sequence[str], kept: Sequence[bool]) -> Iterator[Line]:
    line = list[Part]()
    for word, same in [*zip(words, kept, strict=True), ("\n", True)]:
        changed = not same
        if word == "\n":
            yield Line(sort, tuple(line), marked=True)
            line = []
        elif line and line[-1][1] == changed:
            line[-1] = (line[-1][0] + word, changed)
        else:
            line.append((word, changed))
