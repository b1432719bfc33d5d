"""What a guard is: the nouns it speaks in and the one contract that it keeps.

A guard is a pure detector over a stream of outputs.  It has no clock, no files and no thoughts about recovery: time
comes in with the output, and what happens after a trip is decided elsewhere.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, TypeAlias

from guards import options
from guards.arguments import plain_arguments, plain_name

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None


class Level(enum.IntEnum):
    """How serious a verdict is; ordered, so that the worst of several is their maximum."""

    PASS = 0
    WARN = 1
    TRIP = 2

    def __str__(self) -> str:
        return self.name.lower()

    @classmethod
    def of(cls, score: float) -> Level:
        """Return how serious a score is, in units of a guard's own limit: it trips from 1, and warns from 0.8."""
        return cls.TRIP if score >= 1 else cls.WARN if score >= 0.8 else cls.PASS


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that an output asks for.

    Whatever a transcript holds in their place, `name` is a text and `args` an object of JSON values afterwards.
    """

    name: str
    args: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", plain_name(self.name))
        object.__setattr__(self, "args", plain_arguments(self.args))


@dataclass(frozen=True, slots=True)
class CallResult:
    """What came back for one call, in the order of the calls."""

    ok: bool
    text: str = ""


@dataclass(frozen=True, slots=True)
class Spend:
    """What one output cost.  `seconds` is the model's own time plus that of the tools which the output started."""

    tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Output:
    """One reply of a stream: what was said and what was asked for.

    `turn` names the run that an output belongs to; outputs with `turn=None` are each a turn of their own.  `ts` is in
    seconds since the epoch.  `offered` holds the names of the tools that could be called, None when that is not known.
    `model` and `prompt` (any name or hash of the standing instructions) say whose stream it is: what was normal for
    one model and prompt is not what is normal for another.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    turn: str | None = None
    ts: float | None = None
    model: str = ""
    spend: Spend = Spend()
    offered: frozenset[str] | None = None
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a guard says of an output.

    `score` is measured in units of the guard's own limit: 1.0 is where it trips.  `reason` is for a person and names
    the evidence; `hint` is for the model.  `outcome` is what a run ends as if nothing helps: only "tripped" is a
    collapse that opens a breaker.  `evidence` holds up to 5 exact spans of the text that carry the collapse, so that
    earlier outputs with the same can be found; untrusted, and empty where no words do.  `gate` says that no statistics
    were needed: such a trip of a sequential guard is not open to a second opinion.
    """

    guard: str
    level: Level = Level.PASS
    score: float = 0.0
    reason: str = ""
    hint: str = ""
    outcome: Literal["tripped", "failed", "over_budget", "timed_out"] = "tripped"
    evidence: tuple[str, ...] = ()
    gate: bool = False


@lru_cache(maxsize=2048)
def silent(guard: str, score: float = 0.0) -> Verdict:
    """Return the verdict of a guard that lets an output pass: the same object again, as most outputs need a dozen."""
    return Verdict(guard, Level.PASS, score)


def gravest(*verdicts: Verdict) -> Verdict:
    """Return the most serious of one guard's verdicts, the highest score first; a gate's, if one as serious is."""
    worst = verdicts[0]
    for other in verdicts:
        if other.level > worst.level or (other.level is worst.level and other.score > worst.score):
            worst = other
    gate = worst.level > Level.PASS and any(v.gate for v in verdicts if v.level is worst.level)
    return replace(worst, gate=True) if gate and not worst.gate else worst


class Watch(ABC):
    """A guard's eye on an output while it is being written."""

    @abstractmethod
    def feed(self, piece: str) -> Verdict | None:
        """Take the next piece of text; return a trip as soon as there is one, otherwise None."""


class Guard(ABC):
    """One detector with its options as constructor arguments and its memory as JSON.

    The contract, checked for every guard in the registry: equal streams give equal verdicts; `reset()` equals a new
    guard; `load(state())` in mid-stream changes no later verdict; the state's size does not grow with the stream; no
    text raises.
    """

    name: ClassVar[str]
    kind: ClassVar[Literal["gate", "sequential"]]
    tests: ClassVar[int] = 0
    """How many sequential tests it runs side by side, each with its share of the promise (guards/promise.py)."""
    judges_words: ClassVar[bool] = True
    """Whether it is about what is said; texts that were declared acknowledgements are not shown to such a guard."""
    judges_deeds: ClassVar[bool] = False
    """Whether it holds what is said against what is called: words alone tell such a guard nothing."""
    Options: ClassVar[type[Any]]
    """A frozen dataclass of `guards.options.option` fields."""
    options: Any

    def __init__(self, **given: object) -> None:
        """Take the options by name; raises ValueError, one sentence, on one that is unknown or out of its range."""
        self.options = options.read(self.Options, self.name, given)
        self.reset()

    @abstractmethod
    def reset(self) -> None:
        """Forget the stream; every attribute that is not an option is made here."""

    @abstractmethod
    def update(self, output: Output) -> Verdict:
        """Judge the next output of the stream, before anything acts on it."""

    def observe(self, results: Sequence[CallResult]) -> Verdict:
        """Hear what came back for the calls of the last output."""
        return silent(self.name)

    def watch(self) -> Watch | None:
        """Return an eye on the next output's stream, if this guard can stop it early."""
        return None

    @abstractmethod
    def state(self) -> dict[str, Json]:
        """Return the memory of the stream, of constant size."""

    @abstractmethod
    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from a memory that `state()` gave."""
