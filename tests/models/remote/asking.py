"""What the tests of remote models share: one question, one key that must not be seen, and both interfaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from daemon.models.anthropic import Anthropic
from daemon.models.openai import OpenAI
from daemon.types import Message, Prompt

PROMPT = Prompt("t", (Message("user", "How is the disk?"),))
KEY = "sk-very-secret-0123456789"
BOTH = pytest.mark.parametrize("api", [OpenAI, Anthropic])
Api = type[OpenAI] | type[Anthropic]
Ask = Callable[..., Any]


def never(piece: str) -> bool:
    """Let the reply go on to its end."""
    return False
