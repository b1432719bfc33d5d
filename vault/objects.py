"""Git's objects as bytes: made, and put where git looks for them, without being synced to the disk yet.

Whoever moves a branch to them sees to that: by a record in the journal, or by syncing each of them.  Nothing here asks
attributes, filters or the configuration, and nothing is read but the trees that it is given.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import struct
import threading
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vault.author import Author
from vault.durable import sync_folder

UNFINISHED: Final = "tmp_obj_trimtab_"
"""How the name of a file begins that is no object yet; `git gc` removes such files too, for their first letters."""

_ENTRY = re.compile(rb"([0-7]{5,6}) ([^\0/]+)\0(.{20})", re.DOTALL)
_ID = 20
_FOLDERS = (b"40000",)
_FILES = (b"100644", b"100755", b"100664")  # what may be run stays what may be run
_QUICK = 1  # zlib's level: loose objects are packed later, with everything that makes them small
_BLOCK = 0xFFFF  # the most bytes of a block
_STORED = struct.Struct("<BBBHH")  # two bytes of zlib's; a last block that is not pressed; its size, and once more


def named(kind: str, data: bytes) -> tuple[str, bytes]:
    """Return an object's id, and the file that holds it.

    What fits into one block of zlib's format is stored as it is, as git does with `core.compression=0`: to press it
    would cost more than the rest of a commit, and it is pressed when it goes into a pack.
    """
    whole = b"%s %d\0%s" % (kind.encode(), len(data), data)
    size = len(whole)
    if size > _BLOCK:
        file = zlib.compress(whole, _QUICK)
    else:
        file = _STORED.pack(0x78, 1, 1, size, size ^ _BLOCK) + whole + zlib.adler32(whole).to_bytes(4, "big")
    return hashlib.sha1(whole, usedforsecurity=False).hexdigest(), file


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree's bytes, and {name: (mode, where its id stands)}."""

    raw: bytes
    places: Mapping[bytes, tuple[bytes, int]]

    @staticmethod
    def of(raw: bytes) -> Tree:
        """Read a tree; ValueError where it is none."""
        places, end = dict[bytes, tuple[bytes, int]](), 0
        for entry in _ENTRY.finditer(raw):
            if entry.start() != end:
                break
            places[entry[2]], end = (entry[1], entry.start(3)), entry.end()
        if end != len(raw):
            raise ValueError("a tree is damaged")
        return Tree(raw, places)

    def folder(self, name: bytes) -> str | None:
        """Return the id of a folder in it, None where there is none."""
        mode, place = self.places.get(name, (b"", 0))
        return self.raw[place : place + _ID].hex() if is_folder(mode) else None

    def entry(self, name: bytes) -> tuple[int, str] | None:
        """Return mode and id of an entry, None where there is none."""
        found = self.places.get(name)
        return None if found is None else (int(found[0], 8), self.raw[found[1] : found[1] + _ID].hex())

    def changed(self, changes: Mapping[bytes, tuple[bool, str | None]]) -> Tree:
        """Return it with entries set, {name: (whether it is a folder, id)}, or for no id taken away."""
        raw, others = self.raw, dict[bytes, tuple[bool, str | None]]()
        for name, (folder, identity) in changes.items():
            mode, place = self.places.get(name, (b"", 0))
            if identity is not None and mode in (_FOLDERS if folder else _FILES):
                raw = raw[:place] + bytes.fromhex(identity) + raw[place + _ID :]
            else:
                others[name] = folder, identity
        return Tree(raw, self.places)._rebuilt(others) if others else Tree(raw, self.places)

    def _rebuilt(self, changes: Mapping[bytes, tuple[bool, str | None]]) -> Tree:
        entries = {name: (mode, self.raw[place : place + _ID]) for name, (mode, place) in self.places.items()}
        for name, (folder, identity) in changes.items():
            entries.pop(name, None)
            if identity is not None:
                entries[name] = (_FOLDERS if folder else _FILES)[0], bytes.fromhex(identity)
        return Tree.of(tree_of(entries))


def is_folder(mode: bytes) -> bool:
    """Whether an entry of this mode is a tree."""
    return mode.lstrip(b"0") in _FOLDERS


def tree_of(entries: Mapping[bytes, tuple[bytes, bytes]]) -> bytes:
    """Return a tree's bytes, in the order that git wants."""
    order = sorted((name + b"/" if is_folder(mode) else name, name) for name, (mode, _) in entries.items())
    return b"".join(b"%s %s\0%s" % (entries[name][0], name, entries[name][1]) for _, name in order)


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
    place, fresh = f"{identity[:2]}/{identity[2:]}", f"{UNFINISHED}{os.getpid()}_{threading.get_ident()}"
    inside = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if os.access(place, os.F_OK, dir_fd=inside):
            return
        _written(inside, fresh, file)
        try:
            os.rename(fresh, place, src_dir_fd=inside, dst_dir_fd=inside)
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError):
                os.mkdir(place[:2], dir_fd=inside)
            os.rename(fresh, place, src_dir_fd=inside, dst_dir_fd=inside)
    except OSError:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(fresh, dir_fd=inside)
        raise
    finally:
        os.close(inside)


def _written(inside: int, name: str, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        handle = os.open(name, flags, 0o444, dir_fd=inside)
    except FileExistsError:
        os.unlink(name, dir_fd=inside)
        handle = os.open(name, flags, 0o444, dir_fd=inside)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(handle, left) :]
    finally:
        os.close(handle)


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
