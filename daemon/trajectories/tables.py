"""The rows of `trimtab.db`.  Rows are not the nouns of `daemon.types`: they are how the nouns lie on disk.

Times are text in UTC with microseconds and a Z, so that they sort as they read; token ids are packed little-endian
uint32 and log-probabilities float32.  `daemon.trajectories.migrations` makes these tables; a test holds the two equal.
"""

from __future__ import annotations

from typing import ClassVar

from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, Table, Text, UniqueConstraint, text
from sqlmodel import Field, SQLModel

_NO_ROWID = {"sqlite_with_rowid": False}


def _key(column: str, *, part: bool = False) -> Column[int]:
    """Return a foreign key column; `part` makes it a part of the row's own key."""
    return Column(Integer, ForeignKey(column), primary_key=part, nullable=False)


class OccurrenceRow(SQLModel, table=True):
    """One due time of a heartbeat.  `status` is claimed, ended or missed; a missed one has a reason and no outcome."""

    __tablename__: ClassVar[str] = "occurrence"
    __table_args__ = (
        UniqueConstraint("heartbeat", "scheduled_for"),
        Index("occurrence_open", "id", sqlite_where=text("status = 'claimed'")),
        Index("occurrence_recorded", "recorded_at"),
    )
    id: int | None = Field(default=None, primary_key=True)
    heartbeat: str
    scheduled_for: str
    manual: bool
    status: str
    recorded_at: str
    ended_at: str | None
    outcome: str | None
    reason: str


class DueRow(SQLModel, table=True):
    """When a heartbeat is due next; null is never again."""

    __tablename__: ClassVar[str] = "due"
    heartbeat: str = Field(primary_key=True)
    next_due: str | None


class DocumentRow(SQLModel, table=True):
    """JSON that comes again and again (tools, tasks, model hashes with sampling settings), kept once."""

    __tablename__: ClassVar[str] = "document"
    id: int | None = Field(default=None, primary_key=True)
    digest: bytes = Field(sa_column=Column(LargeBinary, unique=True, nullable=False))
    body: str = Field(sa_column=Column(Text, nullable=False))


class MessageRow(SQLModel, table=True):
    """A message, kept once however many prompts and threads hold it."""

    __tablename__: ClassVar[str] = "message"
    id: int | None = Field(default=None, primary_key=True)
    digest: bytes = Field(sa_column=Column(LargeBinary, unique=True, nullable=False))
    role: str
    text: str = Field(sa_column=Column(Text, nullable=False))
    calls: str | None
    call_id: str | None
    name: str | None
    token_ids: bytes | None
    token_model: str | None
    failed: bool


class RunRow(SQLModel, table=True):
    """A run.  `id` is its name for people; `durable` says that its messages belong to a thread that lasts."""

    __tablename__: ClassVar[str] = "run"
    __table_args__ = (Index("run_thread", "thread"), Index("run_started", "started_at"))
    key: int | None = Field(default=None, primary_key=True)
    id: str = Field(unique=True)
    occurrence_id: int = Field(sa_column=Column(Integer, ForeignKey("occurrence.id"), index=True, nullable=False))
    task_id: int = Field(sa_column=_key("document.id"))
    thread: str
    durable: bool
    started_at: str
    ended_at: str | None
    outcome: str | None
    reason: str
    steps: int
    prompt_tokens: int
    reused_tokens: int
    completion_tokens: int
    usd: float
    seconds: float
    model: str
    commit_id: str | None
    said: str = Field(sa_column=Column(Text, nullable=False))


class StepRow(SQLModel, table=True):
    """A step.  `sent` packs message ids; see `prompt_ids` for what the four `prompt_…` columns of a sample mean."""

    __tablename__: ClassVar[str] = "step"
    __table_args__ = (
        UniqueConstraint("run_key", "number"),
        Index("step_started", "started_at", "usd"),
        Index("step_base", "prompt_base", sqlite_where=text("prompt_base IS NOT NULL")),
    )
    id: int | None = Field(default=None, primary_key=True)
    run_key: int = Field(sa_column=_key("run.key"))
    number: int
    started_at: str
    sent: bytes
    tools_id: int = Field(sa_column=_key("document.id"))
    text: str = Field(sa_column=Column(Text, nullable=False))
    finish: str
    note: str
    model: str
    prompt_tokens: int
    reused_tokens: int
    completion_tokens: int
    usd: float
    seconds: float
    withheld: bool
    hint: str
    edited_by_breaker: bool
    rung: str
    anew: bool
    source_id: int | None = Field(sa_column=Column(Integer, ForeignKey("document.id")))
    prompt_base: int | None = Field(sa_column=Column(Integer, ForeignKey("step.id")))
    prompt_keep: int
    prompt_depth: int
    prompt_rest: bytes | None
    completion_ids: bytes | None
    logprobs: bytes | None


