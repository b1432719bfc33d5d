"""The silence guard: turns that call tools and end without a word, and empty replies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from guards import options
from guards.base import Guard, Json, Level, Output, Verdict, silent
from guards.memory import check_version, integer, integers, nested
from guards.promise import limit
from guards.sequential import Climb, Margin, load_climb
from guards.spells import GROSS, Spells
from guards.text import fingerprint

MARGIN = Margin(floor=0.50, early=0.90, ceiling=0.80)
"""Silence in half of all turns, in spells, is nobody's collapse; in four fifths from the start on it is."""
WIDE = 20
"""Turns that are counted for a person."""
SPOKEN, TALKER = 8, 0.75
"""A stream speaks at its start when so many turns, and this share of all, were not silent at some moment of it."""
QUIET = 0.1
"""The share of silent turns in a start that shows that silence is part of the work."""
SIGNS = 8
"""Replies in a row that are only a sign (a face, a thumb, a question mark): in a chat, one in three may be."""
_SIGN = re.compile(r"(?![.*_~`|-])[!-~\u2600-\u27bf\uff01-\uff5e\U0001f000-\U0001faff]")
"""Punctuation and pictures; dots, lines and the signs of mathematics alone say nothing, even to a person."""
HANDS_SHARE = 3
"""One call in so many by hand is such work: who edits reads and searches first."""
HANDS_LEAST = 3 * GROSS
"""Turns that its spells may last in any case: recorded coding runs worked for 31 to 39 turns without a word."""
HANDS = frozenset(("command", "cmd", "commands", "script", "code", "patch", "diff", "path", "file_path"))
"""Arguments of a shell, an editor, an interpreter: who works with these may well be silent until it is done."""


