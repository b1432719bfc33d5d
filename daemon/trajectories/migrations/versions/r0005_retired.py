"""Why a place of a thread is no longer live, so that a thread can be taken back to where it was."""

from __future__ import annotations

from alembic import op

revision = "5"
down_revision = "4"


def upgrade() -> None:
    """Add the column; places that are not live already were taken out by the next summary, or by a quarantine."""
    op.execute("ALTER TABLE thread_entry ADD COLUMN retired_by INTEGER")
    op.execute("""
        UPDATE thread_entry SET retired_by = coalesce((
            SELECT min(later.position) FROM thread_entry AS later
            WHERE later.thread = thread_entry.thread AND later.summary AND later.position > thread_entry.position), 0)
        WHERE NOT live""")