class ToolCallRow(SQLModel, table=True):
    """A tool call and what came back.  `asked` is its place among the reply's calls, `answered` among the results."""

    __tablename__: ClassVar[str] = "tool_call"
    __table_args__ = _NO_ROWID
    step_id: int = Field(sa_column=_key("step.id", part=True))
    position: int = Field(primary_key=True)
    asked: int | None
    answered: int | None
    call_id: str
    name: str
    args: str = Field(sa_column=Column(Text, nullable=False))
    ok: bool | None
    text: str | None = Field(sa_column=Column(Text))
    seconds: float | None


class VerdictRow(SQLModel, table=True):
    """What a guard said of a step."""

    __tablename__: ClassVar[str] = "verdict"
    __table_args__ = _NO_ROWID
    step_id: int = Field(sa_column=_key("step.id", part=True))
    position: int = Field(primary_key=True)
    guard: str
    level: int
    score: float
    reason: str
    hint: str
    outcome: str
    evidence: str | None


class RewardRow(SQLModel, table=True):
    """What a verifier gave a run or one step of it, by component and by the verifier's version."""

    __tablename__: ClassVar[str] = "reward"
    id: int | None = Field(default=None, primary_key=True)
    run_key: int = Field(sa_column=Column(Integer, ForeignKey("run.key"), index=True, nullable=False))
    step_id: int | None = Field(sa_column=Column(Integer, ForeignKey("step.id")))
    component: str
    value: float
    verifier: str
    version: str


class ThreadEntryRow(SQLModel, table=True):
    """A place in a thread's history; `live` ones are what a prompt is made of, a `summary` stands before the others.

    `shown_id` is what a prompt shows in place of the message itself since a quarantine, null for the message.
    `retired_by` is null for a live one, else the position of the summary that stands for it, 0 after a quarantine, -1
    when a person took it back.
    """

    __tablename__: ClassVar[str] = "thread_entry"
    __table_args__ = (Index("thread_live", "thread", "position", sqlite_where=text("live")), _NO_ROWID)
    thread: str = Field(primary_key=True)
    position: int = Field(primary_key=True)
    message_id: int = Field(sa_column=_key("message.id"))
    run_key: int | None = Field(sa_column=Column(Integer, ForeignKey("run.key")))
    summary: bool
    live: bool
    shown_id: int | None = Field(sa_column=Column(Integer, ForeignKey("message.id")))
    retired_by: int | None


class GuardStateRow(SQLModel, table=True):
    """What a guard or a breaker remembers of a thread, as JSON.

    `guard` may also be "saved", whose state is the stamp of the last save, or "heard/" and a number: what one run
    showed to the guards since the states were saved.
    """

    __tablename__: ClassVar[str] = "guard_state"
    thread: str = Field(primary_key=True)
    guard: str = Field(primary_key=True)
    state: str = Field(sa_column=Column(Text, nullable=False))


class ActRow(SQLModel, table=True):
    """What a person did to the guards of a thread; null is all of them."""

    __tablename__: ClassVar[str] = "act"
    id: int | None = Field(default=None, primary_key=True)
    at: str
    person: str
    what: str
    thread: str | None
    guard: str | None
    why: str


class FeedbackRow(SQLModel, table=True):
    """What a person did to what a run wrote; `told_in` is the occurrence whose prompt said so."""

    __tablename__: ClassVar[str] = "feedback"
    __table_args__ = (UniqueConstraint("what", "commit_id"), Index("feedback_run", "run"))
    id: int | None = Field(default=None, primary_key=True)
    at: str
    person: str
    what: str
    run: str
    commit_id: str
    paths: str = Field(sa_column=Column(Text, nullable=False))
    why: str = Field(sa_column=Column(Text, nullable=False))
    patch: str = Field(sa_column=Column(Text, nullable=False))
    told_in: int | None


def _table(row: type[SQLModel]) -> Table:
    return SQLModel.metadata.tables[str(row.__tablename__)]


OCCURRENCE, DUE, DOCUMENT, MESSAGE = _table(OccurrenceRow), _table(DueRow), _table(DocumentRow), _table(MessageRow)
RUN, STEP, TOOL_CALL, VERDICT = _table(RunRow), _table(StepRow), _table(ToolCallRow), _table(VerdictRow)
REWARD, THREAD_ENTRY, GUARD_STATE = _table(RewardRow), _table(ThreadEntryRow), _table(GuardStateRow)
FEEDBACK = _table(FeedbackRow)
