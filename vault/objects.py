"""Git's objects as bytes: made, and put where git looks for them, without being synced to the disk yet.

Whoever moves a branch to them sees to that: by a record in the journal, or by syncing each of them.  Nothing here asks
attributes, filters or the configuration, and nothing is read but the trees that it is given.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from vault.author import Author
from vault.files import new_file, sync_folder

UNFINISHED: Final = "tmp_obj_trimtab_"
"""How the name of a file begins that is no object yet; `git gc` removes such files too, for their first letters."""

_ENTRY = re.compile(rb"([0-7]{5,6}) ([^\0/]+)\0(.{20})", re.DOTALL)
_FOLDER, _FILE = b"40000", b"100644"
_FILES = {b"100644", b"100755", b"100664"}
_QUICK = 1  # zlib's level: loose objects are packed later, with everything that makes them small


def named(kind: str, data: bytes) -> tuple[str, bytes]:
    """Return an object's id, and the file that holds it."""
    whole = b"%s %d\0%s" % (kind.encode(), len(data), data)
    return hashlib.sha1(whole, usedforsecurity=False).hexdigest(), zlib.compress(whole, _QUICK)


def entries_of(tree: bytes) -> dict[bytes, tuple[bytes, bytes]]:
    """Return {name: (mode, id)} of a tree; ValueError where it is none."""
    found, end = dict[bytes, tuple[bytes, bytes]](), 0
    for entry in _ENTRY.finditer(tree):
        if entry.start() != end:
            break
        mode, name, identity = entry.groups()
        found[name], end = (mode, identity), entry.end()
    if end != len(tree):
        raise ValueError("a tree is damaged")
    return found


def is_folder(mode: bytes) -> bool:
    """Whether an entry of this mode is a tree."""
    return mode.lstrip(b"0") == _FOLDER


def tree_of(entries: Mapping[bytes, tuple[bytes, bytes]]) -> bytes:
    """Return a tree's bytes, in the order that git wants."""
    order = sorted((name + b"/" if is_folder(mode) else name, name) for name, (mode, _) in entries.items())
    return b"".join(b"%s %s\0%s" % (entries[name][0], name, entries[name][1]) for _, name in order)


def file_mode(old: bytes | None) -> bytes:
    """Return the mode of a file's entry: what it was, for a file that may be run."""
    return old if old in _FILES else _FILE


def commit_of(tree: str, parent: str | None, author: Author, message: str) -> bytes:
    """Return a commit's bytes; ValueError for an author without a name or a year that git does not know."""
    name, email = ("".join(c for c in text if c not in "\0\n<>").strip() for text in (author.name, author.email))
    seconds, zone = int(author.when.timestamp()), f"{author.when:%z}"[:5] or "+0000"
    if not name or seconds < 0:
        raise ValueError("an author needs a name, and a time after 1970")
    who = f"{name} <{email}> {seconds} {zone}"
    lines = [f"tree {tree}", *([f"parent {parent}"] if parent else []), f"author {who}", f"committer {who}"]
    return "\n".join([*lines, "", message.replace("\0", "")]).encode("utf-8", "replace")


def put(folder: Path, identity: str, file: bytes) -> None:
    """Have an object where git finds it; a reader sees all of it or nothing."""
    place = folder / identity[:2] / identity[2:]
    if place.exists():
        return
    fresh = folder / f"{UNFINISHED}{os.getpid()}_{threading.get_ident()}"
    handle = new_file(fresh, 0o444)
    try:
        with os.fdopen(handle, "wb", buffering=0) as unbuffered:
            left = memoryview(file)
            while left:
                left = left[unbuffered.write(left) :]
        try:
            fresh.rename(place)
        except FileNotFoundError:
            place.parent.mkdir(exist_ok=True)
            fresh.rename(place)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def sync(folder: Path, identities: Collection[str]) -> None:
    """Have objects on the disk, each with its name."""
    for identity in identities:
        handle = os.open(folder / identity[:2] / identity[2:], os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    for start in {identity[:2] for identity in identities}:
        sync_folder(folder / start)
    sync_folder(folder)
