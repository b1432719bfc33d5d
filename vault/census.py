"""What there is in a vault, and what could be tidied: growth, notes that nobody read, doubles, broken links.

It reads the index, the history and the counts of reads, and changes nothing.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from typing import TYPE_CHECKING, Final

from vault import wikilinks
from vault.git import Commit
from vault.likeness import Pair, near_duplicates
from vault.rules import is_instruction

if TYPE_CHECKING:
    from vault.vault import Vault

WEEKS: Final = 12
LARGEST: Final = 10
_NOTES = "SELECT path, size, described FROM note ORDER BY path"
_TEXTS = "SELECT note.path, words.body FROM note JOIN words ON words.rowid = note.id"


@dataclass(frozen=True, slots=True)
class Broken:
    """A link in a note that means no note."""

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class Census:
    """The vault in numbers.  Instructions are in the sizes, and never among what could be tidied.

    `weeks` gives (Monday, commits), the oldest first, up to the week of the newest commit.  `unread` are notes that the
    agent was not shown since `reads_since`, `pages` those of the journal, which need no description.  Two notes are not
    `alike` where one links to the other: whoever wrote the link knows of both.
    """

    notes: int
    bytes: int
    weeks: tuple[tuple[str, int], ...]
    largest: tuple[tuple[str, int], ...]
    undescribed: tuple[str, ...]
    unread: tuple[str, ...]
    reads_since: str | None
    alike: tuple[Pair, ...]
    broken: tuple[Broken, ...]
    pages: tuple[str, ...]


def census(vault: Vault) -> Census:
    """Look at every note and at the newest history.  Raises VaultError."""
    read = vault.reads.counted()

    def work(connection: sqlite3.Connection) -> Census:
        notes = [(path, size, bool(described)) for path, size, described in connection.execute(_NOTES)]
        kept = {path for path, _, _ in notes if not is_instruction(path)}
        linked = wikilinks.pairs(connection)
        pages = {path for path in kept if path.startswith("journal/")}
        return Census(
            len(notes),
            sum(size for _, size, _ in notes),
            tuple(_weeks(vault)),
            tuple(sorted(((path, size) for path, size, _ in notes), key=lambda note: (-note[1], note[0]))[:LARGEST]),
            tuple(path for path, _, described in notes if path in kept - pages and not described),
            tuple(path for path, _, _ in notes if path in kept and path not in read.times),
            read.since,
            tuple(pair for pair in _alike(connection, kept) if not {pair.paths, pair.paths[::-1]} & linked),
            tuple(_broken(connection, kept)),
            tuple(sorted(pages)),
        )

    return vault.shelf.read(work)


def _alike(connection: sqlite3.Connection, kept: set[str]) -> list[Pair]:
    return near_duplicates((path, body) for path, body in connection.execute(_TEXTS) if path in kept)


def _broken(connection: sqlite3.Connection, kept: set[str]) -> Iterator[Broken]:
    for path, links in wikilinks.everywhere(connection).items():
        if path in kept:
            yield from (Broken(path, link.name) for link in links if link.path is None)


def _weeks(vault: Vault) -> list[tuple[str, int]]:
    """(Monday, commits) of each week from the first to the last of the newest ones; quiet weeks count 0."""
    counts, last = Counter[date](), None
    for commit in vault.git.history(vault.head):
        monday = _monday(commit)
        last = last or monday
        if last - monday >= timedelta(weeks=WEEKS):
            break
        counts[min(monday, last)] += 1
    if last is None:
        return []
    weeks = (last - min(counts)).days // 7
    return [(day.isoformat(), counts[day]) for day in (last - timedelta(weeks=back) for back in range(weeks, -1, -1))]


def _monday(commit: Commit) -> date:
    day = commit.author.when.astimezone(UTC).date()
    return day - timedelta(days=day.weekday())
