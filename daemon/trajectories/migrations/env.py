"""What Alembic runs to find its database: the connection that `daemon.trajectories.schema` hands it, and no other."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=False)
context.run_migrations()
