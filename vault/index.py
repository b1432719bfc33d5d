"""Git's index as bytes: a few entries changed in it without reading the others.

An index of 20,000 entries takes 40 ms to be read and written as a list.  Here the rest of it is copied as it stands: a
person's staged changes, conflicts and flags stay.  What is not understood is an Unfamiliar index, left to others.
"""

from __future__ import annotations

import functools
import hashlib
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from vault.checksum import Checksum

_HEAD = struct.Struct(">4sII")
_ENTRY = struct.Struct(">40s20sH")
_END = struct.Struct(">4sII20s")  # where the entries end, so that nobody has to walk over them to know it
CHECK: Final = 20
"""How many bytes the checksum at the end has."""
_LONG_NAME, _STAGE, _EXTENDED = 0xFFF, 0x3000, 0x4000
_KEPT = {b"TREE", b"REUC"}
_NOT_OURS = re.compile(rb"[a-z]")  # extensions in small letters change what the entries mean
_TREE = re.compile(rb"([^\0]*)\0(-?\d+) (\d+)\n")


class Unfamiliar(Exception):
    """An index of a kind that is not understood here: compressed names, split in two, sparse, or damaged."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What an index says of one file; the rest of it (times, size) is for git to find out."""

    mode: int
    identity: bytes


Changes = Mapping[bytes, Entry | None]
Piece = bytes | memoryview
Before = Callable[[bytes], bytes | None]
Extensions = list[tuple[bytes, bytes]]


def relisted(index: bytes, changes: Changes, before: Before, checksum: Checksum | None = None) -> list[Piece]:
    """Return the pieces of an index with these entries set or, for None, taken away; the last one is the checksum.

    `before` names some path that comes before another in the order of names, if it knows one that is likely listed; it
    only saves time.  Raises Unfamiliar.
    """
    end, extensions = _parts(index)
    body, count = _changed(index, end, changes, before)
    pieces: list[Piece] = [_HEAD.pack(*_HEAD.unpack_from(index)[:2], count), *body]
    whole = checksum or Checksum()
    pieces += tail_of(extensions, frozenset(changes), sum(map(len, pieces)))
    for piece in pieces:
        whole.feed(piece)
    return [*pieces, whole.digest()]


def tail_of(extensions: Extensions, changed: frozenset[bytes], entries: int) -> list[Piece]:
    """Return what comes between the entries, which end at `entries`, and the checksum."""
    kept = [(kind, _without(data, changed) if kind == b"TREE" else data) for kind, data in extensions if kind in _KEPT]
    heads = [struct.pack(">4sI", kind, len(data)) for kind, data in kept]
    pieces: list[Piece] = [part for head, (_, data) in zip(heads, kept, strict=True) for part in (head, data)]
    check = hashlib.sha1(b"".join(heads), usedforsecurity=False).digest()
    return [*pieces, _END.pack(b"EOIE", _END.size - 8, entries, check)]


def entries_end(end: Piece) -> int:
    """Return where the entries of an index of ours end; `end` is its last piece before the checksum."""
    return int(_END.unpack(end)[2])


def is_whole(index: bytes) -> bool:
    """Whether the checksum at the end of an index is right, or left out as `index.skipHash` has it."""
    said = index[-CHECK:]
    return index.startswith(b"DIRC") and said in {
        bytes(CHECK),
        hashlib.sha1(index[:-CHECK], usedforsecurity=False).digest(),
    }


def _parts(index: bytes) -> tuple[int, Extensions]:
    """Return where the entries end, and the extensions."""
    if len(index) < _HEAD.size + CHECK:
        raise Unfamiliar("the index is too short")
    kind, version, count = _HEAD.unpack_from(index)
    if kind != b"DIRC" or version not in {2, 3}:
        raise Unfamiliar(f"the index has version {version}")
    end = _marked_end(index)
    if end is None:
        end = _HEAD.size
        end = max((end for _, _, _, end in _walk(index, count, _HEAD.size)), default=_HEAD.size)
    return end, extensions_in(index[end:-CHECK])


def extensions_in(tail: bytes) -> Extensions:
    """Return what lies between the entries and the checksum: [(kind, data)]; Unfamiliar for what changes entries."""
    extensions, place = list[tuple[bytes, bytes]](), 0
    while place < len(tail):
        try:
            name, size = struct.unpack_from(">4sI", tail, place)
        except struct.error:
            raise Unfamiliar("the index is damaged") from None
        extensions.append((name, tail[place + 8 : place + 8 + size]))
        place += 8 + size
        if _NOT_OURS.match(name):
            raise Unfamiliar(f"the index has the extension {name.decode('ascii', 'replace')!r}")
    if place != len(tail):
        raise Unfamiliar("the index is damaged")
    return extensions


