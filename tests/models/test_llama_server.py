"""The OpenAI backend against a real server that nobody here wrote: `python -m llama_cpp.server`, the shipped model."""

from __future__ import annotations

import asyncio
import importlib.util
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from daemon.errors import ModelUnavailable
from daemon.models.openai import OpenAI
from daemon.types import Message, Prompt, Reply, ToolSpec

SHIPPED = Path(__file__).parents[2] / "daemon" / "models" / "shipped" / "watchkeeper.gguf"
NEEDED = ("llama_cpp", "uvicorn", "fastapi", "sse_starlette", "starlette_context", "pydantic_settings")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
HOST = ToolSpec(
    "host",
    "Facts of this machine.",
    {"type": "object", "properties": {"what": {"type": "string", "enum": ["all", "load", "memory", "disks"]}}},
)
SYSTEM = Message("system", "You are watch. You keep watch over one host and run unattended.")
BEAT = Message(
    "user",
    "Heartbeat host-watch, Mon 2026-11-16 08:00 UTC.\nLook at this machine with the host tool. End with one sentence.",
)
Result = TypeVar("Result")

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(bool(MISSING), reason=f"llama-cpp-python[server] is not installed: no {', '.join(MISSING)}"),
    pytest.mark.skipif(not SHIPPED.exists(), reason="the shipped model is not built yet"),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the server on a free port of loopback and give its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(SHIPPED), "--n_threads", "1", "--n_ctx", "2048"]
    with log.open("wb") as file:
        server = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)], stdout=file, stderr=subprocess.STDOUT
        )
        try:
            until = time.monotonic() + 60
            while not _listens(port):
                assert server.poll() is None, log.read_text()[-2000:]
                assert time.monotonic() < until, log.read_text()[-2000:]
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()
            server.wait(10)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _with(url: str, talk: Callable[[OpenAI], Awaitable[Result]]) -> Result:
    async def run() -> Result:
        table = {"url": url, "model": "watchkeeper", "temperature": 0.0, "max_tokens": 300}
        model = OpenAI("server", OpenAI.Options.model_validate(table), Path())
        try:
            return await talk(model)
        finally:
            await model.close()

    return asyncio.run(run())


def test_it_is_ready(url: str) -> None:
    """The server has one model under another name, and the line says so."""
    line = _with(url, lambda model: model.check())
    assert "it answers, and lists" in line
    assert "watchkeeper.gguf" in line


def test_a_heartbeat_in_two_steps(url: str) -> None:
    """A streamed tool call is read out of the text, its result goes back, and an answer comes."""
    pieces: list[str] = []

    def listen(piece: str) -> bool:
        pieces.append(piece)
        return False

    async def talk(model: OpenAI) -> tuple[Reply, Reply]:
        prompt = Prompt("t", (SYSTEM, BEAT), (HOST,))
        first = await model.reply(prompt, stop=listen, seconds=60)
        assert len(pieces) > 3, "it was streamed"
        facts = "load: 0.31 0.28 0.30 on 4 cores\nmemory: 42 percent of 8 GB used\ndisk /: 61 percent used"
        results = [Message("tool", facts, call_id=call.id, name=call.name) for call in first.calls]
        return first, await model.reply(prompt.plus(first.message(), *results), stop=listen, seconds=60)

    first, second = _with(url, talk)
    assert [call.name for call in first.calls] == ["host"]
    assert isinstance(first.calls[0].args, dict)
    assert "<tool_call>" not in first.text
    assert second.finish == "stop"
    assert second.text or second.calls
    assert second.usage.prompt > first.usage.prompt > 0
    assert second.usage.usd == 0


def test_stop_ends_the_stream_of_the_server(url: str) -> None:
    """What a guard ends stays ended, and the server goes on serving."""

    async def talk(model: OpenAI) -> tuple[Reply, Reply]:
        prompt = Prompt("t", (SYSTEM, BEAT), (HOST,))
        pieces: list[str] = []

        def third(piece: str) -> bool:
            pieces.append(piece)
            return len(pieces) == 3

        cut = await model.reply(prompt, stop=third, seconds=60)
        assert cut.text == "".join(pieces)
        return cut, await model.reply(prompt, stop=lambda piece: False, seconds=60)

    cut, whole = _with(url, talk)
    assert (cut.finish, cut.calls) == ("guard", ())
    assert whole.finish == "stop"


def test_cancelling_in_the_middle_leaves_the_server_usable(url: str) -> None:
    """A task that is cancelled while words come ends at once, and the next heartbeat is answered."""

    async def talk(model: OpenAI) -> Reply:
        heard = asyncio.Event()

        def listen(piece: str) -> bool:
            heard.set()
            return False

        prompt = Prompt("t", (SYSTEM, BEAT), (HOST,))
        task = asyncio.create_task(model.reply(prompt, stop=listen, seconds=60))
        await asyncio.wait_for(heard.wait(), 30)
        task.cancel()
        await asyncio.wait([task], timeout=5)
        assert task.cancelled()
        return await model.reply(prompt, stop=lambda piece: False, seconds=60)

    assert _with(url, talk).finish == "stop"


def test_a_prompt_beyond_its_context_is_one_line(url: str) -> None:
    """Here the server answers 200 and then breaks its connection: that is no answer, and the next call works."""

    async def talk(model: OpenAI) -> tuple[str, Reply]:
        long = Prompt("t", (SYSTEM, Message("user", "disk load memory " * 3000)))
        with pytest.raises(ModelUnavailable) as caught:
            await model.reply(long, stop=lambda piece: False, seconds=60)
        return str(caught.value), await model.reply(Prompt("t", (SYSTEM, BEAT)), stop=lambda piece: False, seconds=60)

    line, reply = _with(url, talk)
    assert line.startswith("server: the server at 127.0.0.1:")
    assert line.isprintable()
    assert reply.finish in ("stop", "length")
