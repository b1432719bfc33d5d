"""`trimtab init`: what is refused before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from daemon.cli.root import command
from daemon.errors import UsageError


@pytest.mark.parametrize(
    ("name", "hint"), [("europe/berlin", "Europe/Berlin"), ("Lisbon", "Europe/Lisbon"), ("utc", "UTC"), ("?", "")]
)
def test_an_unknown_time_zone_writes_nothing(tmp_path: Path, name: str, hint: str) -> None:
    """A wrong --timezone is refused with the names that come near, and no directory is left behind."""
    with pytest.raises(UsageError, match="--timezone: expected an IANA time zone") as refused:
        command(["init", str(tmp_path / "agent"), "--timezone", name])

    assert ("did you mean " + hint in str(refused.value)) is bool(hint)
    assert not (tmp_path / "agent").exists()
