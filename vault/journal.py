"""The journal: what the newest commits consist of, on the disk before a branch moves to them.

One sync of one file keeps a commit, its objects among it; everything else may then be written without waiting.  Where a
kill came, nothing is lost but the waiting; where the power went, `Vault.open` makes whole from here what had not yet
reached the disk.  The file has a fixed size and is written over from its beginning once all that it holds is safe.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vault.durable import put_durably
from vault.landing import Landing

CAPACITY: Final = 1024 * 1024
"""The size of the journal's file, in bytes: a few hundred commits of small notes."""

_HEAD = struct.Struct(">8sIQ")  # what it is; a number that changes when it begins anew; where what is still owed begins
_RECORD = struct.Struct(">II")  # length; checksum, begun with that number
_KIND = b"trimtab\x01"
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Record:
    """One commit: how it lands, its objects (id, git's file of it), and whether this system has been up ever since."""

    landing: Landing
    objects: Mapping[str, bytes]
    same_boot: bool
    end: int


class Journal:
    """A journal in a file.  It does not lock: one writer at a time is its caller's promise."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.boot = _boot()

    def prepare(self) -> None:
        """Have an empty journal where there is none that can be read."""
        try:
            with self.file.open("rb") as present:
                kind, _, owed = _HEAD.unpack(present.read(_HEAD.size))
            if kind == _KIND and owed >= _HEAD.size and self.file.stat().st_size >= CAPACITY:
                return
        except (FileNotFoundError, struct.error):
            pass
        put_durably(self.file, _HEAD.pack(_KIND, 1, _HEAD.size).ljust(CAPACITY, b"\0"))

    def append(
        self, landing: Landing, objects: Mapping[str, bytes], limit: int | None = None
    ) -> tuple[int, int] | None:
        """Keep a commit, on the disk when this returns, and return where its record begins and ends.

        None, and nothing done, where the file would become longer than `limit` bytes.
        """
        sizes = [[identity, len(data)] for identity, data in objects.items()]
        facts = {"boot": self.boot, **landing.facts(), "objects": sizes}
        text = json.dumps(facts, separators=(",", ":")).encode()
        payload = b"".join([struct.pack(">I", len(text)), text, *objects.values()])
        with self._open() as handle:
            salt, owed = _head(handle)
            start = self._last(handle, salt, owed)[1]
            end = start + _RECORD.size + len(payload)
            if limit is not None and end + _RECORD.size > limit:
                return None
            record = _RECORD.pack(len(payload), zlib.crc32(payload, salt)) + payload
            _write(handle, record + bytes(_RECORD.size), start)
            os.fdatasync(handle)
        return start, end

    def owed(self) -> tuple[Landing | None, int]:
        """Return the last landing that was not ended, and where it stands; None where all of them were."""
        with self._open() as handle:
            salt, owed = _head(handle)
            record, end = self._last(handle, salt, owed)
        return (None if record is None else record.landing), end

    def settle(self, end: int) -> None:
        """Remember that nothing is owed up to here."""
        with self._open() as handle:
            salt, _ = _head(handle)
            _write(handle, _HEAD.pack(_KIND, salt, end), 0)

    def take_back(self, start: int) -> None:
        """Forget the last record, which begins here: the branch never moved to it."""
        with self._open() as handle:
            _write(handle, bytes(_RECORD.size), start)

    def records(self) -> list[Record]:
        """Return every commit that the journal still keeps, the oldest first."""
        with self._open() as handle:
            whole = _whole(handle)
            salt, _ = _head(handle)
        found, end = list[Record](), _HEAD.size
        while (record := self._record(whole, end, salt)) is not None:
            found.append(record)
            end = record.end
        return found

    def restart(self) -> None:
        """Forget every record; on the disk when this returns."""
        with self._open() as handle:
            salt, _ = _head(handle)
            os.ftruncate(handle, CAPACITY)
            _write(handle, _HEAD.pack(_KIND, (salt + 1) % 2**32, _HEAD.size) + bytes(_RECORD.size), 0)
            os.fdatasync(handle)

    @contextlib.contextmanager
    def _open(self) -> Iterator[int]:
        handle = os.open(self.file, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            yield handle
        finally:
            os.close(handle)

    def _last(self, handle: int, salt: int, start: int) -> tuple[Record | None, int]:
        """Return the last record from `start` on, None where there is none, and its end."""
        if os.pread(handle, _RECORD.size, start).strip(b"\0") == b"":
            return None, start
        whole, last, end = _whole(handle), None, start
        while (record := self._record(whole, end, salt)) is not None:
            last, end = record, record.end
        return last, end

    def _record(self, whole: bytes, start: int, salt: int) -> Record | None:
        if start + _RECORD.size > len(whole):
            return None
        size, check = _RECORD.unpack_from(whole, start)
        payload = whole[start + _RECORD.size : start + _RECORD.size + size]
        if not size or len(payload) < size or zlib.crc32(payload, salt) != check:
            return None
        place = 4 + struct.unpack_from(">I", payload)[0]
        facts = json.loads(payload[4:place])
        objects = dict[str, bytes]()
        for identity, length in facts["objects"]:
            objects[identity] = payload[place : place + length]
            place += length
        same = bool(self.boot) and facts["boot"] == self.boot
        return Record(Landing.of(facts), objects, same, start + _RECORD.size + size)


def _head(handle: int) -> tuple[int, int]:
    kind, salt, owed = _HEAD.unpack(os.pread(handle, _HEAD.size, 0).ljust(_HEAD.size, b"\0"))
    if kind != _KIND or owed < _HEAD.size:
        raise OSError(errno.EIO, "the journal is damaged: open the vault again")
    return salt, owed


def _whole(handle: int) -> bytes:
    return os.pread(handle, os.fstat(handle).st_size, 0)


def _write(handle: int, data: bytes, place: int) -> None:
    while data:
        done = os.pwrite(handle, data, place)
        data, place = data[done:], place + done


def _boot() -> str:
    """Return what names this start of the system, nothing where the system does not tell."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""
