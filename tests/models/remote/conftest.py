"""Ask a model once over real sockets: what a test of either API begins with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from daemon.clock import SkippingClock
from daemon.errors import ModelError, ModelUnavailable
from daemon.models.anthropic import Anthropic
from daemon.models.fault_acts import Act
from daemon.models.fault_server import FaultServer
from daemon.models.openai import OpenAI
from daemon.models.remote import Remote
from daemon.types import Message, Prompt, Reply, ToolSpec

HOST = ToolSpec("host", "Look at the host.", {"type": "object", "properties": {"what": {"type": "string"}}})
PROMPT = Prompt("t", (Message("system", "Be brief."), Message("user", "How is the disk?")), (HOST,))
KEY = "sk-very-secret-0123456789"
Api = type[OpenAI] | type[Anthropic]


@pytest.fixture(autouse=True)
def _a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIMTAB_TEST_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
def make() -> Callable[..., Remote]:
    """Make a model of either API, with a key from the environment and a clock that skips."""

    def made(api: Api, url: str, clock: SkippingClock | None = None, **options: Any) -> Remote:
        table = {"url": url, "model": "m", "timeout": 5.0, "api_key": {"env": "TRIMTAB_TEST_KEY"}} | options
        held = clock or SkippingClock()
        if api is Anthropic:
            return Anthropic("frontier", Anthropic.Options.model_validate(table), Path(), held, Random(0))
        return OpenAI("frontier", OpenAI.Options.model_validate(table), Path(), held, Random(0))

    return made


@pytest.fixture
def asked(make: Callable[..., Remote]) -> Callable[..., Any]:
    """Ask once, and return the reply or the error, the server and the clock."""

    def ask(
        api: Api, acts: list[Act], *, seconds: float = 30.0, stop: Callable[[str], bool] | None = None, **options: Any
    ) -> tuple[Reply | ModelError, FaultServer, SkippingClock]:
        clock = SkippingClock()

        async def talk() -> tuple[Reply | ModelError, FaultServer]:
            async with FaultServer(acts) as server:
                model = make(api, server.url, clock, **options)
                try:
                    return await model.reply(PROMPT, stop=stop or (lambda piece: False), seconds=seconds), server
                except ModelError as error:
                    return error, server
                finally:
                    await model.close()

        return *asyncio.run(talk()), clock

    return ask


@pytest.fixture
def told(asked: Callable[..., Any]) -> Callable[..., str]:
    """Ask once, expect no answer, and return its line, which must be short, printable and without the key."""

    def line(api: Api, acts: list[Act], **how: Any) -> str:
        error, _, _ = asked(api, acts, **how)
        assert isinstance(error, ModelUnavailable), error
        assert KEY not in str(error)
        assert str(error).isprintable()
        assert len(str(error)) < 500
        return str(error)

    return line
