"""How the index follows the notes: commits say where to look, a look at every file finds what a person has edited.

The files are what is believed.  In a large vault not every search waits for a look at all of them: looking takes at
most about a twentieth of the time, so that a person's edit is found after twenty times as long as a look lasts.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from vault.errors import Refused, VaultError
from vault.files import Files, Seen
from vault.fulltext import Entry, fact, put, remember, remove, stamps
from vault.git import Git
from vault.rules import LIMIT_BYTES
from vault.side_file import transaction

PATIENCE: Final = 10.0
"""How many seconds a search waits for an index that has to read many notes; the rest is read by the next ones."""

_BATCH, _MOST_TOUCHED = 500, 1_000
_QUICK_SECONDS, _SHARE = 0.05, 20.0
_UNSETTLED_SECONDS = 0.1  # a file may change again within one tick of its clock and look the same


@dataclass(frozen=True, slots=True)
class Following:
    """Brings an index up to a vault's notes; `head` gives the newest commit."""

    files: Files
    git: Git
    head: Callable[[], str | None]

    def follow(self, connection: sqlite3.Connection, *, all_now: bool = False) -> None:
        """Read what is new; with `all_now` look at every file, however long reading them takes."""
        head, known = self._newest(), fact(connection, "head")
        if all_now or _due(connection):
            self._look(connection, head, None if all_now else PATIENCE)
        elif head != known:
            paths = self.git.touched(str(known), head) if known and head else None
            if paths is None or len(paths) > _MOST_TOUCHED:
                self._look(connection, head, PATIENCE)
            else:
                self._take(connection, paths, head)

    def _newest(self) -> str | None:
        """The newest commit, None also where the branch cannot be read: the notes can be searched all the same."""
        try:
            return self.head()
        except VaultError:
            return None

    def _take(self, connection: sqlite3.Connection, paths: Sequence[str], head: str | None) -> None:
        with transaction(connection):
            for path in paths:
                entry = self._read(path) if _is_note(path) else None
                if entry is None:
                    remove(connection, [path])
                else:
                    put(connection, entry)
            remember(connection, {"head": head})

    def _look(self, connection: sqlite3.Connection, head: str | None, patience: float | None) -> None:
        began = time.monotonic()
        known, seen = stamps(connection), {note.path: note for note in self.files.walk()}
        changed = sorted((n for n in seen.values() if known.get(n.path) != n.stamp), key=lambda n: -n.modified)
        gone, took = known.keys() - seen.keys(), time.monotonic() - began
        if gone:
            with transaction(connection):
                remove(connection, gone)
        for start in range(0, len(changed), _BATCH):
            if patience is not None and time.monotonic() - began > patience:
                remember(connection, {"head": head, "looked": 0.0, "took": took})
                return
            with transaction(connection):
                for note in changed[start : start + _BATCH]:
                    put(connection, self._read(note.path, note) or Entry(note.path, "", note.modified, note.size))
        if changed or gone or took >= _QUICK_SECONDS or head != fact(connection, "head"):
            remember(connection, {"head": head, "looked": time.time(), "took": took})

    def _read(self, path: str, note: Seen | None = None) -> Entry | None:
        """A note as it is now, None where there is none to read; one that is too large has only its name."""
        try:
            content = self.files.read(tuple(path.split("/")), LIMIT_BYTES)
        except Refused:
            content = b"" if note else None
        if content is None:
            return None
        now = time.time()
        text = content.decode("utf-8", "replace")
        if note is None:
            return Entry(path, text, now, len(content))
        settled = now - note.modified > _UNSETTLED_SECONDS
        return Entry(path, text, note.modified, note.size, note.stamp if settled else "")


def _due(connection: sqlite3.Connection) -> bool:
    looked, took = fact(connection, "looked"), fact(connection, "took")
    if not isinstance(looked, float) or not isinstance(took, float) or took < _QUICK_SECONDS:
        return True
    return not 0 <= time.time() - looked < took * _SHARE


def _is_note(path: str) -> bool:
    return path.endswith(".md") and not any(part.startswith(".") for part in path.split("/"))
