"""Links and backlinks as the index has them: what a note names, what names it, and which names mean nothing."""

from __future__ import annotations

import sqlite3
from collections import defaultdict

from vault.links import Link, key_of, meant

_PATHS = "SELECT path FROM note WHERE key = ?"
_OUT = "SELECT link.name FROM link JOIN note ON note.id = link.note WHERE note.path = ? ORDER BY link.rowid"
_BACK = "SELECT note.path, link.name FROM link JOIN note ON note.id = link.note WHERE link.key = ? ORDER BY note.path"
_ALL = "SELECT note.path, link.name, link.key FROM link JOIN note ON note.id = link.note ORDER BY note.path, link.rowid"


def resolved(connection: sqlite3.Connection, name: str) -> str | None:
    """Return the note that a name means, None where there is none."""
    return meant(name, [path for (path,) in connection.execute(_PATHS, (key_of(name),))])


def out_of(connection: sqlite3.Connection, path: str) -> list[Link]:
    """Return the links of a note, in order."""
    return [Link(name, resolved(connection, name)) for (name,) in connection.execute(_OUT, (path,)).fetchall()]


def back_to(connection: sqlite3.Connection, path: str) -> list[str]:
    """Return the other notes that link to a note."""
    rows = connection.execute(_BACK, (key_of(path),)).fetchall()
    return list(dict.fromkeys(by for by, name in rows if by != path and resolved(connection, name) == path))


def everywhere(connection: sqlite3.Connection) -> dict[str, list[Link]]:
    """Return {path: its links} of every note that has any."""
    by_key = defaultdict[str, list[str]](list)
    for path, key in connection.execute("SELECT path, key FROM note"):
        by_key[key].append(path)
    found = defaultdict[str, list[Link]](list)
    for path, name, key in connection.execute(_ALL):
        found[path].append(Link(name, meant(name, by_key[key])))
    return dict(found)


def pairs(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """Return every (note, note that it links to)."""
    links = everywhere(connection)
    return {(path, link.path) for path, names in links.items() for link in names if link.path is not None}
