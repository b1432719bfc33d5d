"""The silence guard: turns that call tools and end without a word, and empty replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from guards import options
from guards.base import Guard, Json, Level, Output, Verdict
from guards.memory import check_version, integer, integers
from guards.promise import limit
from guards.sequential import Climb, Margin, load_climb
from guards.text import fingerprint

MARGIN = Margin(floor=0.50, early=0.90, ceiling=0.80)
"""Silence in half of all turns, in spells, is nobody's collapse; in four fifths from the start on it is."""
MUTE, WIDE, WORTH = 16, 20, 3
"""Silent turns, each with words taking back some of them, that are gross in a stream that spoke at its start; turns
that are counted for a person."""
SPELLS, BURSTY = 2.5, 6
"""Silence may last so many times as long as the longest spell that ended before it tripped; a stream with spells of so
many turns is judged by their length alone."""
LONGEST = 400
SPOKEN, TALKER = 8, 0.75
"""A stream speaks at its start when so many turns, and this share of all, were not silent at some moment of it."""
QUIET = 0.1
"""The share of silent turns in a start that shows that silence is part of the work."""
HANDS = frozenset(("command", "cmd", "commands", "script", "code", "patch", "diff", "path", "file_path"))
"""Arguments of a shell, an editor, an interpreter: who works with these may well be silent until it is done."""


