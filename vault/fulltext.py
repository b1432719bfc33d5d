"""The index of a vault's notes in SQLite's FTS5: a file beside the history that can be made from the notes at any time.

It knows texts, words and links; it does not know where notes lie or when they change.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from vault.links import key_of, names_in
from vault.note import parse
from vault.words import Term, indexed

VERSION: Final = 1
"""Of the tables and of how words are made; a file of another version is made anew."""

SCHEMA: Final = """
    CREATE TABLE note (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, key TEXT NOT NULL, stamp TEXT NOT NULL,
                       modified REAL NOT NULL, size INTEGER NOT NULL, title TEXT NOT NULL, described INTEGER NOT NULL);
    CREATE INDEX note_key ON note (key);
    CREATE TABLE link (note INTEGER NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL);
    CREATE INDEX link_note ON link (note);
    CREATE INDEX link_key ON link (key);
    CREATE TABLE fact (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE VIRTUAL TABLE words USING fts5 (name, about, headings, body, tokenize = "ascii");
    CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row)"""

_WEIGHTS = "4.0, 3.0, 2.0, 1.0"  # of a word in the name or title, the front matter, a heading, the rest
_COMMON, _FEW_NOTES, _MOST_TERMS = 0.5, 20, 24
_MOST_WEIGHED = 15_000  # notes to be ranked for one question: about a microsecond each
_COUNT = "SELECT doc FROM vocabulary WHERE term = ?"
_FREQUENT, _STILL_TRUE = 1_000, 0.1  # to count such a word takes a while: it is done again when the vault has grown
_KNOWN = "CREATE TEMP TABLE IF NOT EXISTS frequent (word TEXT PRIMARY KEY, count INTEGER, notes INTEGER) WITHOUT ROWID"
_FIND = f"""
    SELECT note.path, note.modified, best.score FROM note JOIN (
        SELECT rowid, -bm25(words, {_WEIGHTS}) AS score FROM words WHERE words MATCH ? ORDER BY score DESC LIMIT ?
    ) AS best ON note.id = best.rowid"""

_FIND_AT_ENDS = f"""
    SELECT note.path, note.modified, best.score FROM note JOIN (
        SELECT * FROM (SELECT rowid, -bm25(words, {_WEIGHTS}) AS score FROM words WHERE words MATCH :match
                       ORDER BY rowid DESC LIMIT :most / 2)
        UNION SELECT * FROM (SELECT rowid, -bm25(words, {_WEIGHTS}) AS score FROM words WHERE words MATCH :match
                             ORDER BY rowid LIMIT :most / 2)
        ORDER BY score DESC LIMIT :limit
    ) AS best ON note.id = best.rowid"""  # the newest stand last, and first from when the index was made


@dataclass(frozen=True, slots=True)
class Entry:
    """A note for the index: where it is, what it says, and when that was written, in seconds since the epoch.

    `stamp` changes whenever the content may have; an empty one is that of no file.
    """

    path: str
    text: str
    modified: float
    size: int
    stamp: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A note that has some of the words; `score` is higher for a better fit."""

    path: str
    modified: float
    score: float


def put(connection: sqlite3.Connection, entry: Entry) -> None:
    """Have a note in the index as it is now."""
    remove(connection, [entry.path])
    note = parse(entry.text.encode("utf-8", "surrogatepass"))
    title, headings = _headings(note.body)
    described = bool(note.fields.get("description"))
    row = (entry.path, key_of(entry.path), entry.stamp, entry.modified, entry.size, title, described)
    columns = "path, key, stamp, modified, size, title, described"
    number = connection.execute(f"INSERT INTO note ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", row).lastrowid
    name = f"{entry.path.removesuffix('.md')} {title}"
    words = [indexed(part) for part in (name, note.front, headings, note.body)]
    connection.execute(
        "INSERT INTO words (rowid, name, about, headings, body) VALUES (?, ?, ?, ?, ?)", (number, *words)
    )
    links = [(number, target, key_of(target)) for target in names_in(entry.text)]
    connection.executemany("INSERT INTO link VALUES (?, ?, ?)", links)


def remove(connection: sqlite3.Connection, paths: Iterable[str]) -> None:
    """Have these notes in the index no more."""
    for path in paths:
        for (number,) in connection.execute("SELECT id FROM note WHERE path = ?", (path,)).fetchall():
            connection.execute("DELETE FROM words WHERE rowid = ?", (number,))
            connection.execute("DELETE FROM link WHERE note = ?", (number,))
            connection.execute("DELETE FROM note WHERE id = ?", (number,))


