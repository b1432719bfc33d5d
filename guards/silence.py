"""The silence guard: turns that call tools and end without a word, and empty replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from guards import options
from guards.base import Guard, Json, Level, Output, Verdict
from guards.memory import check_version, integer
from guards.sequential import Climb, Margin, load_climb
from guards.text import fingerprint

HINT = "You ended without saying anything. Say in one sentence what you found, even if it is that nothing has changed."


class Silence(Guard):
    """Tool calls with no words about what came of them.

    Statistic: the share of all turns that called tools and held no words anywhere, as the score of the shared
    sequential test against the stream's own start and an absolute envelope (a normal share of 0.4 at least, of 0.9 at
    most: a stream that was silent from its first turn trips after some 200 turns). A turn with words in any of its
    outputs is not silent. A turn ends with a reply that calls nothing, or when another turn begins; an output that
    names no turn is one. Besides, a gate: `empty` replies in a row with neither words nor calls.
    Source: the shared test (Shin, Ramdas and Rinaldo 2022) on an indicator; 97 % silent calls is a reported collapse.
    False alarms: derived, at most one in 10^6 turns while the share of silent turns given the past stays under the
    normal (silent turns that come in spells of more than fifteen break that); the gate: measured, none on the healthy
    development streams.
    Silent on purpose: for the first 16 turns; on turns without calls that say something; on a share of silent turns
    that the start had too.
    Options: `empty` (3), `warm_up` (40).

        >>> from guards import Call, Output
        >>> import random
        >>> seeded = random.Random(7)
        >>> call = (Call("queue"),)
        >>> healthy = [Output("Two songs are left." if seeded.random() < 0.8 else "", call) for _ in range(60)]
        >>> mute = [Output("", call)] * 40
        >>> guard = Silence()
        >>> next(row for row, output in enumerate(healthy + mute) if guard.update(output).level.name == "TRIP")
        77
    """

    name: ClassVar[str] = "silence"
    kind: ClassVar[Literal["gate", "sequential"]] = "sequential"
    VERSION = 1

    @dataclass(frozen=True, slots=True)
    class Options:
        """Empty replies in a row that trip, and the turns of the start."""

        empty: int = options.option(3, 1, 1000)
        warm_up: int = options.option(40, 1, 10_000)

    def __init__(self, **given: object) -> None:
        self.options = options.read(self.Options, self.name, given)
        self.reset()

    def reset(self) -> None:
        """Forget the stream."""
        self._turn = 0
        self._open = self._spoke = self._called = False
        self._empty = self._mute = 0
        self._share = Climb(Margin(floor=0.40, early=0.90), self.options.warm_up)

    def update(self, output: Output) -> Verdict:
        """Judge the next output, and the turn that it ends."""
        turn = 0 if output.turn is None else fingerprint(output.turn) + 1
        if self._open and turn != self._turn:
            self._end()  # it counts, but the first reply of another turn is not to blame for it
        words = _speaks(output.text)
        self._turn, self._open = turn, True
        self._spoke, self._called = self._spoke or words, self._called or bool(output.calls)
        self._empty = 0 if words or output.calls else self._empty + 1
        ended = turn == 0 or not output.calls
        return self._verdict(self._end() if ended else 0.0)

    def _end(self) -> float:
        """Close the turn; the score of the test when the turn was silent, otherwise nothing to complain of."""
        silent = self._called and not self._spoke
        score = self._share.update(float(silent))
        if self._called:
            self._mute = self._mute + 1 if silent else 0
        self._open = self._spoke = self._called = False
        return score if silent else 0.0

    def _verdict(self, score: float) -> Verdict:
        empty = self._empty / self.options.empty
        if empty >= max(1.0, score):
            why = f"{self._empty} replies in a row with neither words nor tool calls"
            return Verdict(self.name, Level.TRIP, round(empty, 3), why, HINT)
        score = round(score, 3)
        if score < 0.8:
            return Verdict(self.name, Level.PASS, max(score, round(empty, 3)))
        normal = f"normal here is {100 * self._share.normal:.0f} % of all turns at most"
        why = f"{self._mute} turns in a row called tools and ended without a word; {normal}"
        return Verdict(self.name, Level.TRIP if score >= 1 else Level.WARN, score, why, HINT)

    def state(self) -> dict[str, Json]:
        """Return the memory: a few numbers."""
        return {
            "version": self.VERSION,
            "turn": self._turn,
            "flags": 4 * self._open + 2 * self._spoke + self._called,
            "empty": min(self._empty, 2**40),
            "mute": min(self._mute, 2**40),
            "share": self._share.state(),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        check_version(state, self.VERSION)
        self._turn = integer(state, "turn")
        flags = integer(state, "flags", 7)
        self._open, self._spoke, self._called = bool(flags & 4), bool(flags & 2), bool(flags & 1)
        self._empty, self._mute = integer(state, "empty"), integer(state, "mute")
        load_climb(self._share, state, "share")


def _speaks(text: str) -> bool:
    """Return whether there is a letter or a digit near either end of a text of any size."""
    return any(c.isalnum() for part in (text[:10_000], text[-2_000:]) for c in part)