class Silence(Guard):
    """Tool calls with no words about what came of them.

    Statistic: the share of all turns that called tools and held no words anywhere, as the score of the shared
    sequential test against the stream's own start and an absolute envelope (a normal share of 0.5 at least, of 0.8 at
    most: a stream that was silent from its first turn trips after some 70 turns). A turn with words in any of its
    outputs is not silent. A turn ends with a reply that calls nothing, or when another turn begins, whose first output
    answers for it if it has no words either; an output that names no turn is one. Gates: 16 silent turns, where a turn
    with words takes back 3 of them (2.5 times the longest spell that ended before it tripped, where that is more), in a
    stream that had spoken in 8 turns and in three of four at some moment of its start; `empty` replies in a row with
    neither words nor calls.
    A stream that spoke at its start and has spells of 6 and more is judged by their length alone.
    Source: the shared test (Shin, Ramdas and Rinaldo 2022) on an indicator; 97 % silent calls is a reported collapse.
    False alarms: the test derived, its share of guards/promise.py while the share of silent turns given the past stays
    under the normal; the gates measured, none on the healthy development streams, whose longest silence is one turn.
    Silent on purpose: on turns without calls that say something; on a share of silent turns that the start had too;
    but for the gates, on streams that were often silent at their start and whose calls there mostly were work by hand
    (a command, code, a path): such an agent speaks when it is done.
    Options: `empty` (3), `warm_up` (40), `caution`: years for one false trip of the test (1).

        >>> from guards import Call, Output
        >>> import random
        >>> seeded = random.Random(7)
        >>> call = (Call("queue"),)
        >>> healthy = [Output("Two songs are left." if seeded.random() < 0.8 else "", call) for _ in range(60)]
        >>> mute = [Output("", call)] * 40
        >>> guard = Silence()
        >>> next(row for row, output in enumerate(healthy + mute) if guard.update(output).level.name == "TRIP")
        75
    """

    name: ClassVar[str] = "silence"
    kind: ClassVar[Literal["gate", "sequential"]] = "sequential"
    tests: ClassVar[int] = 1
    VERSION = 4

    @dataclass(frozen=True, slots=True)
    class Options:
        """Empty replies in a row that trip, the turns of the start, and years for one false trip."""

        empty: int = options.option(3, 1, 1000)
        warm_up: int = options.option(40, 1, 10_000)
        caution: float = options.option(1.0, 0.01, 1e6)

    options: Options

    def reset(self) -> None:
        """Forget the stream."""
        self._turn = 0
        self._open = self._spoke = self._called = False
        self._empty = self._mute = self._peak = self._spell = 0
        self._turns = self._spoken = self._quiet = self._calls = self._hands = self._recent = 0
        self._talker = self._told = False
        self._share = Climb(MARGIN, self.options.warm_up, limit(self.options.caution))

    def update(self, output: Output) -> Verdict:
        """Judge the next output, and the turn that it ends."""
        turn = 0 if output.turn is None else fingerprint(output.turn) + 1
        words = _speaks(output.text)
        before = self._end() if self._open and turn != self._turn else 0.0
        before = 0.0 if words else before  # whoever speaks is not to blame for the turn before
        self._turn, self._open = turn, True
        self._spoke, self._called = self._spoke or words, self._called or bool(output.calls)
        self._empty = 0 if words or output.calls else self._empty + 1
        if self._turns < self.options.warm_up:
            self._calls += len(output.calls)
            self._hands += sum(1 for call in output.calls if not HANDS.isdisjoint(map(str, call.args)))
        ended = turn == 0 or not output.calls
        return self._verdict(max(before, self._end() if ended else 0.0))

    def _end(self) -> float:
        """Close the turn; the score of the worse rule when the turn was silent, otherwise nothing to complain of."""
        silent = self._called and not self._spoke
        score = self._share.update(float(silent))
        self._turns += 1
        self._recent = (2 * self._recent + silent) % 2**WIDE
        self._mute = self._mute + 1 if silent else max(0, self._mute - WORTH)
        self._peak = max(self._peak, self._mute)
        if not self._mute:
            self._spell = max(self._spell, 0 if self._told else min(self._peak, LONGEST))
            self._peak, self._told = 0, False
        if self._turns <= self.options.warm_up:
            self._spoken, self._quiet = self._spoken + (not silent), self._quiet + silent
            self._talker = self._talker or self._spoken >= max(SPOKEN, TALKER * self._turns)
        self._open = self._spoke = self._called = False
        return self._judge(score) if silent else 0.0

    def _judge(self, score: float) -> float:
        """Return the score of a silent turn.  A spell that trips teaches nothing, however it ends."""
        by_hand = 2 * self._hands > self._calls and self._quiet >= QUIET * min(self._turns, self.options.warm_up)
        long = self._long
        bursty = self._spell >= BURSTY and self._quiet <= self._spoken
        steady = 0.0 if by_hand or (bursty and long < 1) else score
        worse = max(steady, long if self._talker and long >= 1 else 0.0)
        self._told = self._told or worse >= 1
        return worse

    @property
    def _long(self) -> float:
        """The count of silent turns in units of what is gross."""
        return self._mute / max(MUTE, SPELLS * self._spell)

    def _verdict(self, score: float) -> Verdict:
        empty = self._empty / self.options.empty
        if empty >= max(1.0, score):
            why = f"{self._empty} replies in a row with neither words nor tool calls"
            hint = f"Your last {self._empty} replies were empty. Say in one sentence what you found, even if nothing."
            return Verdict(self.name, Level.TRIP, round(empty, 3), why, hint, gate=True)
        score = round(score, 3)
        if Level.of(score) is Level.PASS:
            return Verdict(self.name, Level.PASS, max(score, round(min(empty, 0.79), 3)))
        recent = f"{self._recent.bit_count()} of the last {min(self._turns, WIDE)} turns"
        turns = f"{WIDE} turns in a row" if min(self._mute, self._recent.bit_count()) >= WIDE else recent
        why = f"{turns} called tools and ended without a word; normal here is {100 * self._share.normal:.0f} % at most"
        hint = (
            f"{turns} called tools and ended without a word. Say in one sentence what came of the calls, even if it is "
            "that nothing has changed."
        )
        level, gross = Level.of(score), self._talker and self._long >= 1
        return Verdict(self.name, level, score, why, hint, gate=gross)

    def state(self) -> dict[str, Json]:
        """Return the memory: a few numbers."""
        counts = (
            self._empty,
            self._mute,
            self._turns,
            self._spoken,
            self._quiet,
            self._calls,
            self._hands,
            self._spell,
            self._peak,
        )
        return {
            "version": self.VERSION,
            "turn": self._turn,
            "flags": 16 * self._told + 8 * self._talker + 4 * self._open + 2 * self._spoke + self._called,
            "recent": self._recent,
            "counts": [min(count, 2**40) for count in counts],
            "share": self._share.state(),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        check_version(state, self.VERSION)
        self._turn = integer(state, "turn")
        flags, counts = integer(state, "flags", 31), integers(state, "counts", 9)
        if len(counts) != 9:
            raise ValueError("'counts' should hold nine numbers")
        self._told, self._talker, self._open, self._spoke, self._called = (
            bool(flags & bit) for bit in (16, 8, 4, 2, 1)
        )
        self._recent = integer(state, "recent", 2**WIDE - 1)
        self._empty, self._mute, self._turns, self._spoken, self._quiet, *rest = counts
        self._calls, self._hands, self._spell, self._peak = rest
        load_climb(self._share, state, "share")


def _speaks(text: str) -> bool:
    """Return whether there is a letter or a digit near either end of a text of any size."""
    return any(c.isalnum() for part in (text[:10_000], text[-2_000:]) for c in part)
