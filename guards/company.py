"""Words in company that they stood in lately: what a form, a template or a quotation says again.

How varied a stream's words are is asked of what it says anew; that it says something again is other guards' work.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

from guards.base import Json
from guards.memory import nested
from guards.packing import packed, unpacked

TAGS = 1 << 12
"""Places for what was said lately: the long words of the last twenty outputs and more."""
_SPREAD = 0x9E3779B1
"""Odd, so that every bit of a key tells in its upper ones."""


class Company:
    """Which words stood between the same neighbours lately.

    A table of tags, the new in the place of the old, so that it never grows.

    >>> company = Company()
    >>> company.new([7, 8, 9, 1], [1, 2], reach=1), company.new([5, 7, 8, 9, 2], [2, 3], reach=1)
    ([1, 2], [3])
    """

    def __init__(self) -> None:
        self._tags = array("H", [0]) * TAGS

    def new(self, marks: Sequence[int], places: Sequence[int], reach: int) -> list[int]:
        """Return the places whose word has new company, `reach` neighbours on each side; keep all of them in mind."""
        tags, found = self._tags, []
        edge = (0,) * reach
        padded = (*edge, *marks, *edge)
        for i in places:
            key = 0
            for mark in padded[i : i + 2 * reach + 1]:
                key = 31 * key + mark
            key = key * _SPREAD & 0xFFFFFFFF
            place, tag = key % TAGS, key >> 16 or 1
            if tags[place] != tag:
                tags[place] = tag
                found.append(i)
        return found

    def state(self) -> dict[str, Json]:
        """Return the memory, 11 kB."""
        return {"tags": packed(self._tags)}

    def load(self, state: Mapping[str, Json], key: str) -> None:
        """Continue from what stands under `key`; raises ValueError on anything else."""
        tags = unpacked(nested(state, key), "tags", "H")
        if len(tags) != TAGS:
            raise ValueError("'tags' should hold what this version wrote")
        self._tags = tags
