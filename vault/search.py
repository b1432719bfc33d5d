"""Plain full-text search over the notes: rare words count more, newer notes come first.

It reads files, remembers what it read while they do not change, and stops at its bounds: the newest 5,000 notes and
16 MiB of remembered text.  It knows nothing of word forms or languages.
"""

from __future__ import annotations

import math
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from vault.errors import Refused
from vault.files import Files, Seen

_MOST_NOTES, _MOST_REMEMBERED, _LARGEST = 5_000, 16 * 1024 * 1024, 256 * 1024
_MOST_WORDS, _WHOLE_WORD_BELOW = 24, 4
_HALF_LIFE_DAYS = 30.0
_EXCERPT = 200


@dataclass(frozen=True, slots=True)
class Hit:
    """A note that fits: its best line (from 1), an excerpt of that, and the words of the query that were found."""

    path: str
    line: int
    excerpt: str
    score: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Match:
    path: str
    text: str
    modified: float
    counts: Counter[str]


class Shelf:
    """The notes, ready to be searched from any thread."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._texts: dict[str, tuple[tuple[int, int, int], str]] = {}
        self._remembered = 0
        self._lock = threading.Lock()

    def search(
        self, query: str, limit: int, pending: Mapping[str, str], leave: Callable[[str], bool] | None = None
    ) -> Sequence[Hit]:
        """Return the best `limit` notes; `pending` texts stand for their files, what `leave` names is left out."""
        asked = dict.fromkeys(word for word in re.findall(r"\w+", query.casefold()) if len(word) > 1)
        words = tuple(asked)[:_MOST_WORDS]
        if not words:
            return []
        longest_first = sorted(words, key=len, reverse=True)
        pattern = re.compile("|".join(_shape(word) for word in longest_first), re.IGNORECASE)
        with self._lock:
            notes = [note for note in self._notes(pending) if leave is None or not leave(note[0])]
        matches = [_match(pattern, words, *note) for note in notes]
        found = [match for match in matches if match.counts]
        among = Counter(word for match in found for word in match.counts)
        newest = max((match.modified for match in found if math.isfinite(match.modified)), default=0.0)
        hits = [_hit(match, pattern, words, _score(match, among, len(notes), newest)) for match in found]
        return sorted(hits, key=lambda hit: (-hit.score, hit.path))[:limit]

    def _notes(self, pending: Mapping[str, str]) -> Iterator[tuple[str, str, float]]:
        yield from ((path, text, math.inf) for path, text in pending.items())
        seen = sorted(self._files.walk(), key=lambda note: -note.modified)[:_MOST_NOTES]
        self._forget_others({note.path for note in seen})
        for note in seen:
            if note.path not in pending:
                yield note.path, self._text(note), note.modified

    def _text(self, note: Seen) -> str:
        stamp, text = self._texts.get(note.path, (None, ""))
        if stamp == note.stamp:
            return text
        try:
            content = self._files.read(tuple(note.path.split("/")), _LARGEST) or b""
        except Refused:
            content = b""
        text = content.decode("utf-8", "replace")
        self._remembered -= len(self._texts.pop(note.path, (None, ""))[1])
        if self._remembered + len(text) <= _MOST_REMEMBERED:
            self._texts[note.path] = (note.stamp, text)
            self._remembered += len(text)
        return text

    def _forget_others(self, paths: set[str]) -> None:
        for path in self._texts.keys() - paths:
            self._remembered -= len(self._texts.pop(path)[1])


def _shape(word: str) -> str:
    return rf"\b{re.escape(word)}" + (r"\b" if len(word) < _WHOLE_WORD_BELOW else "")


def _match(pattern: re.Pattern[str], words: tuple[str, ...], path: str, text: str, modified: float) -> _Match:
    counts = Counter(found.casefold() for found in pattern.findall(text))
    counts.update(2 * [found.casefold() for found in pattern.findall(path)])
    return _Match(path, text, modified, Counter({word: counts[word] for word in words if counts[word]}))


def _score(match: _Match, among: Counter[str], notes: int, newest: float) -> float:
    overlap = sum(math.log(1 + notes / among[word]) * (1 + math.log(count)) for word, count in match.counts.items())
    age_days = max(0.0, newest - match.modified) / 86_400
    return overlap * (1 + math.exp2(-age_days / _HALF_LIFE_DAYS))


def _hit(match: _Match, pattern: re.Pattern[str], words: tuple[str, ...], score: float) -> Hit:
    lines = match.text.splitlines() or [""]
    best = max(range(len(lines)), key=lambda at: len({found.casefold() for found in pattern.findall(lines[at])}))
    line = lines[best].strip()
    place = pattern.search(line)
    start = max(0, place.start() - _EXCERPT // 3) if place and len(line) > _EXCERPT else 0
    cut = line[start : start + _EXCERPT]
    excerpt = ("…" if start else "") + cut + ("…" if start + _EXCERPT < len(line) else "")
    return Hit(match.path, best + 1, excerpt, score, tuple(word for word in words if match.counts[word]))
