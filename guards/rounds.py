"""Answers that come round: one to everything that the other side says, or a few in turn.

The rows of a dialogue alternate between two speakers, so that only every second one is the same speaker's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from guards.base import Json
from guards.memory import integers
from guards.sameness import DIFFERENT, Sameness

LONGEST = 5
"""Outputs of the longest cycle."""
TIMES, TURNS = 4, 6
"""Times that an output comes at one distance and nowhere between; of so many answers of one side of a dialogue."""
FEW, LAPS = 3, 3
"""So many different outputs come round when the last ones, so many times as many, hold no other."""
KEPT = 32
"""Outputs that are remembered: what came before in them, too, is the more this stream's own way."""
BRIEF, WHOLE, LONG = 0, 1, 2
"""How much an output says: what may be an acknowledgement, more than that, and what is never said twice by chance."""


class Rounds:
    """The last outputs by their fingerprints.

    >>> rounds = Rounds()
    >>> [rounds.update(fingerprint, WHOLE).score for fingerprint in (7, 1, 7, 2, 7, 3, 7)]
    [0.0, 0.0, 0.5, 0.0, 0.75, 0.0, 1.0]
    """

    def __init__(self) -> None:
        self._last: deque[int] = deque(maxlen=KEPT)

    def update(self, fingerprint: int | None, size: int = BRIEF) -> Sameness:
        """Take the next output, None for one that says next to nothing, with how much it says."""
        mark = 0 if fingerprint is None else 3 * (fingerprint + 1) + size
        self._last.appendleft(mark)
        if fingerprint is None or self._last.count(mark) < 2:
            return DIFFERENT
        found = [self._by_turns()]
        if size != BRIEF:
            found += [self._at(distance) for distance in range(2, LONGEST + 1)]
        return max(found, key=lambda one: one.score)

    def _at(self, distance: int) -> Sameness:
        last = list(self._last)
        turns = TURNS if distance == 2 else TIMES
        reach = distance * (turns - 1) + 1
        there = last[:reach:distance]
        times = there.count(last[0])
        if times < 2 or times < last[:reach].count(last[0]):
            return DIFFERENT
        earlier = last[reach:].count(last[0])
        where = "answers of one side" if distance == 2 else f"outputs at a distance of {distance}"
        return Sameness(times / (TIMES + earlier), f"{times} of the last {len(there)} {where} are the same")

    def _by_turns(self) -> Sameness:
        last = list(self._last)[: LAPS * FEW]
        different = len(set(last))
        if len(last) < LAPS * FEW or not 1 < different <= FEW or 0 in last or all(one % 3 != LONG for one in last):
            return DIFFERENT
        if min(map(last.count, last)) < 2:
            return DIFFERENT
        return Sameness(1.0, f"the last {len(last)} outputs are {different} texts by turns")

    def state(self) -> dict[str, Json]:
        """Return the memory, 32 numbers."""
        return {"last": list(self._last)}

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        self._last = deque(integers(state, "last", KEPT, 3 * 2**32 + 2), maxlen=KEPT)
