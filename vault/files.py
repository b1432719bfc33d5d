"""The files of the worktree, reached directory by directory so that no link leads anywhere else.

Hidden files, links, devices and nested repositories do not exist here.  It knows nothing of git: a temporary file is
written outside the worktree and renamed into it, so that a reader sees the old note or the new one and nothing between.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vault.durable import write_durably
from vault.errors import NoSuchNote, Refused, Unwritable
from vault.swap import exchange, place

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DEEPEST = 16
_FRESH_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Seen:
    """A note on the disk.  `stamp` changes whenever its content may have; `modified` is in seconds since the epoch."""

    path: str
    size: int
    modified: float
    stamp: str


@dataclass(frozen=True, slots=True)
class Files:
    """The notes under `root`; `scratch` is a directory on the same file system where unfinished files may lie."""

    root: Path
    scratch: Path

    def read(self, parts: tuple[str, ...], limit: int) -> bytes | None:
        """Return a file's content, None where there is none; Refused for a link, a device or over `limit` bytes."""
        path = "/".join(parts)
        try:
            with self._folder(parts[:-1]) as folder:
                handle = os.open(parts[-1], _FILE, dir_fd=folder)
        except NoSuchNote:
            return None
        except OSError as error:
            if error.errno in {errno.ENOENT, errno.ENAMETOOLONG}:
                return None
            raise _refusal(path, error) from None
        try:
            facts = os.fstat(handle)
            if not stat.S_ISREG(facts.st_mode):
                raise Refused(f"{path} is not a regular file: it is left alone")
            if facts.st_size > limit:
                raise Refused(f"{path} has {facts.st_size:,} bytes, over the {limit:,} that are read: it is left alone")
            return _read(handle, facts.st_size + 1)[:limit]
        finally:
            os.close(handle)

    def like(self, parts: tuple[str, ...]) -> str | None:
        """Return the file or folder that a system which ignores case takes this path for, None where there is none."""
        for depth, name in enumerate(parts):
            try:
                with self._folder(parts[:depth]) as folder, os.scandir(folder) as entries:
                    names = {entry.name for entry in entries}
            except NoSuchNote:
                return None
            if name in names:
                continue
            wanted = _folded(name)
            likely = (n for n in names if len(n) == len(name) or not (n.isascii() and name.isascii()))
            found = next((each for each in likely if _folded(each) == wanted and _is_utf8(each)), None)
            return "/".join((*parts[:depth], found)) if found else None
        return None

    def is_fresh(self, parts: tuple[str, ...]) -> bool:
        """Whether a file was changed within the last moment, so that its editor may not have done with it."""
        try:
            with self._folder(parts[:-1]) as folder:
                facts = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
        except (OSError, NoSuchNote, Refused):
            return False
        return 0 <= time.time() - facts.st_mtime < _FRESH_SECONDS

    def replace(self, parts: tuple[str, ...], data: bytes, expected: bytes | None) -> Path | None:
        """Put `data` in place of `expected`, in one step; None, and nothing done, if the file does not hold that.

        The file is on the disk when this returns.  The result is the file that had been there, for whoever wrote to it
        at that very moment and still has it open; where there was none, it is the place of a file that is not there.
        """
        fresh = self.scratch / "note.new"
        try:
            with self._folder(parts[:-1], make=True) as folder:
                mode = self._mode(parts[-1], folder)
                write_durably(fresh, data, mode)
                done = place(fresh, parts[-1], folder) if expected is None else self._swap(parts, folder, expected)
        except Refused:
            return None
        except OSError as error:
            raise Unwritable(f"{'/'.join(parts)} could not be written: {error.strerror}") from None
        return fresh if done else None

    def _swap(self, parts: tuple[str, ...], folder: int, expected: bytes) -> bool:
        """Let `note.new` change places with a file that holds `expected`; whatever else was saved there stays."""
        fresh, name = self.scratch / "note.new", parts[-1]
        if self.read(parts, len(expected) + 1) != expected:
            return False
        ours = fresh.stat().st_ino
        if not exchange(fresh, name, folder):
            os.rename(fresh, name, dst_dir_fd=folder)
            return True
        if _holds(fresh, expected):
            return True
        exchange(fresh, name, folder)
        if fresh.lstat().st_ino != ours:
            exchange(fresh, name, folder)  # saved once more in between: the newest stays
        return False

    def remove(self, parts: tuple[str, ...], expected: bytes) -> Path | None:
        """Take a file away that holds `expected`; None, and nothing done, if it does not hold that.

        The result is the file, for whoever wrote to it at that very moment and still has it open.
        """
        gone = self.scratch / "note.gone"
        try:
            if self.read(parts, len(expected) + 1) != expected:
                return None
            with self._folder(parts[:-1]) as folder:
                os.rename(parts[-1], gone, src_dir_fd=folder)
                if not _holds(gone, expected):
                    place(gone, parts[-1], folder)  # saved in between: it stays
                    return None
                os.fsync(folder)
        except (Refused, NoSuchNote, FileNotFoundError):
            return None
        except OSError as error:
            raise Unwritable(f"{'/'.join(parts)} could not be removed: {error.strerror}") from None
        return gone

    def sync(self, folder: tuple[str, ...]) -> None:
        """Have the names in a folder on the disk, if there is such a folder."""
        with contextlib.suppress(NoSuchNote, Refused), self._folder(folder) as handle:
            os.fsync(handle)

    def walk(self, prefix: tuple[str, ...] = ()) -> Iterator[Seen]:
        """Give every Markdown file below `prefix`, in the order of their names, the files of a folder first."""
        try:
            with self._folder(prefix) as folder:
                yield from self._walk(prefix, folder)
        except (NoSuchNote, Refused):
            return

    def _walk(self, parts: tuple[str, ...], folder: int) -> Iterator[Seen]:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        if parts and _is_repository(folder):
            return
        below, start = [], "".join(f"{part}/" for part in parts)
        for entry in found:
            name = entry.name
            if name.startswith(".") or not (name.isascii() or _is_utf8(name)):
                continue
            if entry.is_dir(follow_symlinks=False):
                below.append(name)
            elif name.endswith(".md") and entry.is_file(follow_symlinks=False):
                try:
                    facts = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # an editor's temporary file that was renamed meanwhile
                size = facts.st_size
                yield Seen(start + name, size, facts.st_mtime, f"{facts.st_ino} {size} {facts.st_mtime_ns}")
        for name in below if len(parts) < _DEEPEST else ():
            with contextlib.suppress(OSError), _opened(name, folder) as inner:
                yield from self._walk((*parts, name), inner)

    @contextlib.contextmanager
    def _folder(self, parts: tuple[str, ...], make: bool = False) -> Iterator[int]:
        """Hold the directory of these parts open, having followed no link and entered no nested repository."""
        folder = os.open(self.root, _FOLDER)
        try:
            for depth, name in enumerate(parts):
                try:
                    if make:
                        _make(name, folder)
                    inner = os.open(name, _FOLDER, dir_fd=folder)
                except FileNotFoundError:
                    raise NoSuchNote(f"no such folder: {'/'.join(parts[: depth + 1])}") from None
                except OSError as error:
                    raise _refusal("/".join(parts[: depth + 1]), error) from None
                os.close(folder)
                folder = inner
                if _is_repository(folder):
                    raise Refused(f"{'/'.join(parts[: depth + 1])} is a repository of its own: it is left alone")
            yield folder
        finally:
            os.close(folder)

    @staticmethod
    def _mode(name: str, folder: int) -> int | None:
        try:
            return stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        except FileNotFoundError:
            return None


