"""Calls of tools that do not exist: a few close together, and how often over the days."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from guards.base import Json
from guards.circles import Circle
from guards.memory import integers
from guards.sequential import LIMIT, Climb, Margin, load_climb

NEARBY, FEW = 16, 3
"""So many calls of tools that do not exist among so many calls: two are a slip that its error message corrects."""
MARGIN = Margin(floor=0.03, early=0.2, first=8, slack=0.02)


class Strangers:
    """Which calls were of tools that do not exist."""

    def __init__(self, warm_up: int, limit: float = LIMIT) -> None:
        self._recent: deque[int] = deque(maxlen=NEARBY)
        self._share = Climb(MARGIN, warm_up, limit)

    def asked(self, stranger: bool) -> None:
        """Take the next call."""
        self._recent.append(int(stranger))
        self._share.update(float(stranger))

    def exposed(self) -> None:
        """The last call turned out to be of a tool that does not exist; its result said so."""
        if self._recent and not self._recent[-1]:
            self._recent[-1] = 1
            self._share.update(1.0)

    def found(self) -> Iterator[Circle]:
        """What is wrong after a call of a tool that does not exist."""
        among = f"{sum(self._recent)} of the last {len(self._recent)} calls were of tools that do not exist"
        yield Circle(sum(self._recent) / FEW, among)
        normal = f"normal here is {100 * self._share.normal:.0f} % at most"
        yield Circle(self._share.score, f"calls of tools that do not exist keep coming ({normal})")

    def state(self) -> dict[str, Json]:
        """Return the memory, under 1 kB."""
        return {"recent": list(self._recent), "share": self._share.state()}

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        self._recent = deque(integers(state, "recent", NEARBY, 1), maxlen=NEARBY)
        load_climb(self._share, state, "share")
