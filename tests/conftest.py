"""What every test stands on: no deadline for property tests on a busy machine, and no settings from the environment."""

from __future__ import annotations

import os

import pytest
import structlog
from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees TRIMTAB_* variables of whoever runs it, or how the test before it set up the log."""
    structlog.reset_defaults()
    for name in [name for name in os.environ if name.startswith("TRIMTAB_")]:
        monkeypatch.delenv(name)
