"""Whose stream it is: what was normal for one model and prompt is not what is normal for another.

Keeps one set of sequential guards for each of the last few (model, prompt).  A new one starts fresh, under the guards'
own absolute limits; for a while its outputs are also compared with the start of the one before, in shadow: what trips
there is told as a warning, so that a change of model neither trips by itself nor launders a collapse unseen.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from guards.base import CallResult, Guard, Json, Level, Output, Verdict
from guards.memory import check_version, integer, integers
from guards.text import fingerprint

KEPT, STALE = 3, 200
"""Sets that are remembered, because a route of models goes back and forth; one that was not used for so many outputs
may be forgotten for a new one."""
MORE = "more"
"""The set that further models share while all others are in use, so that no crowd of models hides from the guards."""
SHADOWED = 200
"""Outputs of a new model that are compared with the start of the one before."""
OWN = "panel"
"""The name under which it keeps its own memory, among those of the guards."""
_LONGEST_NAME = 80


class Baselines:
    """The sequential guards of one stream, a set of them for each model and prompt that spoke lately."""

    VERSION = 2

    def __init__(self, guards: Sequence[Guard]) -> None:
        self._given = tuple(guards)
        self.reset()

    @property
    def guards(self) -> tuple[Guard, ...]:
        """Those of the model and prompt that spoke last."""
        return self._sets[self._key]

    def reset(self) -> None:
        """Forget every model's stream."""
        for guard in self._given:
            guard.reset()
        self._key = self._model = self._before = ""
        self._used: dict[str, int] = {}
        self._outputs = 0
        self._sets: dict[str, tuple[Guard, ...]] = {"": self._given}
        self._shadow: tuple[Guard, ...] = ()
        self._left = 0
        self.began = False
        """Whether the last output began the stream of a model and prompt that is new here."""

    def update(self, output: Output) -> tuple[Verdict, ...]:
        """Judge the next output by its own model's start, and for a while by that of the one before."""
        self.began = False
        if output.model or output.prompt:
            self._turn_to(output.model, f"{fingerprint(f'{output.model} {output.prompt}'):08x}")
        if self._key:
            self._outputs += 1
            self._used[self._key] = self._outputs
        verdicts = tuple(guard.update(output) for guard in self.guards)
        self._left = max(0, self._left - 1)
        if not self._left:
            self._shadow = ()
        return self._with(verdicts, [guard.update(output) for guard in self._shadow])

    def observe(self, results: Sequence[CallResult]) -> tuple[Verdict, ...]:
        """Hear what came back for the calls of the last output."""
        verdicts = tuple(guard.observe(results) for guard in self.guards)
        return self._with(verdicts, [guard.observe(results) for guard in self._shadow])

    def _turn_to(self, model: str, key: str) -> None:
        key = key if key in self._sets or not self._key else self._room_for(key)
        if key == self._key:
            return
        if not self._key:
            self._sets = {key: self.guards}
        elif key in self._sets:
            self._shadow, self._left = (), 0
        else:
            self._shadow, self._left = tuple(map(_twin, self.guards)), SHADOWED
            self._sets[key] = tuple(map(fresh, self.guards))
            self.began = True
        self._key, self._before, self._model = key, self._model, model[:_LONGEST_NAME]

    def _room_for(self, key: str) -> str:
        """Return the key itself when there is room for its own set, perhaps in place of a stale one."""
        own = [other for other in self._sets if other != MORE]
        if len(own) < KEPT:
            return key
        oldest = min(own, key=lambda other: self._used.get(other, 0))
        if oldest == self._key or self._outputs - self._used.get(oldest, 0) < STALE:
            return MORE
        del self._sets[oldest]
        self._used.pop(oldest, None)
        return key

    def _with(self, verdicts: tuple[Verdict, ...], shadows: Sequence[Verdict]) -> tuple[Verdict, ...]:
        if not shadows:
            return verdicts
        return tuple(
            self._told(shadow) if shadow.level is Level.TRIP and verdict.level is Level.PASS else verdict
            for verdict, shadow in zip(verdicts, shadows, strict=True)
        )

    def _told(self, trip: Verdict) -> Verdict:
        whose = f"the start of {self._before!a}" if self._before != self._model else "the start under another prompt"
        why = f"against {whose}, the model before this one: {trip.reason}"
        return Verdict(trip.guard, Level.WARN, min(trip.score, 0.99), why, trip.hint, evidence=trip.evidence)

    def state(self) -> dict[str, dict[str, Json]]:
        """Return the memory by name: those in force under the guards' names, the others under longer ones."""
        kept = {guard.name: guard.state() for guard in self.guards}
        if not self._key:
            return kept
        others = sorted(key for key in self._sets if key != self._key)
        for key in others:
            kept |= {f"{guard.name}/{key}": guard.state() for guard in self._sets[key]}
        kept |= {f"{guard.name}/shadow": guard.state() for guard in self._shadow}
        kept[OWN] = {
            "version": self.VERSION,
            "key": self._key,
            "others": [*others],
            "left": self._left,
            "model": self._model,
            "before": self._before,
            "outputs": self._outputs,
            "used": [self._used.get(key, 0) for key in (self._key, *others)],
        }
        return kept

    def load(self, states: Mapping[str, Mapping[str, Any]]) -> list[Verdict]:
        """Continue from `state()`; return a warning for each memory in force that could not be read."""
        self.reset()
        unread = load_each(self.guards, states)
        try:
            self._load_own(states)
        except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as problem:
            self._sets, self._key, self._shadow, self._left = {"": self.guards}, "", (), 0
            unread.append(unreadable(self.guards[0].name if self.guards else OWN, problem))
        return unread

    def _load_own(self, states: Mapping[str, Mapping[str, Any]]) -> None:
        if OWN not in states:
            return
        own = states[OWN]
        check_version(own, self.VERSION)
        key, others, model, before = own["key"], own["others"], own["model"], own["before"]
        names = [key, model, before, *others]
        if not all(isinstance(name, str) and len(name) <= _LONGEST_NAME for name in names) or len(others) > KEPT:
            raise ValueError(f"{OWN!r} should name the models that spoke")
        used = integers(own, "used", 1 + len(others))
        if len(used) != 1 + len(others):
            raise ValueError(f"{OWN!r} should say when each model spoke last")
        self._outputs, self._used = integer(own, "outputs"), dict(zip((key, *others), used, strict=True))
        self._left = integer(own, "left", SHADOWED)
        active = self.guards
        self._sets = {other: _remembered(active, states, other) for other in others} | {key: active}
        self._key, self._model, self._before = key, model, before
        self._shadow = _remembered(active, states, "shadow") if self._left else ()


def load_each(guards: Sequence[Guard], states: Mapping[str, Mapping[str, Any]], suffix: str = "") -> list[Verdict]:
    """Load each guard that has an entry; one that cannot be read starts fresh, and a warning for it is returned."""
    unread = []
    for guard in guards:
        if guard.name + suffix not in states:
            continue
        try:
            guard.load(states[guard.name + suffix])
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError) as problem:
            guard.reset()
            unread.append(unreadable(guard.name, problem))
    return unread


def unreadable(name: str, problem: Exception) -> Verdict:
    why = f"its memory could not be read and starts fresh: {str(problem)[:100]}"
    return Verdict(name, Level.WARN, 0.0, why, "Go on as before.")


def _remembered(like: Sequence[Guard], states: Mapping[str, Mapping[str, Any]], which: str) -> tuple[Guard, ...]:
    guards = tuple(map(fresh, like))
    load_each(guards, states, f"/{which}")
    return guards


def fresh(guard: Guard) -> Guard:
    """Return a new guard with the same options: `reset` makes every attribute that is not one."""
    new = copy.copy(guard)
    new.reset()
    return new


def _twin(guard: Guard) -> Guard:
    twin = fresh(guard)
    twin.load(guard.state())
    return twin
