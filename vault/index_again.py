"""The index that we wrote last, changed once more: what stands before the first change is not read or hashed again.

Git's index is one file with a checksum over all of it, so that a change of one entry costs the whole.  Here the
checksum's state at every so many bytes is remembered, and the former index is kept beside the present one: it differs
in a few entries, is brought up to date and changes places with it.  An index that anybody else has written since, new
names and notes that go are not for this.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from vault.checksum import Checksum
from vault.index import CHECK, Entry, Piece, entries_end, entry_bytes, extensions_in, find_entry, tail_of

_AT_ONCE: Final = 512  # systems take at most 1,024 pieces with a call
_MOST_PLACES: Final = 1_000
_OWN = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
_ALONE: Final = getattr(fcntl, "F_SETLEASE", None)  # Linux tells whether anybody else has a file open
_UNHEARD: Final = signal.SIGURG  # should somebody open the file at that moment: a signal that does nothing


@dataclass(frozen=True, slots=True)
class _Known:
    """An index that we wrote.  A file of this size that ends with this checksum holds the same."""

    size: int
    check: bytes
    entries: int
    checksum: Checksum
    places: dict[bytes, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Former:
    """The index before it, and the places in which the two differ."""

    file: int
    size: int
    check: bytes
    entries: int
    places: Sequence[tuple[int, int]]


class Again:
    """What is remembered of one index; its caller holds git's lock of it."""

    def __init__(self, index: Path) -> None:
        self._index = index
        self._known: _Known | None = None
        self._former: _Former | None = None

    def learn(self, pieces: Sequence[Piece], checksum: Checksum) -> None:
        """Remember an index that was written as these pieces."""
        size, end = sum(map(len, pieces)), entries_end(pieces[-2])
        self._known, self._former = _Known(size, bytes(pieces[-1]), end, checksum), None

    def write(self, changes: Mapping[bytes, Entry | None], fresh: Path) -> bool:
        """Write an index with these entries set to `fresh`; False, and nothing done, where that is not for this."""
        known, former = self._known, self._former
        self._known = self._former = None
        entries = {path: entry for path, entry in changes.items() if entry is not None}
        if known is None or len(entries) < len(changes) or not entries:
            return False
        with _opened(self._index, os.O_RDONLY | os.O_CLOEXEC) as handle:
            if not _holds(handle, known.size, known.check) or not _placed(handle, known, entries):
                return False
            patches = sorted((known.places[path][0], entry_bytes(path, entry)) for path, entry in entries.items())
            end, checksum = known.entries, known.checksum
            data = os.pread(handle, known.size - CHECK - end, end)
            tail: list[Piece] = [*tail_of(extensions_in(data), frozenset(entries), end)]
            start = checksum.back_to(patches[0][0])
            body = _patched(os.pread(handle, end - start, start), start, patches)
            for piece in [*body, *tail]:
                checksum.feed(piece)
            tail.append(checksum.digest())
            if former is None or not _brought(handle, fresh, former, end, patches, tail):
                fresh.unlink(missing_ok=True)  # not written over: another git may just be reading it
                with fresh.open("xb", buffering=0) as file:
                    write_all(file.fileno(), [os.pread(handle, start, 0), *body, *tail])
            places = [(at, len(entry)) for at, entry in patches]
            self._former = _Former(os.fstat(handle).st_ino, known.size, known.check, end, places)
        self._known = _Known(end + sum(map(len, tail)), bytes(tail[-1]), end, checksum, known.places)
        return True


def _placed(handle: int, known: _Known, entries: Mapping[bytes, Entry]) -> bool:
    """Find out where the entries are; False where one is not there or is no ordinary one."""
    index = b""
    if len(known.places) > _MOST_PLACES:
        known.places.clear()
    for path in entries:
        if path not in known.places:
            index = index or os.pread(handle, known.entries, 0)
            place = find_entry(index, path, known.entries)
            if place is None:
                return False
            known.places[path] = place
    return True


def _patched(body: bytes, start: int, patches: Sequence[tuple[int, bytes]]) -> list[Piece]:
    """Return the pieces of a body, which begins at `start`, with other bytes in some places."""
    view, done, pieces = memoryview(body), 0, list[Piece]()
    for at, entry in patches:
        pieces += [view[done : at - start], entry]
        done = at - start + len(entry)
    return [*pieces, view[done:]]


def _brought(
    handle: int, fresh: Path, former: _Former, end: int, patches: Sequence[tuple[int, bytes]], tail: Sequence[Piece]
) -> bool:
    """Bring the former index up to date; False, and nothing done, where it is not alone ours any more."""
    if former.entries != end:
        return False
    try:
        with _opened(fresh, _OWN) as ours:
            facts = os.fstat(ours)
            if (facts.st_ino, facts.st_nlink) != (former.file, 1) or not _holds(ours, former.size, former.check):
                return False
            if not _is_alone(ours):
                return False
            os.ftruncate(ours, end)  # without its end nobody takes it for an index, should we be killed here
            for at, size in former.places:
                os.pwrite(ours, os.pread(handle, size, at), at)
            for at, entry in patches:
                os.pwrite(ours, entry, at)
            os.lseek(ours, end, os.SEEK_SET)
            write_all(ours, tail)
    except FileNotFoundError:
        return False
    return True


def _is_alone(handle: int) -> bool:
    """Whether nobody else has the file open or mapped, as another git may have that has just read it."""
    if _ALONE is None:
        return False
    try:
        fcntl.fcntl(handle, fcntl.F_SETSIG, _UNHEARD)
        fcntl.fcntl(handle, _ALONE, fcntl.F_WRLCK)
        fcntl.fcntl(handle, _ALONE, fcntl.F_UNLCK)
    except OSError:
        return False
    return True


def _holds(handle: int, size: int, check: bytes) -> bool:
    return os.fstat(handle).st_size == size and os.pread(handle, CHECK, size - CHECK) == check


@contextlib.contextmanager
def _opened(file: Path, flags: int) -> Any:
    handle = os.open(file, flags)
    try:
        yield handle
    finally:
        os.close(handle)


def write_all(handle: int, pieces: Sequence[bytes | memoryview]) -> None:
    """Write pieces one after the other, many with each call."""
    left = [piece for piece in pieces if len(piece)]
    while left:
        done = os.writev(handle, left[:_AT_ONCE])
        while left and done >= len(left[0]):
            done -= len(left.pop(0))
        if left and done:
            left[0] = memoryview(left[0])[done:]
