"""Full-text search over the notes: rare words count more, newer notes come first, names and headings before text.

The index behind it is made from the files and follows them; a note is shown as its file is now.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from vault import fulltext, wikilinks
from vault.errors import Refused
from vault.excerpt import excerpt
from vault.following import Following
from vault.fulltext import Entry, Found
from vault.links import Link, names_in
from vault.rules import LIMIT_BYTES
from vault.side_file import BUSY_SECONDS, SideFile, from_outside, transaction
from vault.words import Term, plain, typed

T = TypeVar("T")

FILE: Final = "search.db"
_HALF_LIFE_DAYS = 30.0
_CANDIDATES = 200  # by their words alone, before recency is weighed in


@dataclass(frozen=True, slots=True)
class Hit:
    """A note that fits: its best line (from 1), an excerpt of that, and the words of the query that were found.

    `named` says that the query names the note in a wikilink.
    """

    path: str
    line: int
    excerpt: str
    score: float
    words: tuple[str, ...]
    named: bool = False


class Shelf:
    """The notes of a vault, ready to be searched from any thread; the index lies in the directory `own`."""

    def __init__(self, own: Path, following: Following, busy_seconds: float = BUSY_SECONDS) -> None:
        self._files, self._following = following.files, following
        self._side = SideFile(own / FILE, fulltext.SCHEMA, fulltext.VERSION, busy_seconds)

    def search(
        self,
        query: str,
        limit: int,
        pending: Mapping[str, str],
        leave: Callable[[str], bool] | None = None,
        *,
        syntax: bool = False,
        fresh: bool = False,
    ) -> Sequence[Hit]:
        """Return the best `limit` notes; `pending` texts stand for their files, what `leave` names is left out.

        With `syntax` a "quoted phrase" must stand in a note and `word*` is the beginning of a word; without it nothing
        in the query has a meaning of its own.  With `fresh` every file is looked at first, also in a large vault.
        """
        terms = (typed if syntax else plain)(query)
        if not terms:
            return []

        def work(connection: sqlite3.Connection) -> tuple[list[Found], list[Term], list[str]]:
            self._follow(connection, all_now=fresh)
            with _shown(connection, pending):
                named = [path for name in names_in(query) if (path := wikilinks.resolved(connection, name))]
                return (*fulltext.find(connection, terms, _CANDIDATES), named)

        found, telling, named = self._side.work(work)
        return list(islice(self._hits(_ranked(found, named), telling, pending, leave), max(0, limit)))

    def named(self, name: str) -> str | None:
        """Return the note that a name or a path means, None where there is none."""
        return self.read(lambda connection: wikilinks.resolved(connection, name))

    def links(self, path: str) -> tuple[list[Link], list[str]]:
        """Return the links of a note and the notes that link to it."""
        return self.read(lambda connection: (wikilinks.out_of(connection, path), wikilinks.back_to(connection, path)))

    def read(self, act: Callable[[sqlite3.Connection], T]) -> T:
        """Return what `act` reads in the index after a look at every file."""

        def work(connection: sqlite3.Connection) -> T:
            self._follow(connection, all_now=True)
            return act(connection)

        return self._side.work(work)

    def rebuild(self) -> int:
        """Throw the index away, make it from the files and return how many notes it has."""
        self._side.remove()
        return self.read(lambda connection: len(fulltext.stamps(connection)))

    def close(self) -> None:
        """Let go of the index; it is opened again when it is needed."""
        self._side.close()

    def _follow(self, connection: sqlite3.Connection, *, all_now: bool = False) -> None:
        """Bring the index up to date; where another process or a full disk prevents it, go on with what it has."""
        try:
            self._following.follow(connection, all_now=all_now)
        except sqlite3.OperationalError as wrong:
            if not from_outside(wrong):
                raise

    def _hits(
        self,
        found: Sequence[tuple[Found, bool]],
        terms: Sequence[Term],
        pending: Mapping[str, str],
        leave: Callable[[str], bool] | None,
    ) -> Iterator[Hit]:
        for note, named in found:
            if leave is not None and leave(note.path):
                continue
            text = pending[note.path] if note.path in pending else self._text(note.path)
            best = None if text is None else excerpt(note.path, text, terms, any_line=named)
            if best is not None:
                yield Hit(note.path, best.line, best.text, note.score, best.words, named)

    def _text(self, path: str) -> str | None:
        try:
            content = self._files.read(tuple(path.split("/")), LIMIT_BYTES)
        except Refused:
            return ""
        return None if content is None else content.decode("utf-8", "replace")


@contextlib.contextmanager
def _shown(connection: sqlite3.Connection, pending: Mapping[str, str]) -> Iterator[None]:
    """Have pending texts in the index as long as this lasts, so that they are weighed like all others."""
    with contextlib.ExitStack() as shown:
        try:
            if pending:
                shown.enter_context(transaction(connection, keep=False))
            for path, text in pending.items():
                fulltext.put(connection, Entry(path, text, time.time(), len(text)))
        except sqlite3.OperationalError as wrong:  # then they are not found, and all others are
            if not from_outside(wrong):
                raise
        yield


def _ranked(found: Sequence[Found], named: Sequence[str]) -> list[tuple[Found, bool]]:
    """Weigh the age of notes in: of equal ones, today's counts twice what an old one does.  Named ones come first."""
    newest = max((note.modified for note in found), default=0.0)

    def score(note: Found) -> float:
        return note.score * (1 + 2 ** (-max(0.0, newest - note.modified) / 86_400 / _HALF_LIFE_DAYS))

    weighed = [Found(note.path, note.modified, score(note)) for note in found]
    best = max((note.score for note in weighed), default=0.0)
    first = [(Found(path, 0.0, best + 1.0), True) for path in dict.fromkeys(named)]
    others = sorted(weighed, key=lambda note: (-note.score, note.path))
    return first + [(note, False) for note in others if note.path not in named]
