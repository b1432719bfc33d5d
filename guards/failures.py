"""Failing calls over all turns: how many in a row, how many turns with nothing else, and how often of late."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from guards.base import Json
from guards.circles import Circle, Seen
from guards.memory import integer, integers
from guards.sequential import LIMIT, Climb, Margin, load_climb

KEPT = 64
NO_FAILURE = 2**40
ALONE, COMMAND = 1.5, 1.75
"""How many times as many failures in a row one tool alone has, and a shell: in both, trying again is often the work
(twelve failing searches are one of another system's healthy cases)."""
WIDE, MOST, MOST_OF_A_SHELL = 24, 20, 23
"""Failures among so many calls, whatever the start was like, so that a success now and then does not hide a cascade."""
TURNS = 8
"""Whole turns of nothing but failures in a row: a quarter of a working day at a heartbeat each quarter of an hour."""
MARGIN = Margin(floor=0.5, early=0.5, ceiling=0.6)
"""Healthy recorded runs fail in 0 to 43 % of their calls, and in spells; no start makes more than 60 % normal."""


class Failures:
    """What failed, call by call and turn by turn."""

    def __init__(self, errors: int, warm_up: int, limit: float = LIMIT) -> None:
        self._errors = errors
        self._run: deque[int] = deque(maxlen=KEPT)
        self._share = Climb(MARGIN, warm_up, limit)
        self._turns = 0
        self._calls = self._failed = 0

    def turn(self) -> None:
        """Close a turn and begin another."""
        if self._calls:
            self._turns = min(self._turns + 1, KEPT) if self._calls == self._failed else 0
        self._calls = self._failed = 0

    def heard(self, seen: Seen) -> Iterator[Circle]:
        """Take the next answer; what is wrong, if it is a failure."""
        self._run.append(seen.name if seen.failed else NO_FAILURE)
        self._calls, self._failed = self._calls + 1, self._failed + seen.failed
        score = self._share.update(float(seen.failed))
        if not seen.failed:
            return
        run = list(self._run)[::-1]
        length = run.index(NO_FAILURE) if NO_FAILURE in run else len(run)
        alone = len(set(run[:length])) == 1
        limit = self._errors * (1.0 if not alone else COMMAND if seen.command else ALONE)
        yield Circle(length / limit, f"{length} tool calls in a row failed")
        wide = sum(name != NO_FAILURE for name in run[:WIDE])
        yield Circle(wide / (MOST_OF_A_SHELL if seen.command else MOST), f"{wide} of the last {WIDE} tool calls failed")
        if self._calls == self._failed:
            yield Circle(self._turns / TURNS, f"nothing worked in the last {self._turns} turns")
        normal = f"normal here is {100 * self._share.normal:.0f} % at most"
        yield Circle(score, f"most tool calls fail now ({normal})")

    def state(self) -> dict[str, Json]:
        """Return the memory, under 2 kB."""
        return {
            "run": list(self._run),
            "turns": self._turns,
            "calls": min(self._calls, 2**40),
            "failed": min(self._failed, 2**40),
            "share": self._share.state(),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        self._run = deque(integers(state, "run", KEPT), maxlen=KEPT)
        self._turns = integer(state, "turns", KEPT)
        self._calls, self._failed = integer(state, "calls"), integer(state, "failed")
        load_climb(self._share, state, "share")
