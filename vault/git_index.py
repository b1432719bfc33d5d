"""Git's index brought up to a commit for a few paths, so that a person's `git status` tells the truth."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pygit2
from pygit2.enums import FileMode

from vault.checksum import Checksum
from vault.index import Entry, Unfamiliar, is_whole, relisted
from vault.index_again import Again, write_all


class Listing:
    """The index of one repository.  It raises what libgit2 and the disk raise; its caller holds git's lock of it."""

    def __init__(self, repo: Any, gitdir: Path) -> None:
        self._repo, self._index = repo, gitdir / "index"
        self._again = Again(self._index)
        self._checked = False

    def write(self, commit: str, paths: Mapping[str, tuple[int, str] | None], fresh: Path) -> None:
        """Write to `fresh` an index that lists these files of a commit, {path: (mode, id)}, and all else as it was.

        What is None is listed no more.  It keeps the time stamp of the present index, which git compares with the
        files' to know which entries it has to look at again.
        """
        if not self._index.exists() or not self._index.stat().st_size:
            self._by_list(commit, {}, fresh)
            return
        facts = self._index.stat()
        changes = {path.encode(): Entry(at[0], bytes.fromhex(at[1])) if at else None for path, at in paths.items()}
        try:
            if not self._again.write(changes, fresh):
                checksum = Checksum()
                pieces = relisted(self._read(), changes, lambda path: _before(self._repo[commit].tree, path), checksum)
                fresh.unlink(missing_ok=True)  # not written over: another git may just be reading it
                with fresh.open("xb", buffering=0) as file:
                    write_all(file.fileno(), pieces)
                self._again.learn(pieces, checksum)
        except Unfamiliar:
            if self.is_damaged():
                raise ValueError("it is damaged") from None
            self._by_list(commit, paths, fresh)
        os.utime(fresh, ns=(facts.st_atime_ns, facts.st_mtime_ns))

    def _read(self) -> bytes:
        """Return the index; the first time it is made sure that a power cut did not leave a mixture of two."""
        index = self._index.read_bytes()
        if not self._checked and not is_whole(index):
            raise ValueError("it is damaged")
        self._checked = True
        return index

    def is_damaged(self) -> bool:
        """Whether there is an index that no git would believe."""
        try:
            return not is_whole(self._index.read_bytes())
        except FileNotFoundError:
            return False

    def _by_list(self, commit: str, paths: Mapping[str, tuple[int, str] | None], fresh: Path) -> None:
        """The same by libgit2, which reads and writes all of it."""
        for leftover in (fresh, fresh.with_name(f"{fresh.name}.lock")):
            leftover.unlink(missing_ok=True)
        if self._index.exists() and self._index.stat().st_size:
            os.link(self._index, fresh)  # libgit2 renames a new file over the link, never writes through it
            index = pygit2.Index(str(fresh))
        else:
            index = pygit2.Index(str(fresh))
            index.read_tree(self._repo[commit].tree)
        for path, at in paths.items():
            if at is not None:
                index.add(pygit2.IndexEntry(path, pygit2.Oid(hex=at[1]), FileMode(at[0])))
            elif path in index:
                index.remove(path)
        index.write()


def _before(tree: Any, path: bytes) -> bytes | None:
    """Return the last file before a path in the order of the index; None where that takes more than a look."""
    *folders, name = path.split(b"/")
    start, found, here = b"", None, tree
    for part in [*folders, name]:
        earlier = [each for each in here if each.raw_name + (b"/" if each.type_str == "tree" else b"") < part]
        if earlier and earlier[-1].type_str == "blob":
            found = start + earlier[-1].raw_name
        elif earlier:
            found = _last(earlier[-1], start)
        try:
            here = here / part.decode()
        except (KeyError, TypeError, ValueError):
            break
        if here.type_str != "tree":
            break
        start += part + b"/"
    return found


def _last(tree: Any, start: bytes) -> bytes | None:
    """Return the last file of all below a tree."""
    while tree.type_str == "tree":
        start += tree.raw_name + b"/"
        entries = list(tree)
        if not entries:
            return None
        tree = entries[-1]
    return start + tree.raw_name if tree.type_str == "blob" else None
