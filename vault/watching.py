"""Which notes were changed since the last look, as the kernel tells it: inotify, where there is one.

It is a hint that saves looks at every file, never what is believed: whoever maps a file into memory, and whoever writes
to a file system over a network, is not told of.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import struct
import threading
from pathlib import Path
from typing import Final

from vault.files import is_utf8

_EVENT: Final = struct.Struct("iIII")  # watch, what happened, a cookie, the length of the name
_MODIFY, _CLOSE_WRITE, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x8, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _OVERFLOW, _IGNORED, _UNMOUNT, _FOLDER = 0x400, 0x800, 0x4000, 0x8000, 0x2000, 0x40000000
_ONLYDIR, _DONT_FOLLOW, _EXCL_UNLINK = 0x1000000, 0x2000000, 0x4000000
_NOTES: Final = _MODIFY | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_WATCHED: Final = _NOTES | _DELETE_SELF | _MOVE_SELF | _ONLYDIR | _DONT_FOLLOW | _EXCL_UNLINK
_LOST: Final = _OVERFLOW | _IGNORED | _UNMOUNT | _DELETE_SELF | _MOVE_SELF
MOST: Final = 10_000
"""How many folders are watched; a kernel has room for some tens of thousands, for all programs together."""
_LOCAL: Final = {b"btrfs", b"ext2", b"ext3", b"ext4", b"f2fs", b"jfs", b"overlay", b"tmpfs", b"xfs", b"zfs"}
_NOT_THERE: Final = {errno.ENOENT, errno.ENOTDIR, errno.EACCES}
_MOUNTS: Final = Path("/proc/self/mountinfo")
_OCTAL: Final = re.compile(rb"\\([0-7]{3})")
_LIBC: Final = ctypes.CDLL(None, use_errno=True)


class Watch:
    """What happens to the notes below a folder, for any thread; where it has over `most` folders nothing is told."""

    def __init__(self, root: Path, most: int = MOST) -> None:
        self._root, self._most = root, most
        self._handle: int | None = None
        self._folders = dict[int, str]()
        self._changed = set[str]()
        self._possible = hasattr(_LIBC, "inotify_init1")
        self._lock = threading.RLock()

    def begin(self) -> None:
        """Be told from now on, where the kernel can; call it before a look at every file, which then has all before."""
        with self._lock:
            self._changed.clear()
            if self._handle is not None or not self._possible:
                return
            handle = int(_LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)) if _is_local(self._root) else -1
            if handle >= 0:
                self._handle = handle
            if handle < 0 or not self._add(handle):
                self._possible = False
                self.close()

    def changed(self) -> frozenset[str] | None:
        """Return the notes that may have been changed since `begin`, or since they were `taken`; None: nobody knows."""
        with self._lock:
            while self._handle is not None:
                try:
                    told = os.read(self._handle, 1 << 16)
                except BlockingIOError:
                    return frozenset(self._changed)
                if not self._takes(told):
                    self.close()
        return None

    def taken(self, paths: frozenset[str]) -> None:
        """Forget changes that were seen."""
        with self._lock:
            self._changed -= paths

    def close(self) -> None:
        """Be told no more, until the next `begin`."""
        with self._lock:
            if self._handle is not None:
                os.close(self._handle)
            self._handle = None
            self._folders.clear()

    def _add(self, handle: int) -> bool:
        """Watch every folder, each before it is listed, so that none that appears meanwhile is missed."""
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            place = f"{self._root}/{folder}".rstrip("/")
            number = _LIBC.inotify_add_watch(handle, os.fsencode(place), ctypes.c_uint32(_WATCHED))
            if number < 0 and ctypes.get_errno() in _NOT_THERE:
                continue
            if number < 0 or len(self._folders) >= self._most:
                return False
            self._folders[number] = folder
            with contextlib.suppress(OSError), os.scandir(place) as entries:
                found = [each.name for each in entries if each.is_dir(follow_symlinks=False)]
                waiting += [f"{folder}{name}/" for name in found if not name.startswith(".") and is_utf8(name)]
        return True

    def _takes(self, told: bytes) -> bool:
        """Take events over; False where a folder came or went, or some were lost."""
        at = 0
        while at < len(told):
            number, what, _, length = _EVENT.unpack_from(told, at)
            name = told[at + _EVENT.size : at + _EVENT.size + length].rstrip(b"\0")
            at += _EVENT.size + length
            if what & _LOST or number not in self._folders:
                return False
            if name.startswith(b"."):
                continue
            if what & _FOLDER:
                return False
            if name.endswith(b".md"):
                self._changed.add(self._folders[number] + name.decode("utf-8", "replace"))
        return True


def _is_local(root: Path) -> bool:
    """Whether the kernel hears of every write below a folder, as it does not where other machines write."""
    best, kind = b"", b""
    try:
        lines = _MOUNTS.read_bytes().splitlines()
    except OSError:
        return False
    here = os.fsencode(root.resolve()) + b"/"
    for line in lines:
        first, _, rest = line.partition(b" - ")
        place = _OCTAL.sub(lambda found: bytes([int(found[1], 8)]), first.split()[4]).rstrip(b"/") + b"/"
        if here.startswith(place) and len(place) >= len(best):
            best, kind = place, rest.split()[0]
    return kind in _LOCAL