def _marked_end(index: bytes) -> int | None:
    """Return where the entries end as the index itself tells, None where it does not."""
    place = len(index) - CHECK - _END.size
    if place < _HEAD.size:
        return None
    kind, size, end, check = _END.unpack_from(index, place)
    if kind != b"EOIE" or size != _END.size - 8 or not _HEAD.size <= end <= place:
        return None
    heads, at = b"", end
    while at < place:
        heads += index[at : at + 8]
        at += 8 + struct.unpack_from(">I", index, at + 4)[0]
    return end if at == place and hashlib.sha1(heads, usedforsecurity=False).digest() == check else None


def _walk(body: bytes, count: int, place: int) -> Iterator[tuple[bytes, int, int, int]]:
    """Give path, stage, start and end of entry after entry."""
    for _ in range(count):
        try:
            flags = body[place + 60] << 8 | body[place + 61]
            name = place + (64 if flags & _EXTENDED else 62)
            size = flags & _LONG_NAME
            if size == _LONG_NAME:
                size = body.index(b"\0", name) - name
            end = place + (name - place + size + 8 & ~7)
        except (IndexError, ValueError):
            raise Unfamiliar("the index is damaged") from None
        if end > len(body) or body[name + size]:
            raise Unfamiliar("the index is damaged")
        yield body[name : name + size], flags & _STAGE, place, end
        place = end


def _changed(index: bytes, end: int, changes: Changes, before: Before) -> tuple[list[Piece], int]:
    """Return the pieces of the entries, and how many there are."""
    count = _HEAD.unpack_from(index)[2]
    places = [(find_entry(index, path, end) or _place(index, path, end, before), path) for path in changes]
    view, done, pieces = memoryview(index), _HEAD.size, list[Piece]()
    for (start, after), path in sorted(places):
        entry = changes[path]
        pieces += [view[done:start], b"" if entry is None else entry_bytes(path, entry)]
        count += (entry is not None) - (after > start)
        done = after
    return [*pieces, view[done:end]], count


def entry_bytes(path: bytes, entry: Entry) -> bytes:
    """An entry without times and size: git compares the file itself when it next looks."""
    facts = struct.pack(">24xI12x", entry.mode)
    data = _ENTRY.pack(facts, entry.identity, min(len(path), _LONG_NAME)) + path
    return data + bytes(8 - len(data) % 8)


def find_entry(body: bytes, path: bytes, stop: int) -> tuple[int, int] | None:
    """Find the ordinary entry of a path by its bytes; None where it has to be looked for from entry to entry.

    Bytes that only look so would need zeros inside a name, the mode of a file before them and a later name behind them.
    """
    if len(path) >= _LONG_NAME:
        return None
    sought = struct.pack(">H", len(path)) + path + b"\0"
    at = body.find(sought, 0, stop)
    while at >= 0:
        start = at - 60
        end = start + (62 + len(path) + 8 & ~7)
        ordinary = (
            start >= _HEAD.size and (start - _HEAD.size) % 8 == 0 and body[start + 24 : start + 27] == b"\0\0\x81"
        )
        if ordinary and (end == stop or next(_walk(body, 1, end))[0] > path):
            return start, end
        at = body.find(sought, at + 1, stop)
    return None


def _place(body: bytes, path: bytes, stop: int, before: Before) -> tuple[int, int]:
    """Return where the entries of a path are, or where one would have to be."""
    earlier = before(path)
    known = find_entry(body, earlier, stop) if earlier is not None and earlier < path else None
    start = end = known[0] if known else _HEAD.size
    count = _HEAD.unpack_from(body)[2]
    first = None
    while end < stop and count:
        name, stage, here, after = next(_walk(body, 1, end))
        if name > path:
            break
        if name == path and stage:
            raise Unfamiliar("a conflict is being solved there")
        if name == path:
            first = here if first is None else first
        end = after
        count -= 1
    start = end if first is None else first
    return start, end


@functools.lru_cache(maxsize=4)
def _without(data: bytes, paths: frozenset[bytes]) -> bytes:
    """The cached trees without those that a change of these paths has made wrong; most commits change the same ones."""
    wrong = {b""}
    for path in paths:
        folders = path.split(b"/")
        wrong |= {b"/".join(folders[:depth]) for depth in range(1, len(folders) + 1)}
    pieces, stack, place = list[bytes](), list[tuple[bytes, int]](), 0
    while place < len(data):
        node = _TREE.match(data, place)
        if node is None:
            return b""
        end = node.end() + (CHECK if not node[2].startswith(b"-") else 0)
        while stack and stack[-1][1] == 0:
            stack.pop()
        parent = stack[-1][0] if stack else b""
        if stack:
            stack[-1] = parent, stack[-1][1] - 1
        name = parent + b"/" + node[1] if parent else node[1]
        stale = name in wrong
        pieces.append(b"%s\0-1 %s\n" % (node[1], node[3]) if stale else data[place:end])
        stack.append((name, int(node[3])))
        place = end
    return b"".join(pieces)
