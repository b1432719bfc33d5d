"""The only file that touches git: libgit2 in process, through its lowest calls.

Content goes in and comes out as bytes.  No filter, attribute, hook or outside program runs, whatever a repository's
files or its configuration say, because nothing here checks out, adds by path or refreshes an index.  No branch moves to
what is not on the disk.  It does not lock: one writer at a time is its caller's promise.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pygit2
from pygit2.enums import FileMode, ObjectType, SortMode

from vault.author import Author
from vault.branch import Branch
from vault.errors import Corrupt, Unwritable, VaultError
from vault.git_branches import Branches
from vault.git_history import Change, Commit, changes_between, commit_of, touched_between
from vault.git_index import Listing
from vault.git_state import branch_of, repository
from vault.git_writing import Writing

__all__ = ["Change", "Commit", "Git"]

pygit2.settings.enable_fsync_gitdir(True)  # each object, and the directory that names it
pygit2.settings.cache_max_size(16 * 1024 * 1024)

_FILE = int(FileMode.BLOB)
_FILES = {_FILE, int(FileMode.BLOB_EXECUTABLE)}
_WRONG = (pygit2.GitError, KeyError, ValueError, OverflowError, OSError)
_ID = re.compile(r"[0-9a-f]{4,64}")


class Git:
    """A repository with a worktree at `root`, on a branch."""

    def __init__(self, root: Path) -> None:
        self._repo = repository(root)
        self.root, self.gitdir = root, root / ".git"
        self._branches, self._writing = Branches(self._repo, self.gitdir), Writing(self._repo, self.gitdir)
        self._listing = Listing(self._repo, self.gitdir)
        self._looked_at: tuple[str, Any] = ("", None)  # a commit's files never change

    @classmethod
    def create(cls, root: Path, branch: str) -> Git:
        """Make an empty repository, or return the one that is there."""
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Unwritable(f"{root}: cannot be created: {error.strerror}") from None
        if not (root / ".git").exists():
            with _clear(f"{root}: no repository could be made here", Unwritable):
                pygit2.init_repository(str(root), initial_head=branch)
        return cls(root)

    def close(self) -> None:
        """Let go of the open pack files; they are opened again when they are asked for."""
        self._repo.free()

    def branch(self) -> str:
        """Return the branch that HEAD is on; NotReady on a detached HEAD or in the middle of a merge or a rebase."""
        return branch_of(self._repo, self.root, self.setting("trimtab.branch") or "main")

    def setting(self, key: str) -> str | None:
        """Return a value of git's configuration."""
        with _clear(f"{self.root}: git's configuration cannot be read", Corrupt):
            config = self._repo.config
            return str(config[key]) if key in config else None

    def remember(self, key: str, value: str) -> None:
        """Write a value to the repository's own configuration."""
        with _clear(f"{self.root}: git's configuration cannot be written", Unwritable):
            pygit2.Config(str(self.gitdir / "config"))[key] = value

    def head(self, branch: str) -> str | None:
        """Return the commit at the end of a branch, None before the first one."""
        try:
            return str(self._repo.lookup_reference(f"refs/heads/{branch}").target)
        except KeyError:
            return None
        except (pygit2.GitError, ValueError) as error:
            hint = "see `git fsck` and `git reflog`"
            raise Corrupt(f"{self.root}: the branch {branch!r} cannot be read ({error}): {hint}") from None

    def resolve(self, name: str) -> str | None:
        """Return the commit that a tag or branch points to, None where there is no such name."""
        for reference in (f"refs/tags/{name}", f"refs/heads/{name}"):
            with contextlib.suppress(KeyError, pygit2.GitError):
                return str(self._repo.lookup_reference(reference).peel(ObjectType.COMMIT).id)
        return None

    def descends(self, commit: str, ancestor: str) -> bool:
        """Whether `commit` is `ancestor` or came after it; False where either is not there."""
        with contextlib.suppress(KeyError, pygit2.GitError):
            return commit == ancestor or bool(self._repo.descendant_of(commit, ancestor))
        return False

    def identity(self, commit: str | None, path: str) -> str | None:
        """Return the id of what a file held in a commit, None where there was no such file."""
        entry = self._entry(commit, path)
        return None if entry is None else entry[1]

    def has(self, identity: str) -> bool:
        """Whether there is an object of this id."""
        with contextlib.suppress(ValueError):
            return identity in self._repo
        return False

    def blob(self, identity: str) -> bytes:
        """Return a stored content."""
        with _clear(f"{self.root}: object {identity} cannot be read: see `git fsck`", Corrupt):
            return self._writing.content(identity)

    def size(self, identity: str) -> int:
        """Return how many bytes a stored content has, without reading it."""
        with _clear(f"{self.root}: object {identity} cannot be read: see `git fsck`", Corrupt):
            return self._writing.size(identity)

    def store(self, content: bytes) -> str:
        """Store a content and return its id; it is on the disk once a branch is moved to a commit of it."""
        with _clear(f"{self.root}: nothing can be stored", Unwritable):
            return self._writing.store("blob", content)

    @staticmethod
    def identify(content: bytes) -> str:
        """Return the id that a content would be stored under."""
        return str(pygit2.hash(content))

    def commit(self, parent: str | None, changes: Mapping[str, str | None], message: str, author: Author) -> str:
        """Write a commit that no branch has yet: `changes` gives each path its stored content, None to take it away.

        Only the trees on the changed paths are written, so the cost does not grow with the vault.
        """
        with _clear(f"{self.root}: nothing can be committed", Unwritable):
            return self._writing.commit(parent, changes, message, author)

    def handed_over(self, limit: int) -> dict[str, bytes]:
        """Return {id: git's file} of the objects that are not on the disk for sure; the caller keeps them from now on.

        Those that are together larger than `limit` bytes are synced instead.
        """
        with _clear(f"{self.root}: objects could not be synced", Unwritable):
            return self._writing.handed_over(limit)

    def sync(self, identities: Iterable[str]) -> None:
        """Have objects on the disk before returning."""
        with _clear(f"{self.root}: objects could not be synced", Unwritable):
            self._writing.sync(identities)

    def restore(self, files: Mapping[str, bytes]) -> list[str]:
        """Put kept objects back where they are missing or damaged, and return their ids."""
        with _clear(f"{self.root}: objects could not be restored", Unwritable):
            return self._writing.restore(files)

    def pack(self, identities: Iterable[str]) -> None:
        """Make one file of objects that lie in files of their own; on the disk when this returns."""
        with _clear(f"{self.root}: objects could not be packed", Unwritable):
            self._writing.pack(identities)

    def advance(self, branch: str, old: str | None, new: str, author: Author, *, kept: bool = False) -> bool:
        """Move a branch from `old` to `new`; False, and nothing done, when it is elsewhere by now.  May raise Busy.

        With `kept` somebody keeps `new` and what it needs, and the move itself is not waited for either.
        """
        with _clear(f"{self.root}: the branch {branch!r} could not be moved", Unwritable):
            if not kept:
                self._writing.sync()
            here = self._repo.lookup_reference("HEAD").target == f"refs/heads/{branch}"
            where = Branch(self.gitdir, branch, checked_out=here)
            return where.move(lambda: self.head(branch), old, new, author, sync=not kept)

    def branches_below(self, folder: str) -> dict[str, str]:
        """Return {name below the folder: commit} of the branches in a folder of names."""
        with _clear(f"{self.root}: the branches cannot be read: see `git fsck`", Corrupt):
            return self._branches.below(folder)

    def fork(self, one: str, other: str | None) -> str | None:
        """Return the commit at which two histories parted, None where they have none in common."""
        with _clear(f"{self.root}: the history cannot be read: see `git fsck`", Corrupt):
            return self._branches.fork(one, other)

    def drop(self, branch: str, expected: str) -> bool:
        """Take a branch away if it is still at `expected`; False, and nothing done, where it is not."""
        with _clear(f"{self.root}: the branch {branch!r} could not be removed", Unwritable):
            return self._branches.drop(branch, expected)

    def mark(self, name: str, commit: str) -> None:
        """Point a plain tag at a commit, wherever it pointed before."""
        with _clear(f"{self.root}: the tag {name!r} could not be set", Unwritable):
            self._repo.references.create(f"refs/tags/{name}", commit, force=True)

    def merged(self, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
        """Return both changes of `base` together, None where they clash."""
        with _clear(f"{self.root}: nothing can be merged", VaultError):
            entries = [
                pygit2.IndexEntry("note", pygit2.Oid(hex=self.store(each)), _FILE) for each in (base, ours, theirs)
            ]
            result = self._repo.merge_file_from_index(*entries)
            return result.contents.encode() if result.automergeable else None

    def list_in_index(self, commit: str, paths: Mapping[str, str | None], fresh: Path) -> None:
        """Write to `fresh` an index that lists `paths` as in `commit` and all else as a person has it staged.

        A path without an id is listed no more.  The caller holds git's lock of the index.
        """
        with _clear(f"{self.root}: the index cannot be brought up to date", Corrupt):
            found = {path: self._entry(commit, path) for path in paths}
            right = {path: entry for path, entry in found.items() if (entry and entry[1]) == paths[path]}
            self._listing.write(commit, right, fresh)

    def index_is_damaged(self) -> bool:
        """Whether there is an index that no git would believe."""
        return self._listing.is_damaged()

    def history(self, newest: str | None, stop: str | None = None) -> Iterator[Commit]:
        """Give the commits from `newest` back to, and without, `stop`, the newest first."""
        if newest is None:
            return
        with _clear(f"{self.root}: the history cannot be read: see `git fsck`", Corrupt):
            walk = self._repo.walk(newest, SortMode.TOPOLOGICAL | SortMode.TIME)
            if stop is not None:
                walk.hide(stop)
            for each in walk:
                yield commit_of(each)

    def find(self, name: str) -> Commit | None:
        """Return the commit of this id, or of the only one that begins so; None where there is no such commit."""
        if not _ID.fullmatch(name):
            return None
        with contextlib.suppress(KeyError, ValueError, pygit2.GitError):
            found = self._repo.revparse_single(name)
            return commit_of(found) if isinstance(found, pygit2.Commit) else None
        return None

    def changes(self, commit: Commit) -> Iterator[Change]:
        """Give what a commit changed against its first parent, always as text."""
        with _clear(f"{self.root}: commit {commit.id} cannot be read: see `git fsck`", Corrupt):
            yield from changes_between(self._repo, commit.parent, commit.id)

    def differences(self, old: str | None, new: str) -> list[Change]:
        """Return what differs from one commit (None: an empty one) to another, always as text."""
        with _clear(f"{self.root}: commit {new} cannot be read: see `git fsck`", Corrupt):
            return list(changes_between(self._repo, old, new))

    def touched(self, old: str, new: str) -> list[str] | None:
        """Return the paths that differ from one commit to another, None where either is not there."""
        with contextlib.suppress(KeyError, ValueError, AttributeError, pygit2.GitError):
            return touched_between(self._repo, old, new)
        return None

    def _entry(self, commit: str | None, path: str) -> tuple[int, str] | None:
        """Return mode and id of a file in a commit."""
        if commit is None:
            return None
        try:
            found = self._writing.entry(commit, path)
        except KeyError:
            found = self._entry_read(commit, path)
        return found if found is not None and found[0] in _FILES else None

    def _entry_read(self, commit: str, path: str) -> tuple[int, str] | None:
        known, tree = self._looked_at
        if known != commit:
            with _clear(f"{self.root}: commit {commit} cannot be read: see `git fsck`", Corrupt):
                tree = self._repo[commit].tree
            self._looked_at = commit, tree
        try:
            entry = tree[path]
        except KeyError:
            return None
        return int(entry.filemode), str(entry.id)


class _clear:  # noqa: N801 - it is used as a function
    """Turn what libgit2 raises into one clear line."""

    __slots__ = ("_kind", "_what")

    def __init__(self, what: str, kind: type[VaultError]) -> None:
        self._what, self._kind = what, kind

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: object) -> None:
        if isinstance(error, _WRONG):
            reason = " ".join(str(error).split())
            raise self._kind(f"{self._what} ({reason})" if reason else self._what) from None
