"""One writer at a time, and locks that a crash left behind.

Our own processes take turns by a lock that the kernel gives back when a process dies.  Git's lock files do not go away
with their owner: one is removed when no git process works on this vault, which is looked up in /proc.  A program with
git built in that holds a lock at this very moment is not seen.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from vault.errors import Busy, Unwritable
from vault.objects import UNFINISHED
from vault.swap import become

_PATTERNS = ("index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "refs/**/*.lock", "logs/**/*.lock")


@contextlib.contextmanager
def turn(file: Path, attempts: int = 200, pause: float = 0.05) -> Iterator[None]:
    """Hold the writer's lock; Busy when another process keeps it for `attempts` pauses (seconds each)."""
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        for left in reversed(range(attempts)):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not left:
                    raise Busy(f"{file.parents[2]}: another process is writing to the vault: try again") from None
                time.sleep(pause)
        yield
    finally:
        os.close(handle)


class Lock:
    """One of git's own lock files while we hold it."""

    def __init__(self, path: Path, handle: int) -> None:
        self._path, self._handle, self._there = path, handle, True

    def become(self, target: Path, data: bytes, *, sync: bool = True) -> None:
        """Let the lock file be the new `target` with this content, which is how git writes; it is then let go of."""
        if os.write(self._handle, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if sync:
            os.fsync(self._handle)
            self._path.replace(target)
        else:
            become(self._path, target)
        self._there = False

    def release(self) -> None:
        """Let go of the lock."""
        os.close(self._handle)
        if self._there:
            self._path.unlink(missing_ok=True)


@contextlib.contextmanager
def held(path: Path, attempts: int = 20, pause: float = 0.05) -> Iterator[Lock]:
    """Hold one of git's own lock files, as git does; Busy when another keeps it for `attempts` pauses in seconds."""
    for left in reversed(range(attempts)):
        try:
            lock = Lock(path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
            break
        except FileExistsError:
            if not left:
                raise Busy(f"{path} is held by another git process") from None
            time.sleep(pause)
        except OSError as error:
            raise Unwritable(f"{path} cannot be made: {error.strerror}") from None
    try:
        yield lock
    finally:
        lock.release()


def remove_stale(gitdir: Path) -> list[str]:
    """Remove the lock files that nobody can own any more and return their names; none while git works here."""
    found = {lock: _facts(lock) for pattern in _PATTERNS for lock in gitdir.glob(pattern)}
    if not found or _git_works_on(gitdir.parent):
        return []
    stale = [lock for lock, facts in found.items() if facts is not None and _facts(lock) == facts]
    for lock in stale:
        lock.unlink(missing_ok=True)
    return [str(lock.relative_to(gitdir)) for lock in stale]


def _facts(lock: Path) -> tuple[int, int] | None:
    """What tells a lock from another one that was made under the same name since."""
    try:
        facts = lock.lstat()
    except FileNotFoundError:
        return None
    return facts.st_ino, facts.st_ctime_ns


def remove_unfinished(gitdir: Path) -> None:
    """Remove the objects that a killed writer had not finished; no reader ever sees them."""
    for pattern in (f"{UNFINISHED}*", "tmp_object_git2_*", "pack/pack_git2_*"):
        for leftover in gitdir.glob(f"objects/{pattern}"):
            leftover.unlink(missing_ok=True)


def _git_works_on(root: Path) -> bool:
    place = str(root.resolve())
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if not (process / "comm").read_text().startswith("git"):
                continue
            words = (process / "cmdline").read_bytes().decode("utf-8", "replace")
            here = str((process / "cwd").readlink())
        except OSError:
            continue
        if f"{here}/".startswith(f"{place}/") or place in words:
            return True
    return False
