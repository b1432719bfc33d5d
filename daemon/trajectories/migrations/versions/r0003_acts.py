"""What a person did to the guards, so that nobody wonders later why one fell silent."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "act",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("thread", sa.String(), nullable=True),
        sa.Column("guard", sa.String(), nullable=True),
        sa.Column("why", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
