"""The nouns of the picture: frozen, without behaviour beyond making the next one.

heartbeat → Occurrence → Prompt → Reply → Verdict → Result → Run.  A verdict is the guards' own noun.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta
from typing import Any, Literal, TypeAlias
from zoneinfo import ZoneInfo

from guards import Verdict

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Finish: TypeAlias = Literal["stop", "length", "guard", "deadline", "cancelled"]
Stop: TypeAlias = Callable[[str], bool]
"""Called with each piece of text as it comes; True ends the generation."""


class Outcome(enum.StrEnum):
    """How a run ended; exactly one, and `ok` only when what the heartbeat expects really happened."""

    OK = "ok"
    NOTHING_TO_DO = "nothing_to_do"
    TRIPPED = "tripped"
    FAILED = "failed"
    DENIED = "denied"
    OVER_BUDGET = "over_budget"
    TIMED_OUT = "timed_out"
    MODEL_UNAVAILABLE = "model_unavailable"
    INTERRUPTED = "interrupted"
    DELIVERY_FAILED = "delivery_failed"


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one run; None is no limit."""

    steps: int | None = 12
    tokens: int | None = 20_000
    seconds: float | None = 600.0
    usd: float | None = 0.05


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a heartbeat is due: exactly one of `every`, `cron` and `at`."""

    every: timedelta | None = None
    cron: str | None = None
    at: datetime | None = None
    timezone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    active_hours: tuple[time, time] | None = None
    misfire: Literal["skip", "run_once", "all"] = "run_once"
    grace: timedelta = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A recurring job, as its file in the vault says.

    `thread` is None for a fresh context each time; `expect` names what must succeed, `facts` whose results are the only
    numbers and names that may be stated; `acknowledge` lists the texts that are the same each time by design.
    """

    name: str
    schedule: Schedule
    instruction: str
    thread: str | None
    models: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    expect: tuple[str, ...] = ()
    budget: Budget = Budget()
    paused: bool = False
    facts: tuple[str, ...] = ()
    acknowledge: tuple[str, ...] = ()

    @property
    def stream(self) -> str:
        """What guards know its outputs by: its thread; for a fresh context each time a name that no thread can have."""
        return f"{self.name}#" if self.thread is None else self.thread


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One due time of a heartbeat.  `scheduled_for` is aware and in UTC; `manual` ones were asked for by a person."""

    id: int
    heartbeat: str
    scheduled_for: datetime
    manual: bool = False


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told of a tool: JSON Schema parameters, and the limits that the toolbox holds it to."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    timeout_seconds: float = 30.0
    max_chars: int = 8_000
    untrusted: bool = True


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model made it; `args` is always an object, never a string of JSON."""

    id: str
    name: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came back.  A failure is data: `ok=False` and a text that the model can act on."""

    call: ToolCall
    ok: bool
    text: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a thread.

    `token_ids` are the exact ids that a local model sampled for an assistant message (`token_model` says with which
    model file); they are replayed as they were, because text that is tokenised again does not always come out the same.
    `failed` marks the result of a tool call that did not work, for wire formats that have a place for it.
    """

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    name: str | None = None
    token_ids: tuple[int, ...] | None = None
    token_model: str | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything a model is shown, in order; `begins` is where this run's own messages begin.

    Within a thread it only ever grows at its end, but for a compaction or a quarantine.
    """

    thread: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    begins: int = 0

    @property
    def turn(self) -> tuple[Message, ...]:
        """This run's own messages."""
        return self.messages[self.begins :]

    def plus(self, *messages: Message) -> Prompt:
        return replace(self, messages=self.messages + messages)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call: `prompt` counts all that was sent, `reused` the part that needed no new evaluation."""

    prompt: int = 0
    reused: int = 0
    completion: int = 0
    usd: float = 0.0
    seconds: float = 0.0

    def plus(self, other: Usage) -> Usage:
        return Usage(
            self.prompt + other.prompt,
            self.reused + other.reused,
            self.completion + other.completion,
            self.usd + other.usd,
            self.seconds + other.seconds,
        )


@dataclass(frozen=True, slots=True)
class Sample:
    """What a local model really sampled, for training: ids and the raw log-probability of each (softmax at T = 1).

    `model`, `tokenizer` and `template` are SHA-256 hashes; `sampling` holds the settings that were in force.
    """

    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    model: str
    tokenizer: str
    template: str
    sampling: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said in a step.  `sample` is None where the backend does not show tokens."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    finish: Finish = "stop"
    usage: Usage = Usage()
    model: str = ""
    sample: Sample | None = None
    note: str = ""

    def message(self) -> Message:
        ids, made_by = (self.sample.completion_ids, self.sample.model) if self.sample else (None, None)
        return Message("assistant", self.text, self.calls, token_ids=ids, token_model=made_by)


@dataclass(frozen=True, slots=True)
class Step:
    """One model call, its verdicts and the tool calls that it caused.

    `sent` are the messages that were new to the model in this step, or with `anew` its whole prompt; `tools` is what it
    was offered.  `withheld` says that a guard kept the reply from everything after it, `rung` what recovery did next,
    `hint` what the next attempt was told.  `edited_by_breaker` says that the reply is not what the model sampled, so
    that training must leave it out.
    """

    number: int
    started_at: datetime
    sent: tuple[Message, ...]
    reply: Reply
    verdicts: tuple[Verdict, ...] = ()
    results: tuple[ToolResult, ...] = ()
    withheld: bool = False
    hint: str = ""
    tools: tuple[ToolSpec, ...] = ()
    edited_by_breaker: bool = False
    rung: str = ""
    anew: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """The execution of an occurrence; `outcome` is None while it goes on."""

    id: str
    occurrence: Occurrence
    thread: str
    started_at: datetime
    ended_at: datetime | None = None
    outcome: Outcome | None = None
    reason: str = ""
    steps: int = 0
    usage: Usage = Usage()
    model: str = ""
    commit: str | None = None
    said: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a person did to something that a run wrote to the vault, and why, in the person's words.

    `commit` is the one that was taken back, or the proposal's; `patch` is what the run had changed in `paths`.
    """

    at: datetime
    person: str
    what: Literal["taken_back", "rejected", "approved"]
    run: str
    commit: str
    paths: tuple[str, ...]
    why: str
    patch: str = ""