def _holds(file: Path, expected: bytes) -> bool:
    try:
        handle = os.open(file, _FILE)
        try:
            return stat.S_ISREG(os.fstat(handle).st_mode) and _read(handle, len(expected) + 1) == expected
        finally:
            os.close(handle)
    except OSError:
        return False


def _read(handle: int, most: int) -> bytes:
    """Read so many bytes, or all that there are; the last one is only there to tell of more."""
    data = os.read(handle, most)
    while len(data) < most - 1 and (more := os.read(handle, most - len(data))):
        data += more
    return data


@contextlib.contextmanager
def _opened(name: str | Path, inside: int | None = None) -> Iterator[int]:
    handle = os.open(name, _FOLDER, dir_fd=inside)
    try:
        yield handle
    finally:
        os.close(handle)


def _make(name: str, folder: int) -> None:
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
        os.fsync(folder)


def _is_repository(folder: int) -> bool:
    try:
        os.stat(".git", dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _folded(name: str) -> str:
    return name.casefold() if name.isascii() else unicodedata.normalize("NFC", name).casefold()


def _is_utf8(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _refusal(path: str, error: OSError) -> Refused:
    """What to say of a path that is not as it should be; an error of the disk goes on as it is."""
    if error.errno in {errno.ELOOP, errno.ENOTDIR}:
        return Refused(f"{path} is a link or not what the path needs: it is left alone")
    if error.errno in {errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ENXIO}:
        return Refused(f"{path} cannot be read: {error.strerror}")
    raise error