def find(connection: sqlite3.Connection, terms: Sequence[Term], limit: int) -> tuple[list[Found], list[Term]]:
    """Return the notes that fit best by their words alone, in any order, and the terms that told them from others."""
    needed = [term for term in terms if term.required]
    others = _telling(connection, [term for term in terms if not term.required])
    match = " OR ".join(term.match for term in others)
    if needed:
        all_of_them = " AND ".join(term.match for term in needed)
        match = f"({all_of_them}) OR (({all_of_them}) AND ({match}))" if others else all_of_them
    if not match:
        return [], needed + others
    if len(others) == 1 and not needed and _is_too_frequent(connection, others[0]):
        rows = connection.execute(_FIND_AT_ENDS, {"match": match, "most": _MOST_WEIGHED, "limit": limit})
    else:
        rows = connection.execute(_FIND, (match, limit))
    return [Found(*row) for row in rows], needed + others


def stamps(connection: sqlite3.Connection) -> dict[str, str]:
    """Return {path: stamp} of every note in the index."""
    return dict(connection.execute("SELECT path, stamp FROM note").fetchall())


def fact(connection: sqlite3.Connection, name: str) -> str | float | None:
    """Return what was last remembered under this name."""
    row = connection.execute("SELECT value FROM fact WHERE name = ?", (name,)).fetchone()
    return None if row is None else row[0]


def remember(connection: sqlite3.Connection, facts: Mapping[str, str | float | None]) -> None:
    """Remember these values until the index is made anew."""
    connection.executemany("INSERT OR REPLACE INTO fact VALUES (?, ?)", facts.items())


def _telling(connection: sqlite3.Connection, terms: Sequence[Term]) -> list[Term]:
    """The rarest of the terms, without those that more than half of the notes have: such a word tells nothing.

    In a large vault the rarest ones are enough: as many as all together bring so many notes as can be ranked at once.
    A term that stands nowhere as it is may still be the beginning of a word; it comes last.
    """
    (notes,) = connection.execute("SELECT count(*) FROM note").fetchone()
    if notes < _FEW_NOTES and len(terms) <= _MOST_TERMS:
        return [*terms]
    connection.execute(_KNOWN)
    counts = {term: _count(connection, term, notes) for term in terms}
    most = notes * _COMMON if notes >= _FEW_NOTES else notes
    rare = [term for term in terms if counts[term] <= most] or terms
    ordered = sorted(rare, key=lambda term: (not counts[term], counts[term]))[:_MOST_TERMS]
    sums = accumulate(counts[term] for term in ordered)
    return [term for term, total in zip(ordered, sums, strict=True) if total <= _MOST_WEIGHED] or ordered[:1]


def _is_too_frequent(connection: sqlite3.Connection, term: Term) -> bool:
    """Whether more notes have a term than can be ranked at once."""
    (notes,) = connection.execute("SELECT count(*) FROM note").fetchone()
    if notes <= _MOST_WEIGHED:
        return False
    connection.execute(_KNOWN)
    return _count(connection, term, notes) > _MOST_WEIGHED


def _count(connection: sqlite3.Connection, term: Term, notes: int) -> int:
    """In how many notes the rarest word of a term stands, as far as it stands there alone."""
    words = indexed(term.asked.rstrip("*")).split()
    return min((_notes_with(connection, word, notes) for word in words), default=0)


def _notes_with(connection: sqlite3.Connection, word: str, notes: int) -> int:
    """In how many of so many notes a word stands; of a frequent one it may be about so many."""
    known = connection.execute("SELECT count, notes FROM temp.frequent WHERE word = ?", (word,)).fetchone()
    if known is not None and abs(known[1] - notes) <= notes * _STILL_TRUE:
        return int(known[0])
    row = connection.execute(_COUNT, (word,)).fetchone()
    count = int(row[0]) if row else 0
    if count >= _FREQUENT:
        connection.execute("INSERT OR REPLACE INTO temp.frequent VALUES (?, ?, ?)", (word, count, notes))
    return count


def _headings(body: str) -> tuple[str, str]:
    lines = [line.lstrip("# ").strip() for line in body.splitlines() if line.startswith("#") and "# " in line[:8]]
    return (lines[0], "\n".join(lines[1:])) if lines else ("", "")
