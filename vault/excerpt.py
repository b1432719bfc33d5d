"""Where in a note the words of a question stand: which of them, the line that has most of them, and a piece of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vault.words import Term, folded

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Excerpt:
    """`line` counts from 1; `words` are those of the question that were found, as they were asked."""

    line: int
    text: str
    words: tuple[str, ...]


def excerpt(path: str, text: str, terms: Sequence[Term], *, any_line: bool = False) -> Excerpt | None:
    """Return the best line of a note; None where it has none of the words (any more), unless `any_line` will do."""
    lines = text.splitlines() or [""]
    compared = [folded(line) for line in lines]
    whole = f"{folded(path)}\n" + "\n".join(compared)
    present = [(term, pattern) for term in terms if (pattern := re.compile(term.pattern)).search(whole)]
    missing = {term for term in terms if term.required} - {term for term, _ in present}
    if missing or not (present or any_line):
        return None
    best = max(range(len(lines)), key=lambda at: sum(1 for _, pattern in present if pattern.search(compared[at])))
    return Excerpt(best + 1, _cut(lines[best], compared[best], [pattern for _, pattern in present]), _names(present))


def _cut(line: str, compared: str, patterns: Sequence[re.Pattern[str]]) -> str:
    places = [found.start() for pattern in patterns if (found := pattern.search(compared))]
    blank = len(line) - len(line.lstrip())
    line = line.strip()
    start = max(0, min(places) - blank - _LONGEST // 3) if places and len(line) > _LONGEST else 0
    piece = line[start : start + _LONGEST]
    return ("…" if start else "") + piece + ("…" if start + _LONGEST < len(line) else "")


def _names(present: Sequence[tuple[Term, re.Pattern[str]]]) -> tuple[str, ...]:
    """The words found, without those that are only a part of a longer find."""
    asked = dict.fromkeys(term.asked for term, _ in present)
    return tuple(word for word in asked if not any(word != longer and word in longer.split(" ") for longer in asked))
