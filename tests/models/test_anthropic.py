"""What is particular to the Anthropic Messages API."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from daemon.errors import ModelUnavailable
from daemon.models.anthropic import Anthropic
from daemon.models.fault_acts import Act, Say, Send
from daemon.models.fault_server import FaultServer, Request
from daemon.types import Message, Prompt, Reply

PROMPT = Prompt("t", (Message("system", "Be brief."), Message("user", "hi")))


def _talk(act: Act, home: Path, **options: Any) -> tuple[Reply, Request]:
    (home / "key").write_text("sk-ant-123456")

    async def talk() -> tuple[Reply, Request]:
        async with FaultServer([act]) as server:
            table = {"url": server.url, "model": "claude", "api_key": {"file": "key"}} | options
            model = Anthropic("frontier", Anthropic.Options.model_validate(table), home)
            reply = await model.reply(PROMPT, stop=lambda piece: False, seconds=5)
            await model.close()
            return reply, server.asked[0]

    return asyncio.run(talk())


def test_headers_and_fields(tmp_path: Path) -> None:
    """The key has its own header, the version is stated, the limit on tokens is never missing."""
    _, request = _talk(Say(["ok"]), tmp_path)
    assert request.headers["x-api-key"] == "sk-ant-123456"
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in request.headers
    assert request.path == "/v1/messages"
    assert request.body["max_tokens"] == 4096


@pytest.mark.parametrize(
    ("cache", "mark"),
    [("5m", {"type": "ephemeral"}), ("1h", {"type": "ephemeral", "ttl": "1h"}), ("off", None)],
)
def test_the_cache_lasts_as_long_as_was_asked(tmp_path: Path, cache: str, mark: Any) -> None:
    """Five minutes, an hour or not at all."""
    _, request = _talk(Say(["ok"]), tmp_path, cache=cache)
    assert request.body["system"][0].get("cache_control") == mark
    assert request.body["messages"][-1]["content"][-1].get("cache_control") == mark


def test_writing_to_the_cache_costs_more(tmp_path: Path) -> None:
    """Tokens that are stored cost the provider's surcharge unless the price says otherwise."""
    usage = b'{"input_tokens": 0, "cache_creation_input_tokens": 1000000, "output_tokens": 0}'
    start = b'data: {"type": "message_start", "message": {"usage": ' + usage + b"}}\n\n"
    end = b'data: {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}\n\ndata: {"type": "message_stop"}\n\n'
    price = {"prompt": 4.0, "completion": 20.0}
    assert _talk(Send(200, start + end), tmp_path, price=price)[0].usage.usd == pytest.approx(5.0)
    assert _talk(Send(200, start + end), tmp_path, price=price, cache="1h")[0].usage.usd == pytest.approx(8.0)
    exact = price | {"cache_write": 1.0}
    assert _talk(Send(200, start + end), tmp_path, price=exact)[0].usage.usd == pytest.approx(1.0)


def test_a_refusal_is_a_stop_with_a_note(tmp_path: Path) -> None:
    """The run can see that the model would not, not that it had nothing to say."""
    reply, _ = _talk(Say(["I can"], finish="refusal"), tmp_path)
    assert (reply.finish, reply.note) == ("stop", "refused by the model")


def test_check_asks_for_the_model(tmp_path: Path) -> None:
    """A known model is ready, an unknown one is told with its name."""

    async def check(name: str) -> str:
        async with FaultServer(models=["claude"]) as server:
            model = Anthropic("frontier", Anthropic.Options(url=server.url, model=name), tmp_path)
            try:
                return await model.check()
            finally:
                await model.close()

    assert asyncio.run(check("claude")).endswith("ready")
    with pytest.raises(ModelUnavailable, match="answered 404: it does not know the model 'clawed'"):
        asyncio.run(check("clawed"))


def test_the_address_needs_no_version() -> None:
    """The address that Anthropic's own tools take is taken here too."""
    assert Anthropic.Options(url="https://api.anthropic.com/", model="m").url == "https://api.anthropic.com/v1"
    assert Anthropic.Options(model="m").url == "https://api.anthropic.com/v1"
    assert Anthropic.Options(url="http://127.0.0.1:4000/anthropic/v1", model="m").url.endswith(":4000/anthropic/v1")
