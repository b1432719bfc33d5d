"""What a stream has said, in little space: how often at its start, and whether lately; by 32-bit keys, no words kept.

A Bloom filter (Bloom 1970) holds what stood in the start once, counters with the least of two places (Cormode and
Muthukrishnan 2005) hold how often; a table of tags holds what was said lately, the new in the place of the old.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping

from guards.base import Json
from guards.packing import pack, packed, unpack, unpacked

CELLS, COUNTERS, TAGS = 1 << 13, 1 << 14, 1 << 13
"""Room for a start of 40 outputs with 800 words each, and for the last 8,000 words; more makes it forgetful."""
MOST = 255
_OTHER = 0x85EBCA6B
_MASKS = [1 << i | 1 << (i + j + 1) % 32 for i in range(32) for j in range(31)]
"""Two bits of a cell: both of a key lie in one, which is looked at once (Putze, Sanders and Singler 2007)."""


class Seen:
    """Counts of the start, and a short memory of the rest.

    >>> seen = Seen()
    >>> seen.learn([7, 8]), seen.learn([7]), seen.count(7), seen.count(8), seen.count(9)
    (1, 2, 2, 1, 0)
    >>> seen.again([9]), seen.again([7, 9])
    ([], [9])
    """

    def __init__(self) -> None:
        self._once = array("I", [0]) * CELLS
        self._more = bytearray(COUNTERS)
        self._tags = array("H", [0]) * TAGS

    def learn(self, keys: Iterable[int]) -> int:
        """Count the keys of one output of the start, each once; return the highest count among them."""
        highest, once, more = 0, self._once, self._more
        for key in keys:
            cell, mask = key % CELLS, _MASKS[key // CELLS % len(_MASKS)]
            had = once[cell]
            if had & mask != mask:
                once[cell] = had | mask
                highest = highest or 1
                continue
            i, j = key % COUNTERS, (key * _OTHER >> 14) % COUNTERS
            first, second = more[i], more[j]
            count = (first if first < second else second) + 1
            if count <= MOST:
                if first < count:
                    more[i] = count
                if second < count:
                    more[j] = count
            if count >= highest:
                highest = count + 1
        return highest

    def count(self, key: int) -> int:
        """Return in how many outputs of the start a key stood; never too few, seldom too many."""
        mask = _MASKS[key // CELLS % len(_MASKS)]
        if self._once[key % CELLS] & mask != mask:
            return 0
        return 1 + min(self._more[key % COUNTERS], self._more[(key * _OTHER >> 14) % COUNTERS])

    def again(self, keys: Iterable[int]) -> list[int]:
        """Return the keys that came lately, and keep all of them in mind."""
        tags, came = self._tags, []
        for key in keys:
            place, tag = key % TAGS, key >> 13 & 0xFFFF or 1
            if tags[place] == tag:
                came.append(key)
            else:
                tags[place] = tag
        return came

    def state(self) -> dict[str, Json]:
        """Return the memory, 90 kB."""
        return {"once": packed(self._once), "more": pack(self._more), "tags": packed(self._tags)}

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        once, more, tags = unpacked(state, "once", "I"), unpack(state, "more"), unpacked(state, "tags", "H")
        if (len(once), len(more), len(tags)) != (CELLS, COUNTERS, TAGS):
            raise ValueError("'once', 'more' and 'tags' should hold what this version wrote")
        self._once, self._more, self._tags = once, bytearray(more), tags
