"""The first schema: ledger, runs and steps with all that training needs, threads, guard states."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "document",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest"),
    )
    op.create_table(
        "due",
        sa.Column("heartbeat", sa.String(), nullable=False),
        sa.Column("next_due", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("heartbeat"),
    )
    op.create_table(
        "guard_state",
        sa.Column("thread", sa.String(), nullable=False),
        sa.Column("guard", sa.String(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("thread", "guard"),
    )
    op.create_table(
        "message",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("calls", sa.String(), nullable=True),
        sa.Column("call_id", sa.String(), nullable=True),
        sa.Column("name", sa.String(), nullable=True),
        sa.Column("token_ids", sa.LargeBinary(), nullable=True),
        sa.Column("token_model", sa.String(), nullable=True),
        sa.Column("failed", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest"),
    )
    op.create_table(
        "occurrence",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("heartbeat", sa.String(), nullable=False),
        sa.Column("scheduled_for", sa.String(), nullable=False),
        sa.Column("manual", sa.Boolean(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("recorded_at", sa.String(), nullable=False),
        sa.Column("ended_at", sa.String(), nullable=True),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("reason", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("heartbeat", "scheduled_for"),
    )
    op.create_index("occurrence_open", "occurrence", ["id"], unique=False, sqlite_where=sa.text("status = 'claimed'"))
    op.create_index("occurrence_recorded", "occurrence", ["recorded_at"], unique=False)
    op.create_table(
        "run",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("occurrence_id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("thread", sa.String(), nullable=False),
        sa.Column("durable", sa.Boolean(), nullable=False),
        sa.Column("started_at", sa.String(), nullable=False),
        sa.Column("ended_at", sa.String(), nullable=True),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("reused_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("usd", sa.Float(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("commit_id", sa.String(), nullable=True),
        sa.Column("said", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["occurrence_id"],
            ["occurrence.id"],
        ),
        sa.ForeignKeyConstraint(
            ["task_id"],
            ["document.id"],
        ),
        sa.PrimaryKeyConstraint("key"),
        sa.UniqueConstraint("id"),
    )
    op.create_index(op.f("ix_run_occurrence_id"), "run", ["occurrence_id"], unique=False)
    op.create_index("run_started", "run", ["started_at"], unique=False)
    op.create_index("run_thread", "run", ["thread"], unique=False)
    op.create_table(
        "step",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_key", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.String(), nullable=False),
        sa.Column("sent", sa.LargeBinary(), nullable=False),
        sa.Column("tools_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("finish", sa.String(), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("reused_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("usd", sa.Float(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("withheld", sa.Boolean(), nullable=False),
        sa.Column("hint", sa.String(), nullable=False),
        sa.Column("edited_by_breaker", sa.Boolean(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=True),
        sa.Column("prompt_base", sa.Integer(), nullable=True),
        sa.Column("prompt_keep", sa.Integer(), nullable=False),
        sa.Column("prompt_depth", sa.Integer(), nullable=False),
        sa.Column("prompt_rest", sa.LargeBinary(), nullable=True),
        sa.Column("completion_ids", sa.LargeBinary(), nullable=True),
        sa.Column("logprobs", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["prompt_base"],
            ["step.id"],
        ),
        sa.ForeignKeyConstraint(
            ["run_key"],
            ["run.key"],
        ),
        sa.ForeignKeyConstraint(
            ["source_id"],
            ["document.id"],
        ),
        sa.ForeignKeyConstraint(
            ["tools_id"],
            ["document.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("run_key", "number"),
    )
    op.create_index("step_base", "step", ["prompt_base"], unique=False, sqlite_where=sa.text("prompt_base IS NOT NULL"))
    op.create_index("step_started", "step", ["started_at", "usd"], unique=False)
    op.create_table(
        "thread_entry",
        sa.Column("thread", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("message_id", sa.Integer(), nullable=False),
        sa.Column("run_key", sa.Integer(), nullable=True),
        sa.Column("summary", sa.Boolean(), nullable=False),
        sa.Column("live", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["message_id"],
            ["message.id"],
        ),
        sa.ForeignKeyConstraint(
            ["run_key"],
            ["run.key"],
        ),
        sa.PrimaryKeyConstraint("thread", "position"),
        sqlite_with_rowid=False,
    )
    op.create_index("thread_live", "thread_entry", ["thread", "position"], unique=False, sqlite_where=sa.text("live"))
    op.create_table(
        "reward",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_key", sa.Integer(), nullable=False),
        sa.Column("step_id", sa.Integer(), nullable=True),
        sa.Column("component", sa.String(), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("verifier", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_key"],
            ["run.key"],
        ),
        sa.ForeignKeyConstraint(
            ["step_id"],
            ["step.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_reward_run_key"), "reward", ["run_key"], unique=False)
    op.create_table(
        "tool_call",
        sa.Column("step_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("asked", sa.Integer(), nullable=True),
        sa.Column("answered", sa.Integer(), nullable=True),
        sa.Column("call_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("args", sa.Text(), nullable=False),
        sa.Column("ok", sa.Boolean(), nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["step_id"],
            ["step.id"],
        ),
        sa.PrimaryKeyConstraint("step_id", "position"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "verdict",
        sa.Column("step_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("guard", sa.String(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("hint", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["step_id"],
            ["step.id"],
        ),
        sa.PrimaryKeyConstraint("step_id", "position"),
        sqlite_with_rowid=False,
    )
