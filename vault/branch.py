"""Moving a branch the way git does: its lock, compare, a log line, a rename.

Only the branch itself is synced to the disk; its log is a convenience for the person, as it is for git.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vault.author import Author
from vault.durable import sync_folder
from vault.locks import held

LOGGED: Final = "commit: by trimtab"
"""What a branch's log says of each move of ours."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of a repository; `checked_out` says that HEAD is on it, so that HEAD's log has a line too."""

    gitdir: Path
    name: str
    checked_out: bool = True

    def move(
        self, present: Callable[[], str | None], expected: str | None, new: str, author: Author, *, sync: bool = True
    ) -> bool:
        """Point the branch at `new` if it is still at `expected`; False, and nothing done, where it is not.

        With `sync` it is on the disk when this returns.  Raises Busy while another git holds the branch, OSError when
        it cannot be written.
        """
        place = self._place
        if expected is None or not os.access(place, os.F_OK):
            place.parent.mkdir(parents=True, exist_ok=True)
        with held(Path(f"{place}.lock"), attempts=4) as lock:
            if present() != expected:
                return False
            line = f"{expected or '0' * len(new)} {new} {_who(author)}\t{LOGGED}\n".encode()
            for log in ([f"{self.gitdir}/logs/HEAD"] if self.checked_out else []) + [self._log]:
                _append(log, line)
            lock.become(place, f"{new}\n".encode(), sync=sync)
        if sync:
            self.sync()
        return True

    def sync(self) -> None:
        """Have the branch on the disk as it is now, with its name."""
        place = self._place
        if place.is_file():
            with place.open("rb") as file:
                os.fsync(file.fileno())
        for folder in place.parents:
            sync_folder(folder)
            if folder.name == "heads":
                break

    def moved_by_other(self) -> bool:
        """Whether the branch's log says that the last to move it to where it is was not us."""
        try:
            last = Path(self._log).read_bytes().rstrip(b"\n").rsplit(b"\n", 1)[-1]
            here = self._place.read_bytes().strip()
        except FileNotFoundError:
            return False
        return bool(here) and last[41:].startswith(here + b" ") and not last.endswith(LOGGED.encode())

    @property
    def _place(self) -> Path:
        return Path(f"{self.gitdir}/refs/heads/{self.name}")

    @property
    def _log(self) -> str:
        return f"{self.gitdir}/logs/refs/heads/{self.name}"


def _who(author: Author) -> str:
    who = "".join(c for c in f"{author.name}\0{author.email}" if c not in "<>\n").replace("\0", " <") + ">"
    return f"{who} {int(author.when.timestamp())} {author.when:%z}"


def _append(file: str, line: bytes) -> None:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    try:
        handle = os.open(file, flags, 0o666)
    except FileNotFoundError:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(file, flags, 0o666)
    try:
        if (done := os.write(handle, line)) < len(line):
            os.ftruncate(handle, os.fstat(handle).st_size - done)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(handle)
