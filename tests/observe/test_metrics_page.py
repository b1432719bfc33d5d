"""docs/metrics.md says what the daemon exports, and nothing else."""

from __future__ import annotations

from pathlib import Path

from daemon.observe.catalogue import table

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


def test_the_documented_table_is_the_exported_one() -> None:
    """The table in docs/metrics.md is what `python -m daemon.observe.catalogue` prints."""
    text = PAGE.read_text(encoding="utf-8")

    assert table() in text, "replace the table in docs/metrics.md with: python -m daemon.observe.catalogue"
