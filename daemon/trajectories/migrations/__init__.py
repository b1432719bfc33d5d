"""Alembic's scripts.  One that was released never changes; a new one goes to `versions` and raises `SCHEMA.head`."""
