"""Where the tests of this folder keep what they record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trajectories.scenes import Kept, MemoryKept, SqlKept


@pytest.fixture
def sql(tmp_path: Path) -> Iterator[SqlKept]:
    """A new database."""
    kept = SqlKept(tmp_path / "trimtab.db")
    yield kept
    kept.close()


@pytest.fixture(params=["sql", "memory"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kept]:
    """Every implementation of recorder, thread log and guard states."""
    made: Kept = SqlKept(tmp_path / "trimtab.db") if request.param == "sql" else MemoryKept()
    yield made
    made.close()
