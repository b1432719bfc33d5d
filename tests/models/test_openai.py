"""What is particular to OpenAI-compatible servers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from daemon.errors import ModelUnavailable
from daemon.models.fault_acts import Act, Say, Send, refusal
from daemon.models.fault_server import FaultServer, Request
from daemon.models.openai import OpenAI
from daemon.types import Message, Prompt, Reply, ToolSpec

HOST = ToolSpec("host", "Look at the host.", {"type": "object", "properties": {"what": {"type": "string"}}})
PROMPT = Prompt("t", (Message("user", "How is the disk?"),), (HOST,))


def _never(piece: str) -> bool:
    return False


def _talk(act: Act, **options: Any) -> tuple[Reply, Request]:
    async def talk() -> tuple[Reply, Request]:
        async with FaultServer([act]) as server:
            model = OpenAI("vllm", OpenAI.Options(url=server.url, model="m", **options), Path())
            reply = await model.reply(PROMPT, stop=_never, seconds=5)
            await model.close()
            return reply, server.asked[0]

    return asyncio.run(talk())


def _check(server: FaultServer, **options: Any) -> str:
    async def check() -> str:
        async with server:
            table = {"url": server.url, "model": "m"} | options
            model = OpenAI("vllm", OpenAI.Options.model_validate(table), Path())
            try:
                return await model.check()
            finally:
                await model.close()

    return asyncio.run(check())


def test_without_a_key_none_is_sent() -> None:
    """A server on this machine needs no key, and gets no empty header."""
    _, request = _talk(Say(["ok"]))
    assert "authorization" not in request.headers
    assert request.path == "/v1/chat/completions"


def test_the_key_is_a_bearer_token(tmp_path: Path) -> None:
    """The key stands where the API wants it, and only there."""
    (tmp_path / "key").write_text("sk-123456\n")
    _, request = _talk(Say(["ok"]), api_key={"file": str(tmp_path / "key")})
    assert request.headers["authorization"] == "Bearer sk-123456"
    assert "sk-123456" not in str(request.body)


def test_settings_reach_the_request() -> None:
    """Sampling and extra fields are merged; what was not set is not sent."""
    _, request = _talk(Say(["ok"]), temperature=0.2, max_tokens=50, extra={"seed": 7, "max_tokens": 60})
    body = request.body
    assert (body["temperature"], body["max_tokens"], body["seed"], body["model"]) == (0.2, 60, 7, "m")
    assert "top_p" not in body


def test_a_call_in_the_text_is_a_call() -> None:
    """A server without a parser answers with markup, in pieces; the daemon reads it."""
    pieces = ["On it. <tool_", 'call>\n{"name": "host", "argum', 'ents": {"what": "disk"}}\n</tool_call>']
    reply, _ = _talk(Say(pieces))
    assert reply.text == "On it."
    assert [(call.name, call.args) for call in reply.calls] == [("host", {"what": "disk"})]


def test_no_usage_is_estimated_and_said() -> None:
    """A server that counts no tokens still uses some, and a budget must see them."""
    reply, _ = _talk(Say(["four" * 10], usage=None))
    assert reply.usage.completion == 10
    assert reply.usage.prompt > 10
    assert "tokens are estimated" in reply.note


def test_an_answer_without_streaming_is_an_answer() -> None:
    """A server that ignores `stream` sends one JSON object."""
    choices = b'[{"message": {"content": "all at once"}, "finish_reason": "stop"}]'
    body = b'{"choices": ' + choices + b', "usage": {"prompt_tokens": 3}}'
    reply, _ = _talk(Send(200, body, "application/json"))
    assert (reply.text, reply.usage.prompt) == ("all at once", 3)


def test_what_follows_the_end_is_not_waited_for() -> None:
    """An answer that has said its reason and lost its last lines is whole."""
    chunk = b'data: {"choices": [{"delta": {"content": "ok"}, "finish_reason": "stop"}]}\n\n'
    reply, _ = _talk(Send(200, chunk, headers={"Content-Length": str(len(chunk) + 500)}), timeout=0.1)
    assert (reply.text, reply.finish) == ("ok", "stop")


def test_thoughts_alone_are_told() -> None:
    """A reply without words says what came instead."""
    chunks = (
        b'data: {"choices": [{"delta": {"reasoning_content": "hmm"}, "finish_reason": "length"}]}\n\ndata: [DONE]\n\n'
    )
    reply, _ = _talk(Send(200, chunks))
    assert (reply.text, reply.finish) == ("", "length")
    assert "nothing but 3 characters of reasoning came" in reply.note


def test_check_says_ready_when_the_model_is_listed() -> None:
    """One line with the model, the host and what is known of it."""
    assert _check(FaultServer(models=["a", "m"])).endswith(": ready")


def test_check_does_not_insist_where_any_name_works() -> None:
    """A server with one model answers to every name, and one without a list may still have it."""
    assert _check(FaultServer(models=["some.gguf"])).endswith("it answers, and lists 'some.gguf' only")
    assert _check(FaultServer(models=[])).endswith("it answers, and lists no model")


def test_check_names_the_models_when_ours_is_not_among_them() -> None:
    """A wrong model is found before the first heartbeat."""
    with pytest.raises(ModelUnavailable, match="does not list the model 'm', but a, b, c, d, e, …"):
        _check(FaultServer(models=list("fedcba")))


def test_check_of_a_dead_server_is_one_line() -> None:
    """Nobody there is told as for a reply."""

    async def check() -> str:
        async with FaultServer() as server:
            url = server.url
        model = OpenAI("vllm", OpenAI.Options(url=url, model="m"), Path())
        with pytest.raises(ModelUnavailable) as caught:
            await model.check()
        await model.close()
        return str(caught.value)

    assert "cannot be reached" in asyncio.run(check())


def test_the_fault_server_repeats_its_last_act() -> None:
    """A script that is over goes on as it ended, so that a test need not count requests."""

    async def talk() -> list[str]:
        async with FaultServer([refusal(400, "no"), Say(["a"]), Say(["b"])]) as server:
            model, said = OpenAI("vllm", OpenAI.Options(url=server.url, model="m"), Path()), []
            for _ in range(4):
                try:
                    said.append((await model.reply(PROMPT, stop=_never, seconds=5)).text)
                except ModelUnavailable:
                    said.append("failed")
            await model.close()
            return said

    assert asyncio.run(talk()) == ["failed", "a", "b", "b"]


def test_a_loosened_attempt_is_sent_warmer_and_says_so() -> None:
    """The temperature of that one request is raised, and its reply names it."""

    async def talk() -> tuple[Reply, list[Request]]:
        async with FaultServer([Say(["ok"]), Say(["ok"])]) as server:
            model = OpenAI("vllm", OpenAI.Options(url=server.url, model="m", temperature=0.1), Path())
            loosened = model.loosened(["All is well."])
            assert loosened is not None
            reply = await loosened.reply(PROMPT, stop=_never, seconds=5)
            await model.reply(PROMPT, stop=_never, seconds=5)
            await model.close()
            return reply, list(server.asked)

    reply, requests = asyncio.run(talk())
    assert [1.0, 0.1] == [request.body["temperature"] for request in requests]
    assert "asked with temperature 1" in reply.note
