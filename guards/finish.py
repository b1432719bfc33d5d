"""A call that ends the work, made again and again: the agent says that it is done, and nobody agrees."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from guards.base import Call, Json
from guards.circles import Circle
from guards.memory import integer

TIMES = 4
"""Such calls in one run that are a circle: a run ends with one, and some harnesses ask for a second look."""
LONG = 24
"""Where outputs name no turn, what came before the first one is a run of its own from so many outputs on."""
SOON = 2
"""There each further one must come in this part of the time that the first one took: heartbeats all end alike."""
TEXT = 40
"""Characters from which an argument is a report; a shorter one may say which of several tasks is done."""
_ENDS = frozenset(("done", "finish", "finished", "complete", "completed", "completion", "submit", "submitted"))
_BESIDE = frozenset(("task", "work", "job", "run", "attempt", "all", "final"))
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
MOST = 2**40
NONE = Circle(0.0, "")


def ends(call: Call) -> bool:
    """Return whether a call by its name ends the whole work.

    >>> [ends(Call(name)) for name in ("task_done", "attemptCompletion", "submit", "mark_done", "submit_form")]
    [True, True, True, False, False]
    >>> ends(Call("complete_task", {"id": 3}))
    False
    """
    return _is_an_end(call.name) and all(map(_is_a_report, call.args.values()))


def _is_a_report(value: object) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and len(value) >= TEXT)


@lru_cache(maxsize=256)
def _is_an_end(name: str) -> bool:
    words = {word.lower() for word in _WORD.findall(name[:60])}
    return bool(words & _ENDS) and not words - _ENDS - _BESIDE


class Finish:
    """How often the work of one run was said to be done.

    >>> finish = Finish()
    >>> [finish.update([Call("task_done")], named=True).score for _ in range(4)]
    [0.0, 0.5, 0.75, 1.0]
    """

    def __init__(self) -> None:
        self.turn()

    def turn(self) -> None:
        """Begin another run."""
        self._outputs = self._first = self._last = self._times = 0

    def update(self, calls: Sequence[Call], *, named: bool) -> Circle:
        """Take the calls of the next output; `named` says that outputs name their turns."""
        self._outputs += 1
        if not any(map(ends, calls)):
            return NONE
        took = self._outputs - self._last
        again = named or (self._first >= LONG and SOON * took <= self._first)
        self._times = self._times + 1 if again else 1
        self._first = took if self._times == 1 else self._first
        self._last = self._outputs
        if self._times == 1:
            return NONE
        return Circle(self._times / TIMES, f"{self._times} calls that end the work, and it went on each time")

    def state(self) -> dict[str, Json]:
        """Return the memory: four numbers."""
        found = {"outputs": self._outputs, "first": self._first, "last": self._last, "times": self._times}
        return {key: min(value, MOST) for key, value in found.items()}

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        found = [integer(state, key, MOST) for key in ("outputs", "first", "last", "times")]
        self._outputs, self._first, self._last, self._times = found
        if self._outputs < max(self._first, self._last, self._times):
            raise ValueError("'outputs' should not be less than what is counted of them")
