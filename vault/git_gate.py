"""The repository between a vault and its remote: what comes from there waits here until it was looked at.

It is bare, made anew for each exchange, and has a configuration of ours alone, so that nothing in the vault's own
configuration, which a person may have filled with aliases, helpers and rewritten addresses, has a say in an exchange.
It reads the vault's objects and writes none of them; `take_in` moves a pack over that was found to be in order.
"""

from __future__ import annotations

import contextlib
import shutil
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pygit2
from pygit2.enums import DiffOption, FileMode, SortMode

from vault.durable import sync_folder
from vault.errors import Corrupt, Refused, Unwritable, VaultError
from vault.git_history import Commit, commit_of

CAME: Final = "refs/heads/came"
"""The branch of the gate that holds what the remote has."""

LARGEST: Final = 16 * 1024 * 1024
"""The largest file, in bytes, that is taken from a remote: more is never read from the disk again."""
_MOST_PATHS: Final = 200_000
_LOOKED_AT_ONE_BY_ONE: Final = 50
_LARGE: Final = f"the remote may refuse it, and no other vault takes more than {LARGEST:,}"
_CONFIG = """[core]
	repositoryformatversion = 0
	bare = true
	hooksPath = /dev/null
	fsync = all
	protectHFS = true
	protectNTFS = true
	alternateRefsCommand = :
	bigFileThreshold = 16m
[fetch]
	fsckObjects = true
	unpackLimit = 1
	recurseSubmodules = false
[transfer]
	fsckObjects = true
	credentialsInUrl = die
[gc]
	auto = 0
[maintenance]
	auto = false
[http]
	followRedirects = false
[credential]
	helper =
[push]
	recurseSubmodules = no
	gpgSign = false
	followTags = false
"""
_FILES = {int(FileMode.BLOB), int(FileMode.BLOB_EXECUTABLE)}
_NOTHING = "0" * 40

Sides = tuple[str | None, str | None]
"""The ids of a file's content before and after, None where there is no file."""


