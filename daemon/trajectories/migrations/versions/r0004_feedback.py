"""What a person did to what the agent wrote, and why: told to the agent once, and kept for training."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "feedback",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("run", sa.String(), nullable=False),
        sa.Column("commit_id", sa.String(), nullable=False),
        sa.Column("paths", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("patch", sa.Text(), nullable=False),
        sa.Column("told_in", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("what", "commit_id"),
    )
    op.create_index("feedback_run", "feedback", ["run"])
