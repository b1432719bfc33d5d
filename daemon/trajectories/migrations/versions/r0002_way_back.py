"""The way back: which rung followed a withheld reply, what the evidence was, and what a quarantine shows instead."""

from __future__ import annotations

from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Add the columns; runs that are there already took no rung that was written down."""
    op.execute("ALTER TABLE step ADD COLUMN rung VARCHAR NOT NULL DEFAULT ''")
    op.execute("ALTER TABLE step ADD COLUMN anew BOOLEAN NOT NULL DEFAULT 0")
    op.execute("ALTER TABLE verdict ADD COLUMN evidence VARCHAR")
    op.execute("ALTER TABLE thread_entry ADD COLUMN shown_id INTEGER REFERENCES message (id)")
