"""What the heartbeat tests share: they hear the log instead of printing it."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

import pytest
from structlog.testing import capture_logs


@pytest.fixture(autouse=True)
def heard() -> Iterator[list[MutableMapping[str, Any]]]:
    """The log events of the test."""
    with capture_logs() as events:
        yield events
