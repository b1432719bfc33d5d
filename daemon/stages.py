"""What each stage of the picture promises to the loop.  The loop and recovery know these and nothing more concrete."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from daemon.types import (
    Heartbeat,
    Message,
    Occurrence,
    Prompt,
    Reply,
    Run,
    Step,
    Stop,
    ToolCall,
    ToolResult,
    ToolSpec,
)


class Clock(Protocol):
    """Time as an argument, so that a test can hold it."""

    def now(self) -> datetime:
        """Return the present moment, aware, in UTC."""

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class Context(Protocol):
    """What the model sees."""

    async def gather(self, heartbeat: Heartbeat, occurrence: Occurrence, tools: Sequence[ToolSpec]) -> Prompt:
        """Return the prompt of a new run: instructions, the thread so far, then the task as its last message."""

    def heard(self, results: Sequence[ToolResult]) -> tuple[Message, ...]:
        """Return tool results as messages, marked as data."""

    def hint(self, text: str) -> Message:
        """Return a guard's hint as a message."""

    async def quarantine(self, prompt: Prompt, evidence: Sequence[str]) -> Prompt:
        """Return the prompt without the agent's own texts that hold these spans (without spans: its latest repeats).

        It stays so for later runs of the thread.  Facts stay: what tools and people said; the history keeps all.
        """


class Model(Protocol):
    """Who answers.  One instance serves every thread; calls for one thread never overlap."""

    name: str

    async def reply(self, prompt: Prompt, *, stop: Stop, seconds: float) -> Reply:
        """Answer within `seconds`; `stop` sees each piece of text and may end it (finish "guard").

        A deadline gives what there is so far (finish "deadline").  Cancelling the task stops the model.
        Raises ModelUnavailable when no answer can be had, ModelError when the answer is of no use.
        """

    async def check(self) -> str:
        """Return one line that says what is ready, or raise ModelUnavailable or ConfigError."""

    async def close(self) -> None:
        """Free what it holds; safe to call twice."""


@runtime_checkable
class Adjustable(Protocol):
    """A model that can be asked in another way than the usual one, for one attempt."""

    def loosened(self, avoid: Sequence[str]) -> Model | None:
        """Return the same model, sampled so that it says these texts less easily; None where it cannot be."""


@runtime_checkable
class Routed(Protocol):
    """A route of several models."""

    def another(self) -> Model | None:
        """Return the route without the model that answered last and without any that costs money, None if none is left.

        It comes back to the model that answered last when none of the others can answer.
        """


