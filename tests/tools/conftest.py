"""What the tools' tests share: a vault in an agent directory and the setting of a run."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from daemon.tools.base import Setting
from vault import Vault

NOW = datetime(2026, 11, 20, 21, 17, 5, tzinfo=UTC)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """A vault with an instruction and a note."""
    made = Vault.create(tmp_path / "vault", "trimtab", "trimtab@localhost")
    made.plant({"AGENTS.md": "You look after this host.\n", "people/ann.md": "Ann likes tea.\n"}, "Begin")
    return made


@pytest.fixture
def setting(vault: Vault, tmp_path: Path) -> Setting:
    """A run of host-watch on a November evening in UTC."""
    return Setting("host-watch", "01RUN", NOW, ZoneInfo("UTC"), vault.draft(), tmp_path)
