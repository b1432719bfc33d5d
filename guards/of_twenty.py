"""Texts that come again among the last twenty outputs, in whatever order, word for word."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from guards.base import Json
from guards.memory import integer, integers
from guards.sameness import DIFFERENT, RECENT, Sameness

SAID = 32
"""Outputs among which one was said before."""
FEW = 4
"""Of so many different texts a stream turns in a circle; a form with few values says many things twice."""
LONG = 7
"""How many of the last 20 may be one text that is never the same by chance."""
MORE = 0.4
"""The share above that of the start which is no longer this stream's own way."""


class OfTwenty:
    """Which of the last outputs were said before, by their fingerprints; `most` of the last 20 trip."""

    def __init__(self, most: int, warm_up: int) -> None:
        self._most, self._warm_up = most, warm_up
        self._said: deque[int] = deque(maxlen=SAID)
        self._again: deque[int] = deque(maxlen=RECENT)
        self._judged_at_start = self._again_at_start = 0

    def update(self, key: int, *, long: bool) -> Sameness:
        """Take the next output, and whether it is too long to be the same by chance."""
        again = key in self._said
        self._again.append(int(again))
        self._said.append(key)
        if self._judged_at_start < self._warm_up:
            self._judged_at_start += 1
            self._again_at_start += again
        return self._counted(key, long=long) if again else DIFFERENT

    def _counted(self, key: int, *, long: bool) -> Sameness:
        usual = self._again_at_start / self._judged_at_start
        limit = min(max(self._most, RECENT * (usual + MORE)), max(self._most, RECENT - 1))
        last = list(self._said)[-RECENT:]
        rotating = len({said for said, known in zip(last, self._again, strict=False) if known}) <= FEW
        this, total = last.count(key), sum(self._again) if rotating else 0
        most = min(limit, LONG + RECENT * usual) if long else limit
        often = f"{this} of the last {len(last)} outputs are this one"
        known = f"{total} of the last {len(last)} outputs were said before, word for word"
        return Sameness(*max((this / most, often), (total / limit, known)))

    def state(self) -> dict[str, Json]:
        """Return the memory, 54 numbers at most."""
        return {
            "said": list(self._said),
            "again": list(self._again),
            "judged_at_start": self._judged_at_start,
            "again_at_start": self._again_at_start,
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        self._said = deque(integers(state, "said", SAID), maxlen=SAID)
        self._again = deque(integers(state, "again", RECENT, 1), maxlen=RECENT)
        self._judged_at_start = max(1, integer(state, "judged_at_start", 10_000)) if self._said else 0
        self._again_at_start = min(integer(state, "again_at_start", 10_000), self._judged_at_start)
