"""Two changes of one text joined line by line, where git's own merge sees a clash because they only touch.

A change is carried over when every line that it takes away is still there untouched; what it adds goes to the same
place, after what the other side added there.  So two entries at the end of one page are both kept, and an old entry
can be taken back although newer ones follow it.  It works on bytes and knows nothing of git.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
MOST_LINES: Final = 4_000
"""The most lines, without those that all sides have at their beginning and end, that are compared."""


def joined(base: bytes, ours: bytes, theirs: bytes, *, part: bool = False) -> bytes | None:
    r"""Return `ours` with the change from `base` to `theirs`; None where that touches what `ours` changed.

    With `part` what touches is left out, and the rest of the change is carried over.

    >>> joined(b"- a\n- b\n", b"- a\n- b\n- c\n", b"- a\n")
    b'- a\n- c\n'
    """
    sides = [_LINE.findall(text) for text in (base, ours, theirs)]
    head = _alike(sides)
    tail = _alike([side[head:][::-1] for side in sides])
    core = [side[head : len(side) - tail] for side in sides]
    if max(map(len, core)) > MOST_LINES:
        return None
    done = _carried(*core, part=part)
    return None if done is None else b"".join([*sides[1][:head], *done, *sides[1][len(sides[1]) - tail :]])


def common_start(one: bytes, other: bytes) -> bytes:
    """Return the whole lines that two texts begin with."""
    sides = [_LINE.findall(text) for text in (one, other)]
    return b"".join(sides[0][: _alike(sides)])


def _carried(
    base: Sequence[bytes], ours: Sequence[bytes], theirs: Sequence[bytes], *, part: bool
) -> list[bytes] | None:
    place = _places(base, ours)
    before: dict[int, list[bytes]] = {}
    gone = set[int]()
    for tag, start, end, new_start, new_end in SequenceMatcher(None, base, theirs, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        there = [place[n] for n in range(start, end)]
        at = _insertion(place, start, len(ours)) if start == end else there[0]
        apart = tag == "replace" and at is not None and there != list(range(at, at + len(there)))
        if at is None or None in there or apart:  # apart: something was put between lines that are replaced together
            if part:
                continue
            return None
        gone.update(n for n in there if n is not None)
        before.setdefault(at, []).extend(theirs[new_start:new_end])
    result = list[bytes]()
    for n in range(len(ours) + 1):
        if n in before:
            result += _ended(result, before[n])
        if n < len(ours) and n not in gone:
            result += _ended(result, [ours[n]])
    return result


def _places(base: Sequence[bytes], ours: Sequence[bytes]) -> list[int | None]:
    """Say for each line of `base` where it stands in `ours`, None where it was changed or taken away."""
    place: list[int | None] = [None] * len(base)
    for one, other, size in SequenceMatcher(None, base, ours, autojunk=False).get_matching_blocks():
        place[one : one + size] = range(other, other + size)
    return place


def _insertion(place: Sequence[int | None], start: int, end: int) -> int | None:
    """Return before which of our lines goes what was added before line `start`; `end` is how many there are."""
    if start == len(place):
        return end
    if (after := place[start]) is not None:
        return after
    if start == 0:
        return 0
    before = place[start - 1]
    return None if before is None else before + 1


def _ended(so_far: list[bytes], lines: list[bytes]) -> list[bytes]:
    """Return `lines`; a line before them that had no end gets one."""
    if lines and so_far and not so_far[-1].endswith(b"\n"):
        so_far[-1] += b"\n"
    return lines


def _alike(sides: Sequence[Sequence[bytes]]) -> int:
    shortest = min(map(len, sides))
    return next((n for n in range(shortest) if any(side[n] != sides[0][n] for side in sides)), shortest)
