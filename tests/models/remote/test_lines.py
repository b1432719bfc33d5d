"""Each way to fail has one line that says what, where and what to do, and never holds a key."""

from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest

from daemon.clock import SkippingClock
from daemon.errors import ConfigError, ModelUnavailable
from daemon.models.fault_acts import Act, Say, Send, Silence, Slam, refusal
from daemon.models.openai import OpenAI
from daemon.models.remote import Remote
from tests.models.remote.asking import BOTH, KEY, PROMPT, Api, Ask, never


@BOTH
def test_a_wrong_key_names_its_place_and_never_itself(api: Api, told: Ask) -> None:
    """The line says where the key comes from, even when the server repeats the key."""
    assert told(api, [refusal(401, f"Incorrect API key provided: {KEY}")]).endswith(
        "answered 401: the key in $TRIMTAB_TEST_KEY is not accepted"
    )
    echoed = told(api, [refusal(403, f"Bearer {KEY} may not")])
    assert "[key] may not" in echoed


@BOTH
@pytest.mark.parametrize(
    ("act", "says"),
    [
        (Say(["ab", "cd"], cut=1), "closed the connection in the middle of its answer"),
        (Slam(), "closed the connection without an answer"),
        (Send(200), "answered 200 with nothing in it"),
        (Send(200, b'data: {"half\n\n'), "sent what its format does not allow"),
        (Send(200, b"data: [1]\n\n"), "sent what its format does not allow"),
        (Send(200, b'{"error', "application/json"), "sent what its format does not allow"),
        (Send(200, b"<html>Sign in</html>", "text/html"), "answered 200 with text/html where a stream was due"),
        (Send(502, b"<html>\x1b[31mBad gateway" + b"x" * 9999, "text/html"), "Bad gateway"),
        (Send(302, b"", headers={"Location": "http://elsewhere.example/"}), "http://elsewhere.example/, which is not"),
        (Send(200, b"data: " + b"x" * 9_000_000), "one event of more than"),
    ],
    ids=["half", "slam", "empty", "bad json", "no object", "half json", "html", "html 502", "redirect", "endless"],
)
def test_each_failure_has_its_line(api: Api, act: Act, says: str, told: Ask) -> None:
    """A broken answer is never an answer, and each way to break is told in one line."""
    assert says in told(api, [act], retries=0)


@BOTH
def test_a_hang_before_the_first_byte_and_between_bytes(api: Api, asked: Ask, told: Ask) -> None:
    """The two are told apart, and neither is asked again, because the server may be at work."""
    before, server, _ = asked(api, [Silence()], timeout=0.1)
    assert str(before).endswith("took the request and sent nothing for 0.1 s")
    assert len(server.asked) == 1
    between = told(api, [Say(["ab", "cd"], hang=1)], timeout=0.1)
    assert "stopped in the middle of its answer and sent nothing for 0.1 s" in between


@BOTH
def test_a_deadline_before_any_answer_is_no_answer(api: Api, told: Ask) -> None:
    """A server that has not begun when the time is over counts as unavailable."""
    assert "did not begin to answer within the 0.1 s that were left" in told(api, [Silence()], seconds=0.1)


@BOTH
def test_nobody_there_is_one_line(api: Api, make: Ask) -> None:
    """A closed port and an unknown name are asked again and then told in one line."""

    async def ask(url: str) -> tuple[str, int]:
        clock = SkippingClock()
        made = make(api, url, clock)
        with pytest.raises(ModelUnavailable) as caught:
            await made.reply(PROMPT, stop=never, seconds=60)
        await made.close()
        return str(caught.value), len(clock.slept)

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    line, waits = asyncio.run(ask(f"http://127.0.0.1:{port}/v1"))
    assert "cannot be reached: Connection refused" in line
    assert "(asked 4 times)" in line
    assert waits == 3
    line, _ = asyncio.run(ask("http://no-such-host.invalid/v1"))
    assert "has no address: no network, or the name in url is wrong" in line


@BOTH
def test_tls_to_a_server_without_it_is_one_line(api: Api, make: Ask) -> None:
    """https where the server speaks http is told as that, once."""
    clock = SkippingClock()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def ask() -> str:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            made = make(api, f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", clock)
            with pytest.raises(ModelUnavailable) as caught:
                await made.reply(PROMPT, stop=never, seconds=5)
            await made.close()
            return str(caught.value)

    assert "does not speak TLS as it should" in asyncio.run(ask())
    assert clock.slept == []


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate that nobody signed")
def test_a_certificate_that_nobody_signed_is_one_line(tmp_path: Path, make: Ask) -> None:
    """A certificate that is not trusted ends the call before the key is sent."""
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1"]
    subprocess.run([*command, "-keyout", tmp_path / "k", "-out", tmp_path / "c"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "c", tmp_path / "k")
    received: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.read(100))
        writer.close()

    async def ask() -> str:
        async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context) as server:
            made = make(OpenAI, f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
            with pytest.raises(ModelUnavailable) as caught:
                await made.reply(PROMPT, stop=never, seconds=5)
            await made.close()
            return str(caught.value)

    assert "shows a certificate that is not trusted: self-signed certificate" in asyncio.run(ask())
    assert received == []


@BOTH
def test_a_key_that_is_gone_is_told_at_the_start_and_later(
    api: Api, monkeypatch: pytest.MonkeyPatch, make: Ask
) -> None:
    """Without its key a model is not made; one whose key goes away later is unavailable."""

    async def ask(made: Remote) -> str:
        with pytest.raises(ModelUnavailable) as caught:
            await made.reply(PROMPT, stop=never, seconds=5)
        with pytest.raises(ConfigError):
            await made.check()
        await made.close()
        return str(caught.value)

    made = make(api, "http://127.0.0.1:9/v1")
    monkeypatch.delenv("TRIMTAB_TEST_KEY")
    assert "the environment variable TRIMTAB_TEST_KEY is not set" in asyncio.run(ask(made))
    with pytest.raises(ConfigError, match=r"models\.frontier\.api_key"):
        make(api, "http://127.0.0.1:9/v1")


@BOTH
@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "ftp://x"},
        {"url": "no address"},
        {"url": "http://me:pw@h/v1"},
        {"timeout": 0},
        {"extra": {"messages": []}},
    ],
)
def test_settings_that_cannot_be_meant_are_refused(api: Api, wrong: dict[str, Any], make: Ask) -> None:
    """Each is a validation error of one key."""
    with pytest.raises(ValueError, match="1 validation error"):
        make(api, **({"url": "http://h/v1"} | wrong))