@runtime_checkable
class Counting(Protocol):
    """A model that knows how much it can be shown, and what a prompt takes of that.  Both may start it."""

    async def window(self) -> int:
        """Return how many tokens one thread may have."""

    async def count(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> int:
        """Return how many tokens these take."""


class Tools(Protocol):
    """The hands of one run."""

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return what this run may call."""

    async def run(self, call: ToolCall) -> ToolResult:
        """Run one call inside its time and size limits; a failure is a result, never an exception."""


class Memory(Protocol):
    """The notes of one run: nothing is in the vault before `keep`."""

    def pending(self) -> int:
        """Return how many notes are written and not kept yet."""

    async def keep(self, run: Run) -> str | None:
        """Commit what the run wrote, once, with trailers that lead to it; return the commit id, None if nothing."""


class Upkeep(Protocol):
    """What is done for a thread before a run."""

    async def __call__(self, heartbeat: Heartbeat, run: Run) -> Run:
        """Make the thread fit again if it has grown too long; the steps that this took are in the run returned."""


class Recorder(Protocol):
    """The trajectory.  What has been awaited here survives a kill."""

    async def begin(self, run: Run, heartbeat: Heartbeat) -> None:
        """Open the record of a run."""

    async def step(self, run: Run, step: Step) -> None:
        """Add a step; a second call with the same number replaces it (its tool results have come)."""

    async def finish(self, run: Run, thread: Sequence[Message]) -> None:
        """Close the record and, in the same transaction, append the run's messages to its thread."""


class Ledger(Protocol):
    """The book of occurrences: unique by (heartbeat, scheduled_for), claimed first, each with an end or a reason.

    All times are aware and in UTC; due times are whole seconds, those of runs by hand are not.
    """

    async def claim(
        self, heartbeat: str, scheduled_for: datetime, *, next_due: datetime | None, manual: bool = False
    ) -> Occurrence | None:
        """Claim a due time and, in the same transaction, write down the next; None if it was claimed before.

        A manual claim leaves the next due time as it is.
        """

    async def miss(self, heartbeat: str, times: Sequence[datetime], reason: str) -> int:
        """Give each of these times that has no row yet a row that says why it did not run; return how many."""

    async def plan(self, heartbeat: str, next_due: datetime | None) -> None:
        """Write down when a heartbeat is due next, None for never again."""

    async def planned(self, heartbeat: str) -> datetime | None:
        """Return what `plan` or the last `claim` wrote."""

    async def recover(self) -> Sequence[Occurrence]:
        """At start: end every open claim of a former process as `interrupted`, and return those."""


class ThreadLog(Protocol):
    """Durable conversations.  The whole history stays; the live part is what a prompt is made of."""

    async def live(self, thread: str) -> tuple[Message, ...]:
        """Return the messages since the last compaction, the summary first."""

    async def fresh(self, thread: str) -> int:
        """Return how many live messages have come since the last compaction; all of them if there was none."""

    async def compact(self, thread: str, summary: Message, keep: int) -> None:
        """Let `summary` stand for all live messages but the last `keep`; the raw ones stay in the history."""

    async def show(self, thread: str, instead: Sequence[Message | None]) -> None:
        """Show these in place of the live messages, one for one; None shows nothing.  The raw ones stay in the history.

        Raises ValueError, and changes nothing, when they are not as many as are live.
        """


class GuardStates(Protocol):
    """Where guards and breakers keep their memory between runs, by (thread, guard)."""

    async def load(self, thread: str) -> Mapping[str, Mapping[str, Any]]:
        """Return {guard: state} of a thread; a breaker's state is under "breaker:<guard>".

        Where only what was heard has been added since, guards are to hear that before they go on.
        """

    async def heard(self, thread: str) -> Sequence[Any]:
        """Return the events that were added since the states were saved, in order.

        One that was forgotten since leaves an event of its own, {"forgot": guard}, where it happened.
        """

    async def add(self, thread: str, since: str, heard: Sequence[Any], states: Mapping[str, Mapping[str, Any]]) -> str:
        """Write, in place of the guards' states, the JSON events that lead to them from the save stamped `since`.

        `states` are the small ones that are written with them.  Returns the stamp of this save.  "" says that nothing
        was written and `save` is called for: another save came between, or much has been heard since the whole states.
        """

    async def glance(self, thread: str) -> tuple[str, Mapping[str, Mapping[str, Any]]]:
        """Return the stamp of the thread's last save, and only the small states: those with a colon in their names.

        The stamp is "" when nothing was saved, or something was forgotten since, by whichever process.
        """

    async def save(self, thread: str, states: Mapping[str, Mapping[str, Any]]) -> str:
        """Write these states together; return the stamp of this save, which no other save ever has.

        One for another model ("<guard>/...") that is not among them is forgotten.  Without any, nothing is written and
        the stamp is "".
        """

    async def forget(self, thread: str | None, guard: str | None) -> int:
        """Forget the states that match (None is any; a guard's name means its states for every model).

        Returns how many there were.
        """

    async def all(self) -> Iterable[tuple[str, str, Mapping[str, Any]]]:
        """Return (thread, guard, state) of everything kept."""


class Observer(Protocol):
    """Someone who hears of things and never changes them.  An observer that fails is logged, not obeyed."""

    def run_finished(self, run: Run) -> None: ...

    def step_done(self, run: Run, step: Step) -> None: ...

    def occurrence_missed(self, heartbeat: str, reason: str, count: int) -> None: ...

    def next_due(self, heartbeat: str, at: datetime | None, lag_seconds: float | None) -> None:
        """Hear when a heartbeat is due next, and how late it was just dispatched; None when nothing was dispatched."""

    def heartbeat_removed(self, heartbeat: str) -> None: ...

    def breaker_changed(self, thread: str, guard: str, state: int) -> None: ...

    def recovered(self, rung: str, result: str) -> None: ...

    def vault_committed(self, kind: str) -> None: ...

    def model_state(self, model: str, up: bool) -> None: ...
