"""Outputs that are nearly those just before them, by the wording that they share.

A test asks whether such outputs have become common; a gate asks whether they are all that the stream says, even when
it began so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from guards.base import Json
from guards.memory import integers, nested
from guards.onset import Onset
from guards.sameness import DIFFERENT, Sameness
from guards.sketch import BINS, Sketch, flat, likeness, restored, sketch

LOOKED = 24
"""Outputs just before that one is compared with."""
CLOSE, TOO_CLOSE = 12, 0.7
"""So many outputs whose mean likeness to those before them is this are one output, also when the stream began so."""
CLOSE_AMONG, ASIDE = 24, 1001
"""The last outputs among which they are: a text that comes now and then may be the same each time."""
TWINS, AMONG, NEAR = 3, 8, 0.6
"""So many of the outputs just before that are so much like this one are more than one note written again."""
TAUGHT = 0.45
"""Outputs of the start that are so much like some before them are this stream's own way: a likeness is an estimate."""
RARE = 0.2
"""Share of outputs that a healthy stream may write so, at least: minutes and agendas are carried over now and then."""


class Alike:
    """The sketches of the last outputs, and how near each was to those before it."""

    def __init__(self, warm_up: int, limit: float) -> None:
        self._sketches: deque[Sketch] = deque(maxlen=LOOKED)
        self._close: deque[int] = deque(maxlen=CLOSE_AMONG)
        self._near = Onset(RARE, warm_up, limit)

    def pass_by(self) -> None:
        """Take an output that is not compared; it stands between those that are."""
        self._close.append(ASIDE)

    def update(self, marks: Sequence[int], *, speaks: bool) -> tuple[Sameness, Sameness]:
        """Take the marks of the next output's words; return what the test says and what the gate says.

        Only an output that `speaks`, prose without calls or numbers, is asked for by the gate.
        """
        now = sketch(marks)
        likenesses = [likeness(now, other) for other in self._sketches]
        self._sketches.append(now)
        return self._tested(likenesses), self._gated(max(likenesses, default=0.0), speaks=speaks)

    def _tested(self, likenesses: Sequence[float]) -> Sameness:
        twins = sorted(likenesses[-AMONG:], reverse=True)[:TWINS]
        least = twins[-1] if len(twins) == TWINS else 0.0
        near = least >= NEAR
        tested = len(likenesses) > TWINS + 1  # before, none can have twins
        score = self._near.update(near, least >= TAUGHT) if tested else 0.0
        share = f"{100 * least:.0f} %" if near else "little"
        why = f"nearly the same again: {TWINS} of the last {AMONG} outputs are {share} like this one"
        return Sameness(score, why, gate=False)

    def _gated(self, most: float, *, speaks: bool) -> Sameness:
        self._close.append(round(1000 * most) if speaks else ASIDE)
        close = [one for one in self._close if one != ASIDE][-CLOSE:]
        if not speaks or most <= TOO_CLOSE or len(close) < CLOSE:
            return DIFFERENT
        mean = sum(close) / CLOSE / 1000
        why = f"the last {CLOSE} outputs are {100 * mean:.0f} % like those just before them"
        return Sameness(mean / TOO_CLOSE, why)

    def state(self) -> dict[str, Json]:
        """Return the memory, about 11 kB."""
        return {
            "sketches": [value for one in self._sketches for value in flat(one)],
            "close": list(self._close),
            "near": self._near.state(),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        rows = integers(state, "sketches", LOOKED * BINS)
        whole = len(rows) - len(rows) % BINS
        self._sketches = deque((restored(rows[i : i + BINS]) for i in range(0, whole, BINS)), maxlen=LOOKED)
        self._close = deque(integers(state, "close", CLOSE_AMONG, ASIDE), maxlen=CLOSE_AMONG)
        self._near.load(nested(state, "near"))
