"""Streams shown to a panel: when each guard first trips, on a stream as it is and after an injected collapse."""

from __future__ import annotations

import importlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bases import Stream
from collapses import KINDS, Kind

from guards.base import Level, Verdict
from guards.panel import Panel, guard_class
from guards.replay import Row

PIECE = 400
"""Characters of a streamed text at a time."""
ONSETS = (24, 40, 60, 90, 120)
AT_LEAST = 60
"""Outputs after the onset that are looked at, so that a late detection is told from none."""


def panel(names: Sequence[str]) -> Panel:
    """Return a panel of these guards, or of all; one that is not registered yet is named as `module:Class`."""
    return Panel([_class(name)() for name in names]) if names else Panel.standard()


def _class(name: str) -> type[Any]:
    module, _, attribute = name.partition(":")
    found: type[Any] = getattr(importlib.import_module(module), attribute) if attribute else guard_class(name)
    return found


@dataclass(slots=True)
class Judged:
    """The first trip of each guard: its row and its reason."""

    rows: int = 0
    first: dict[str, tuple[int, str]] = field(default_factory=dict)

    @property
    def earliest(self) -> tuple[int, str] | None:
        """The row of the first trip and its guard."""
        return min(((row, guard) for guard, (row, _) in self.first.items()), default=None)


def judge(rows: Sequence[Row], of: Panel, start: int = 0, until: frozenset[str] | None = None) -> Judged:
    """Show rows to a panel; stop behind the first trip of a guard in `until`."""
    done = Judged()
    for number, row in enumerate(rows, start):
        done.rows += 1
        for verdict in _said(row, of):
            if verdict.level is Level.TRIP and verdict.guard not in done.first:
                done.first[verdict.guard] = (number, verdict.reason)
        if until and until & done.first.keys():
            break
    return done


def _said(row: Row, of: Panel) -> list[Verdict]:
    said = list(of.update(row.output))
    return [*said, *of.observe(row.results)] if row.results else said


def alone(row: Row, names: Sequence[str]) -> Judged:
    """Judge an output that nothing came before, as it streams and when it is whole."""
    of = panel(names)
    watch, text = of.watch(), row.output.text
    done = Judged()
    for start in range(0, min(len(text), 40_000), PIECE):
        if verdict := watch.feed(text[start : start + PIECE]):
            done.first[verdict.guard] = (0, verdict.reason)
            break
    done.first |= judge([row], of).first
    return done


@dataclass(frozen=True, slots=True)
class Case:
    """One injected collapse: its kind, its host, and what the panel said."""

    kind: str
    base: str
    before: tuple[str, ...]
    delay: int | None
    guard: str
    others: tuple[str, ...]
    reason: str = ""


@dataclass(slots=True)
class Host:
    """A healthy stream with the panel's memory at the onset, so that the rows before it are judged once."""

    stream: Stream
    onset: int
    names: Sequence[str]
    before: Judged
    memory: Mapping[str, Mapping[str, Any]]
    control: Judged

    @classmethod
    def of(cls, stream: Stream, names: Sequence[str], seed: int, most: int) -> Host:
        """Return a host with a seeded onset; `control` is what the panel says when no collapse comes."""
        room = most if len(stream.rows) >= most + ONSETS[0] else len(stream.rows) // 2
        fits = [onset for onset in ONSETS if onset <= len(stream.rows) - room] or [ONSETS[0]]
        onset = random.Random(f"{seed} {stream.name}").choice(fits)
        watched = panel(names)
        before = judge(stream.rows[:onset], watched)
        memory = watched.state()
        return cls(stream, onset, names, before, memory, judge(stream.rows[onset : onset + most], watched, onset))

    def room(self) -> int:
        """Outputs from the onset on."""
        return len(self.stream.rows) - self.onset

    def suffer(self, name: str, seed: int, held_out: bool) -> Case:
        """Inject a kind of collapse and say when a guard that may name it trips.

        A trip that comes without the collapse too, as early, is no detection.
        """
        kind = KINDS[name]
        stop = self.onset + max(AT_LEAST, kind.within)
        rng = random.Random(f"{seed} {name} {self.stream.name}")
        rows = kind.inject(self.stream.rows[:stop], self.onset, rng, held_out=held_out)
        watched, before = panel(self.names), self.before
        if rows[: self.onset] == list(self.stream.rows[: self.onset]):
            watched.load(self.memory)
        else:
            before = judge(rows[: self.onset], watched)
        done = self._after(rows, kind, watched)
        found = self._named(done, kind)
        others = tuple(sorted(guard for guard in done.first if guard not in kind.guards and self._new(guard, done)))
        row, guard = found or (0, "")
        delay = None if found is None else row - self.onset + 1
        reason = done.first[guard][1] if guard else ""
        return Case(name, self.stream.name, tuple(sorted(before.first)), delay, guard, others, reason)

    def _after(self, rows: Sequence[Row], kind: Kind, watched: Panel) -> Judged:
        credible = frozenset(guard for guard in kind.guards if guard not in self.control.first)
        return judge(rows[self.onset :], watched, self.onset, credible or None)

    def _named(self, done: Judged, kind: Kind) -> tuple[int, str] | None:
        return min(((done.first[g][0], g) for g in done.first.keys() & kind.guards if self._new(g, done)), default=None)

    def _new(self, guard: str, done: Judged) -> bool:
        return guard not in self.control.first or done.first[guard][0] < self.control.first[guard][0]