class Silence(Guard):
    """Tool calls with no words about what came of them.

    Statistic: the share of all turns that called tools and held no words anywhere, as the score of the shared
    sequential test against the stream's own start and an absolute envelope (a normal share of 0.5 at least, of 0.8 at
    most: a stream that was silent from its first turn trips after some 70 turns). Where the stream's spells of silence
    last, a silent turn counts for less after a silent one, so that the test's condition, a mean given the past, holds.
    A turn with words in any of its outputs is not silent. A turn ends with a reply that calls nothing, or when another
    turn begins, whose first output answers for it if it has no words either; an output that names no turn is one.
    Gates: 16 silent turns, where a turn with words takes back 3 of them, in a stream that had spoken in 8 turns and in
    three of four at some moment of its start; more, where the spells of silence that ended before last on average m
    turns: m times the logarithm of how many of them come in 32 years; `empty` replies in a row with neither words nor
    calls, or 8 where each is a sign that a person understands (a face, a thumb), which a chat is full of.
    Source: the shared test (Shin, Ramdas and Rinaldo 2022) on an indicator; 97 % silent calls is a reported collapse.
    False alarms: derived while the share of silent turns given the past stays under the normal and spells of silence
    have no memory, but for a stream's first spells, which nothing foretells: of streams with spells of 10 turns on
    average one in four trips once, early (measured, simulated); none on 333 healthy streams of people and agents.
    Silent on purpose: on turns without calls that say something; on a share of silent turns that the start had too; on
    streams that were often silent at their start and whose calls there were work by hand (a command, code, a path) in a
    third: such an agent speaks when it is done, so that only the gate judges it, and one whose spells of silence have
    ended before, in a tenth of all turns, only from 48 turns on.
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
    judges_deeds: ClassVar[bool] = True
    VERSION = 6

    @dataclass(frozen=True, slots=True)
    class Options(options.Sequential):
        """Empty replies in a row that trip; the start is counted in turns."""

        empty: int = options.option(3, 1, 1000)

    options: Options

    def reset(self) -> None:
        """Forget the stream."""
        self._turn = 0
        self._open = self._spoke = self._called = False
        self._empty = self._signs = self._turns = self._recent = 0
        self._spoken = self._quiet = self._calls = self._hands = 0
        self._talker = False
        self._spells = Spells(limit(self.options.caution))
        self._share = Climb(MARGIN, self.options.warm_up, limit(self.options.caution))

    def update(self, output: Output) -> Verdict:
        """Judge the next output, and the turn that it ends."""
        turn = 0 if output.turn is None else fingerprint(output.turn) + 1
        words = _speaks(output.text)
        before = self._end() if self._open and turn != self._turn else 0.0
        before = 0.0 if words else before  # whoever speaks is not to blame for the turn before
        self._turn, self._open = turn, True
        self._spoke, self._called = self._spoke or words, self._called or bool(output.calls)
        said = words or bool(output.calls)
        self._empty = 0 if said else self._empty + 1
        self._signs = 0 if said else self._signs + _signs(output.text)
        if self._turns < self.options.warm_up:
            self._calls += len(output.calls)
            self._hands += sum(1 for call in output.calls if not HANDS.isdisjoint(map(str, call.args)))
        ended = turn == 0 or not output.calls
        return self._verdict(max(before, self._end() if ended else 0.0))

    def _end(self) -> float:
        """Close the turn; the score of the worse rule when the turn was silent, otherwise nothing to complain of."""
        quiet = self._called and not self._spoke
        self._share.take(self._surprise() if quiet else 0.0)
        self._spells.update(quiet)
        self._turns += 1
        self._recent = (2 * self._recent + quiet) % 2**WIDE
        if self._turns <= self.options.warm_up:
            self._spoken, self._quiet = self._spoken + (not quiet), self._quiet + quiet
            self._talker = self._talker or self._spoken >= max(SPOKEN, TALKER * self._turns)
        self._open = self._spoke = self._called = False
        return self._judge(self._share.score) if quiet else 0.0

    def _surprise(self) -> float:
        """Return what a silent turn counts: less than one where it goes on from another with a greater chance."""
        goes_on = 1.0 - 1.0 / self._spells.mean
        return min(1.0, self._share.normal / goes_on) if self._recent & 1 and goes_on else 1.0

    def _judge(self, score: float) -> float:
        """Return the score of a silent turn."""
        worse = max(0.0 if self._by_hand else score, self._gross)
        if worse >= 1:
            self._spells.tell()
        return worse

    @property
    def _by_hand(self) -> bool:
        """Whether the start was often silent over work by hand."""
        often = self._quiet >= QUIET * min(self._turns, self.options.warm_up)
        return often and HANDS_SHARE * self._hands > self._calls

    @property
    def _gross(self) -> float:
        """1 or more where a stream that speaks has been silent for too long, otherwise 0."""
        if not self._talker:
            return 0.0
        known = self._by_hand and self._spells.share >= QUIET  # not by the silence that is judged
        long = self._spells.beyond(HANDS_LEAST if known else GROSS)
        return long if long >= 1 else 0.0

    def _verdict(self, score: float) -> Verdict:
        empty = (self._empty - self._signs) / self.options.empty + self._signs / SIGNS
        if empty >= max(1.0, score):
            why = f"{self._empty} replies in a row with neither words nor tool calls"
            hint = f"Your last {self._empty} replies were empty. Say in one sentence what you found, even if nothing."
            return Verdict(self.name, Level.TRIP, round(empty, 3), why, hint, gate=True)
        score = round(score, 3)
        if Level.of(score) is Level.PASS:
            return silent(self.name, max(score, round(min(empty, 0.79), 3)))
        recent = f"{self._recent.bit_count()} of the last {min(self._turns, WIDE)} turns"
        turns = f"{WIDE} turns in a row" if min(self._spells.length, self._recent.bit_count()) >= WIDE else recent
        why = f"{turns} called tools and ended without a word; normal here is {100 * self._share.normal:.0f} % at most"
        hint = (
            f"{turns} called tools and ended without a word. Say in one sentence what came of the calls, even if it is "
            "that nothing has changed."
        )
        return Verdict(self.name, Level.of(score), score, why, hint, gate=self._gross >= 1)

    def state(self) -> dict[str, Json]:
        """Return the memory: a few numbers."""
        counts = (self._empty, self._signs, self._turns, self._spoken, self._quiet, self._calls, self._hands)
        return {
            "version": self.VERSION,
            "turn": self._turn,
            "flags": 8 * self._talker + 4 * self._open + 2 * self._spoke + self._called,
            "recent": self._recent,
            "counts": [min(count, 2**40) for count in counts],
            "spells": self._spells.state(),
            "share": self._share.state(),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        check_version(state, self.VERSION)
        self._turn = integer(state, "turn")
        flags, counts = integer(state, "flags", 15), integers(state, "counts", 7)
        if len(counts) != 7 or counts[1] > counts[0]:
            raise ValueError("'counts' should hold seven numbers, and no more signs than empty replies")
        self._talker, self._open, self._spoke, self._called = (bool(flags & bit) for bit in (8, 4, 2, 1))
        self._recent = integer(state, "recent", 2**WIDE - 1)
        self._empty, self._signs, self._turns, self._spoken, self._quiet, self._calls, self._hands = counts
        self._spells.load(nested(state, "spells"))
        load_climb(self._share, state, "share")


def _speaks(text: str) -> bool:
    """Return whether there is a letter or a digit near either end of a text of any size."""
    return any(c.isalnum() for part in (text[:10_000], text[-2_000:]) for c in part)


def _signs(text: str) -> bool:
    """Return whether there is such a sign near either end of a text of any size."""
    return bool(_SIGN.search(text[:10_000]) or _SIGN.search(text[-2_000:]))
