"""All guards of one stream together: one call for a reply, one for its tool results, one memory.

The panel judges; it does not know what a trip leads to.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from guards.base import CallResult, Guard, Json, Level, Output, Verdict, Watch, gravest, silent
from guards.baselines import Baselines, load_each
from guards.promise import CAUTION
from guards.writing import Writing, shared
from guards.written import declared

GUARDS: dict[str, str] = {
    "loop": "guards.loop:Loop",
    "repeat": "guards.repeat:Repeat",
    "template": "guards.template:Template",
    "opener": "guards.tics:Opener",
    "sign_off": "guards.tics:SignOff",
    "catchphrase": "guards.catchphrase:Catchphrase",
    "vocabulary": "guards.vocabulary:Vocabulary",
    "fixation": "guards.fixation:Fixation",
    "spiral": "guards.spiral:Spiral",
    "markup": "guards.markup:Markup",
    "silence": "guards.silence:Silence",
    "claims": "guards.claims:Claims",
    "tools": "guards.tools:Tools",
    "expect": "guards.expect:Expect",
    "facts": "guards.facts:Facts",
    "budget": "guards.budget:Budget",
}
"""Every guard by name, imported when it is first asked for."""


def guard_class(name: str) -> type[Any]:
    """Return the class of a guard; raises ValueError with the choices when there is none."""
    target = GUARDS.get(name)
    if target is None:
        raise ValueError(f"there is no guard {name[:40]!r}; it should be one of {', '.join(GUARDS)}")
    module, _, attribute = target.partition(":")
    found: type[Any] = getattr(importlib.import_module(module), attribute)
    return found


def worst(verdicts: Iterable[Verdict]) -> Verdict | None:
    """Return the most serious verdict, the highest score first among equals; None of none."""
    return max(verdicts, key=lambda v: (v.level, v.score), default=None)


class Panel:
    """The guards of one stream.

    >>> panel = Panel.standard({"budget": {"steps": 2}})
    >>> verdicts = panel.update(Output("The lamp is lit and the harbour is calm."))
    >>> worst(verdicts).level.name
    'PASS'
    >>> again = Panel.standard({"budget": {"steps": 2}})
    >>> again.load(panel.state())
    >>> again.state() == panel.state()
    True
    """

    def __init__(
        self,
        guards: Sequence[Guard],
        acknowledged: Iterable[str] = (),
        written: Mapping[str, object] | None = None,
    ) -> None:
        """Take guards in the order of their verdicts, and the texts that are answers by design.

        `written` names the arguments of tools that hold text for a person ({"vault": ["text"]}): that text is judged
        too, as a stream of its own, and each of the two streams has half of the promise.  Raises ValueError.
        """
        self.written = declared(written or {})
        guards = [shared(guard) for guard in guards] if self.written else guards
        self._names = [guard.name for guard in guards]
        self._gates = [guard for guard in guards if guard.kind == "gate"]
        self._baselines = Baselines([guard for guard in guards if guard.kind != "gate"])
        self._acknowledged = frozenset(text.strip() for text in acknowledged)
        self._writing = Writing(guards, self.written, self._acknowledged) if self.written else None
        self._unreadable: list[Verdict] = []

    @property
    def guards(self) -> tuple[Guard, ...]:
        """Every guard in force."""
        by_name = {guard.name: guard for guard in (*self._gates, *self._baselines.guards)}
        return tuple(by_name[name] for name in self._names)

    @classmethod
    def standard(
        cls,
        options: Mapping[str, Mapping[str, Any]] | None = None,
        acknowledged: Iterable[str] = (),
        caution: float = CAUTION,
        without: Collection[str] = (),
        written: Mapping[str, object] | None = None,
    ) -> Panel:
        """Return every guard of the registry but those `without`, with these options by guard name.

        `caution` is how many years of an agent may bring one false trip of the sequential tests together; `written`
        is as for the constructor.  Raises ValueError with one sentence for an unknown guard, an unknown option or a bad
        value.
        """
        given = {name: dict(table) for name, table in (options or {}).items()}
        for name in (*given, *without):
            guard_class(name)
        guards = []
        for name in GUARDS:
            made = guard_class(name)
            common = {"caution": caution} if "caution" in made.Options.__dataclass_fields__ else {}
            if name not in without:
                guards.append(made(**{**common, **given.get(name, {})}))
        return cls(guards, acknowledged, written)

    def update(self, output: Output) -> tuple[Verdict, ...]:
        """Judge the next output: one verdict of each guard, after a warning for each memory that could not be read.

        A text that was declared an acknowledgement is shown only to guards that do not judge words.
        """
        said, self._unreadable = self._unreadable, []
        if self._acknowledged and not output.calls and output.text.strip() in self._acknowledged:
            return (*said, *self._ordered([g.update(output) for g in self._gates if not g.judges_words]))
        verdicts = self._ordered([g.update(output) for g in self._gates], self._baselines.update(output))
        return (*said, *(verdicts if self._writing is None else self._with_written(verdicts, self._writing, output)))

    def again(self, output: Output) -> None:
        """Take in an output that was judged before; what the next `update` has to say of a memory it still says."""
        unreadable, self._unreadable = self._unreadable, []
        self.update(output)
        self._unreadable = unreadable

    def forget(self, guard: str) -> None:
        """Forget what one guard remembers, of other models and of what is written too."""
        unreadable = self._unreadable
        self.load({name: kept for name, kept in self.state().items() if guard != name.partition("/")[0]})
        self._unreadable = unreadable

    def _with_written(self, verdicts: Iterable[Verdict], writing: Writing, output: Output) -> tuple[Verdict, ...]:
        """Return the graver of what each guard says of an output's words and of those in its calls."""
        if self._baselines.began:
            writing.reset()
        of_written = writing.update(output)
        if not of_written:
            return tuple(verdicts)
        return tuple(gravest(verdict, of_written.get(verdict.guard, verdict)) for verdict in verdicts)

    def observe(self, results: Sequence[CallResult]) -> tuple[Verdict, ...]:
        """Hear what came back for the calls of the last output: one verdict of each guard."""
        return self._ordered([g.observe(results) for g in self._gates], self._baselines.observe(results))

    def _ordered(self, gates: Iterable[Verdict], sequential: Iterable[Verdict] = ()) -> tuple[Verdict, ...]:
        by_name = {verdict.guard: verdict for verdict in (*gates, *sequential)}
        return tuple(by_name.get(name) or silent(name) for name in self._names)

    def watch(self) -> Watch:
        """Return one eye on the next output's stream for all guards that have one."""
        guards = (*self._gates, *self._baselines.guards)
        return _Watches([watch for guard in guards if (watch := guard.watch()) is not None])

    def reset(self) -> None:
        """Forget the stream."""
        self._unreadable = []
        for guard in self._gates:
            guard.reset()
        self._baselines.reset()
        if self._writing is not None:
            self._writing.reset()

    def state(self) -> dict[str, dict[str, Json]]:
        """Return the memory of every guard by name; those of other models and of what is written have longer names."""
        kept = {guard.name: guard.state() for guard in self._gates} | self._baselines.state()
        return kept if self._writing is None else kept | self._writing.state()

    def load(self, states: Mapping[str, Mapping[str, Any]]) -> None:
        """Continue from `state()`.

        A guard that has no entry starts fresh; one whose entry cannot be read (damaged, or of another version) starts
        fresh too, and the next `update` says so with a warning.
        """
        self.reset()
        self._unreadable = load_each(self._gates, states) + self._baselines.load(states)
        if self._writing is not None:
            self._unreadable += self._writing.load(states)


class _Watches(Watch):
    def __init__(self, watches: Sequence[Watch]) -> None:
        self._watches = watches

    def feed(self, piece: str) -> Verdict | None:
        """Return the first trip."""
        for watch in self._watches:
            verdict = watch.feed(piece)
            if verdict is not None and verdict.level is Level.TRIP:
                return verdict
        return None
