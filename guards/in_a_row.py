"""Equal outputs in a row: of whole texts, of short ones, of short ones beside calls, and beside the calls of one turn.

Each sort has a row of its own: what stands beside a call does not end the row of what is said without one.
"""

from __future__ import annotations

from collections.abc import Mapping

from guards.base import Json
from guards.memory import integer
from guards.sameness import Sameness

PATIENCE = 4
"""A short sentence may come so many times as often in a row as a longer text."""
TOLD = 3
"""Equal outputs in a row that are worth a warning."""
NOTICE = 0.8
_MOST = 2**40


class Row:
    """How many times the last key has come in a row.

    >>> row = Row()
    >>> [row.count(key) for key in (7, 7, 8, 8, 8)]
    [1, 2, 1, 2, 3]
    """

    def __init__(self, key: int = 0, times: int = 0) -> None:
        self.key, self.times = key, times

    def count(self, key: int) -> int:
        """Take the next key; return how many times it has come in a row, with this one."""
        self.times = self.times + 1 if key == self.key else 1
        self.key = key
        return self.times

    def end(self) -> None:
        """Let the next key be the first one."""
        self.key = self.times = 0


class InARow:
    """The rows of equal outputs, by their fingerprints; `most` of them trip."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._whole, self._short, self._step, self._beside = Row(), Row(), Row(), Row()
        self._turn = 0

    def whole(self, key: int) -> Sameness:
        """Take an output that says more than an acknowledgement."""
        return self._counted(self._whole.count(key), 1)

    def short(self, key: int) -> Sameness:
        """Take an output that may be an acknowledgement."""
        return self._counted(self._short.count(key), PATIENCE)

    def short_step(self, key: int) -> Sameness:
        """Take such an output that stands beside calls."""
        return self._counted(self._step.count(key), PATIENCE)

    def end_short(self) -> None:
        """Hear that an output said more than the short ones."""
        self._short.end()
        self._step.end()

    def beside_calls(self, turn: int, key: int) -> Sameness:
        """Take what stands beside calls of a named turn, and counts within that turn only."""
        if turn != self._turn:
            self._beside.end()
        self._turn = turn
        times = self._beside.count(key)
        return Sameness(times / self._most, f"the same words {times} times in this run")

    def _counted(self, times: int, patience: int) -> Sameness:
        least = NOTICE if times >= TOLD else 0.0
        return Sameness(max(times / (patience * self._most), least), f"the same output {times} times in a row")

    def state(self) -> dict[str, Json]:
        """Return the memory, nine numbers."""
        return {
            "last": self._whole.key,
            "run": min(self._whole.times, _MOST),
            "short": self._short.key,
            "short_run": min(self._short.times, _MOST),
            "turn": self._turn,
            "beside": self._beside.key,
            "beside_run": min(self._beside.times, _MOST),
            "step": self._step.key,
            "step_run": min(self._step.times, _MOST),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        self._whole = Row(integer(state, "last"), integer(state, "run"))
        self._short = Row(integer(state, "short"), integer(state, "short_run"))
        self._turn = integer(state, "turn")
        self._beside = Row(integer(state, "beside"), integer(state, "beside_run"))
        self._step = Row(integer(state, "step"), integer(state, "step_run"))
