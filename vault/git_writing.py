"""Writing to a repository: blobs, the trees on changed paths, commits, and the packs that make one file of many.

What was written is known to git at once, and is on the disk after `sync`, or when it has been handed over to somebody
who keeps it: nothing else may let a branch point to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pygit2

from vault import objects
from vault.author import Author

_IN_A_PACK = 256
_REMEMBERED, _LARGEST, _LARGEST_TREE = 16, 64 * 1024, 256 * 1024  # how many; how long in bytes


class Writing:
    """What is written to one repository.  It raises what libgit2 and the disk raise."""

    def __init__(self, repo: Any, gitdir: Path) -> None:
        self._repo, self._folder = repo, gitdir / "objects"
        self._unsynced: dict[str, bytes] = {}
        self._trees = dict[str, objects.Tree]()  # what was written last, which the next commit begins from
        self._roots, self._contents = dict[str, str](), dict[str, bytes]()

    def store(self, kind: str, data: bytes) -> str:
        """Store an object and return its id."""
        identity, file = objects.named(kind, data)
        objects.put(self._folder, identity, file)
        self._unsynced[identity] = file
        if kind == "blob" and len(data) <= _LARGEST:
            _remember(self._contents, identity, data)
        return identity

    def content(self, identity: str) -> bytes:
        """Return a stored content; what was stored last is not read again."""
        known = self._contents.get(identity)
        return bytes(self._repo[identity].data) if known is None else known

    def size(self, identity: str) -> int:
        """Return how long a stored content is, without reading it."""
        known = self._contents.get(identity)
        return int(self._repo.odb.read_header(identity)[1]) if known is None else len(known)

    def commit(self, parent: str | None, changes: Mapping[str, str | None], message: str, author: Author) -> str:
        """Store a commit and the trees on the changed paths, so that the cost does not grow with the vault."""
        nested: dict[bytes, Any] = {}
        for path, identity in changes.items():
            *folders, name = path.encode().split(b"/")
            place = nested
            for folder in folders:
                place = place.setdefault(folder, {})
            place[name] = identity
        tree = None
        if parent is not None:
            tree = self._roots.get(parent) or str(self._repo[parent].tree_id)
        root = self._graft(tree, nested) or self.store("tree", b"")
        made = self.store("commit", objects.commit_of(root, parent, author, message))
        _remember(self._roots, made, root)
        return made

    def entry(self, commit: str, path: str) -> tuple[int, str] | None:
        """Return mode and id of what is at a path in a commit; KeyError for one that was not written lately."""
        *folders, name = path.encode().split(b"/")
        tree = self._trees[self._roots[commit]]
        for folder in folders:
            below = tree.folder(folder)
            if below is None:
                return None
            tree = self._trees[below]
        return tree.entry(name)

    def handed_over(self, limit: int) -> dict[str, bytes]:
        """Return {id: git's file} of all that is not on the disk for sure; the caller keeps it from now on.

        What is together larger than `limit` bytes is synced instead.
        """
        if sum(map(len, self._unsynced.values())) > limit:
            self.sync(list(self._unsynced))
        taken, self._unsynced = self._unsynced, {}
        return taken

    def sync(self, identities: Iterable[str] | None = None) -> None:
        """Have objects on the disk before returning; by default all that may not be there yet."""
        wanted = list(self._unsynced if identities is None else identities)
        there = [each for each in wanted if (self._folder / each[:2] / each[2:]).exists()]
        if there:
            objects.sync(self._folder, there)
        for identity in wanted:
            self._unsynced.pop(identity, None)

    def restore(self, files: Mapping[str, bytes]) -> list[str]:
        """Put objects back that are missing or damaged, and return their ids."""
        broken = list[str]()
        for identity, file in files.items():
            try:
                self._repo.odb.read(identity)
            except (KeyError, ValueError, pygit2.GitError):
                (self._folder / identity[:2] / identity[2:]).unlink(missing_ok=True)
                objects.put(self._folder, identity, file)
                broken.append(identity)
        return broken

    def pack(self, identities: Iterable[str]) -> None:
        """Make packs of those that lie in files of their own, on the disk when this returns, and remove the files.

        Each pack is done within a moment, so that a writer that is killed again and again gets on with it.  A kill in
        between leaves objects twice, which git allows.
        """
        loose = [each for each in identities if (self._folder / each[:2] / each[2:]).exists()]
        for start in range(0, len(loose), _IN_A_PACK):
            self._pack(loose[start : start + _IN_A_PACK])

    def _pack(self, loose: Iterable[str]) -> None:
        builder = pygit2.PackBuilder(self._repo)
        builder.set_threads(1)
        for identity in loose:
            builder.add(pygit2.Oid(hex=identity))
        builder.write(str(self._folder / "pack"))
        for identity in loose:
            (self._folder / identity[:2] / identity[2:]).unlink(missing_ok=True)

    def _graft(self, identity: str | None, changes: Mapping[bytes, Any]) -> str | None:
        """Store a tree with the changes in it and return its id, None for one without entries."""
        tree = self._trees.pop(identity or "", None)
        if tree is None:
            tree = objects.Tree.of(b"" if identity is None else self._repo[identity].read_raw())
        entries = dict[bytes, tuple[bool, str | None]]()
        for name, change in changes.items():
            folder = isinstance(change, Mapping)
            entries[name] = folder, self._graft(tree.folder(name), change) if folder else change
        tree = tree.changed(entries)
        if not tree.raw:
            return None
        made = self.store("tree", tree.raw)
        if len(tree.raw) <= _LARGEST_TREE:
            _remember(self._trees, made, tree)
        return made


def _remember(known: dict[str, Any], identity: str, what: Any) -> None:
    """Remember one thing more, and forget the oldest; several threads may do so."""
    known.pop(identity, None)
    known[identity] = what
    if len(known) > _REMEMBERED:
        known.pop(list(known)[0], None)  # noqa: RUF015 - an iterator would not stand another thread