class Gate:
    """The gate of one vault; `gitdir` is the vault's .git."""

    def __init__(self, gitdir: Path) -> None:
        self._gitdir = gitdir
        self.folder = gitdir / "trimtab" / "gate"

    def build(self, known: Mapping[str, str | None]) -> None:
        """Make it anew.  `known` are commits of the vault that the remote need not send, by any name."""
        try:
            shutil.rmtree(self.folder, ignore_errors=True)
            for each in ("objects/info", "objects/pack", "refs/heads"):
                (self.folder / each).mkdir(parents=True)
            (self.folder / "objects/info/alternates").write_text("../../../objects\n")
            (self.folder / "HEAD").write_text("ref: refs/heads/none\n")
            (self.folder / "config").write_text(_CONFIG)
            for name, commit in known.items():
                if commit is not None:
                    (self.folder / "refs/heads" / name).write_text(f"{commit}\n")
        except OSError as error:
            raise Unwritable(f"{self.folder}: cannot be made: {error.strerror}") from None

    def remove(self) -> None:
        """Throw away what was not taken in."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def tip(self) -> str | None:
        """Return the newest commit of the remote's branch, None where it has no such branch."""
        with self._repo() as repo, contextlib.suppress(KeyError):
            return str(repo.lookup_reference(CAME).target)
        return None

    def check(self, old: str | None, tip: str) -> None:
        """Refuse what no vault can hold: links, nested repositories, disguised git files, names that are not UTF-8."""
        for count, (path, mode, identity, size) in enumerate(self._arrivals(old, tip)):
            if count == _MOST_PATHS:
                raise Refused(f"the remote changes more than {_MOST_PATHS:,} files at once")
            if identity is None:
                continue
            shown = repr(path[:120])
            if mode not in _FILES:
                raise Refused(f"the remote has {shown}, a link or a nested repository")
            if any(_is_git(part) for part in path.split("/")):
                raise Refused(f"the remote has {shown}, which is git's own name in disguise")
            if size > LARGEST:
                raise Refused(f"the remote has {shown} with {size:,} bytes; {LARGEST:,} are taken")

    def large(self, old: str | None, new: Sequence[Commit]) -> list[str]:
        """Return a line for each file of our own commits after `old` that no vault takes from a remote.

        Of more than a few commits only what the last one still has is looked at.
        """
        steps = [(commit.parent, commit.id) for commit in new]
        if len(new) > _LOOKED_AT_ONE_BY_ONE:
            steps = [(old, new[-1].id)]
        found = dict[str, int]()
        with self._repo() as repo:
            for before, after in steps:
                for delta in _compared(repo, before, after).deltas:
                    path = (delta.new_file.raw_path or b"").decode("utf-8", "backslashreplace")
                    if (size := _size(repo, delta.new_file)) > LARGEST:
                        found[path] = size
        return [f"{path[:120]!r} was committed with {size:,} bytes: {_LARGE}" for path, size in found.items()]

    def take_in(self) -> None:
        """Move what came into the vault's objects, on the disk when this returns."""
        target = self._gitdir / "objects/pack"
        try:
            target.mkdir(parents=True, exist_ok=True)
            packs = sorted((self.folder / "objects/pack").glob("pack-*"), key=lambda each: each.suffix == ".idx")
            for each in packs:  # the index last: before it, nobody looks at a pack
                each.replace(target / each.name)
            sync_folder(target)
        except OSError as error:
            raise Unwritable(f"{target}: cannot be written: {error.strerror}") from None

    def fork(self, one: str | None, other: str | None) -> str | None:
        """Return where two histories parted, None where they have nothing in common."""
        if one is None or other is None:
            return None
        with self._repo() as repo:
            base = repo.merge_base(one, other)
            return None if base is None else str(base)

    def descends(self, commit: str | None, ancestor: str | None) -> bool:
        """Whether `commit` is `ancestor` or came after it; everything comes after nothing."""
        if ancestor is None or commit == ancestor:
            return True
        with self._repo() as repo, contextlib.suppress(KeyError, pygit2.GitError):
            return commit is not None and bool(repo.descendant_of(commit, ancestor))
        return False

    def commits(self, newest: str | None, *without: str | None) -> list[Commit]:
        """Return the commits of `newest` that none of the others has, the oldest first."""
        if newest is None:
            return []
        with self._repo() as repo:
            walk = repo.walk(newest, SortMode.TOPOLOGICAL | SortMode.REVERSE)
            for each in without:
                if each is not None:
                    walk.hide(each)
            return [commit_of(each) for each in walk]

    def touched(self, old: str | None, new: str) -> dict[str, Sides]:
        """Return what each file that differs between two commits (None: an empty one) holds in them."""
        with self._repo() as repo:
            found = _compared(repo, old, new)
            return {_path(delta): (_id(delta.old_file), _id(delta.new_file)) for delta in found.deltas}

    def follow(self, name: str, commit: str) -> None:
        """Let a reference of the vault that no branch is point at a commit, so that git keeps it and people see it."""
        with self._repo(self._gitdir) as repo:
            repo.references.create(name, commit, force=True)

    def _arrivals(self, old: str | None, tip: str) -> Iterator[tuple[str, int, str | None, int]]:
        with self._repo() as repo:
            for delta in _compared(repo, old, tip).deltas:
                identity, mode = _id(delta.new_file), int(delta.new_file.mode)
                yield _path(delta), mode, identity, _size(repo, delta.new_file)

    @contextlib.contextmanager
    def _repo(self, folder: Path | None = None) -> Iterator[Any]:
        """Open a repository for a moment, and say in one line what is wrong with it."""
        where = folder or self.folder
        try:
            repo = pygit2.Repository(str(where))
        except pygit2.GitError as error:
            raise Corrupt(f"{where}: cannot be opened ({error})") from None
        try:
            yield repo
        except VaultError:
            raise
        except (pygit2.GitError, KeyError, ValueError, OSError) as error:
            raise Corrupt(f"{where}: cannot be read ({' '.join(str(error).split())})") from None
        finally:
            repo.free()


def _compared(repo: Any, old: str | None, new: str) -> Any:
    tree = repo[new].tree
    if old is None:
        return tree.diff_to_tree(flags=DiffOption.INCLUDE_TYPECHANGE, swap=True)
    return repo.diff(repo[old].tree, tree, flags=DiffOption.INCLUDE_TYPECHANGE)


def _path(delta: Any) -> str:
    raw: bytes = (delta.new_file.raw_path or delta.old_file.raw_path) or b""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(f"there is a file whose name is not UTF-8: {raw[:120]!r}") from None


def _id(side: Any) -> str | None:
    identity = str(side.id)
    return None if identity == _NOTHING else identity


def _size(repo: Any, side: Any) -> int:
    """How many bytes a file has; nothing for what is none."""
    identity = _id(side)
    return int(repo.odb.read_header(identity)[1]) if identity is not None and int(side.mode) in _FILES else 0


def _is_git(part: str) -> bool:
    """Whether some file system takes a name for .git, or it leads out of its folder."""
    plain = "".join(c for c in unicodedata.normalize("NFKC", part) if unicodedata.category(c) != "Cf").casefold()
    return part in {"", ".", ".."} or "\\" in part or plain.rstrip(" .") == ".git" or plain.startswith("git~")
