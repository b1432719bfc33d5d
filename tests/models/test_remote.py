"""Both APIs over real sockets against a server that fails on purpose: what is retried, what is said, what is kept."""

from __future__ import annotations

import asyncio
import gc
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from structlog.testing import capture_logs

from daemon.errors import ConfigError, ModelError, ModelUnavailable
from daemon.models.anthropic import Anthropic
from daemon.models.clock import SkippingClock
from daemon.models.fault_acts import Act, Say, Send, Silence, Slam, refusal
from daemon.models.fault_server import FaultServer
from daemon.models.openai import OpenAI
from daemon.models.remote import Remote
from daemon.models.remote_options import is_loopback
from daemon.types import Message, Prompt, Reply, ToolSpec

HOST = ToolSpec("host", "Look at the host.", {"type": "object", "properties": {"what": {"type": "string"}}})
PROMPT = Prompt("t", (Message("system", "Be brief."), Message("user", "How is the disk?")), (HOST,))
KEY = "sk-very-secret-0123456789"
BOTH = pytest.mark.parametrize("api", [OpenAI, Anthropic])
Api = type[OpenAI] | type[Anthropic]


def _never(piece: str) -> bool:
    return False


def _model(api: Api, url: str, clock: SkippingClock | None = None, **options: Any) -> Remote:
    table = {"url": url, "model": "m", "timeout": 5.0, "api_key": {"env": "TRIMTAB_TEST_KEY"}} | options
    held = clock or SkippingClock()
    if api is Anthropic:
        return Anthropic("frontier", Anthropic.Options.model_validate(table), Path(), held, Random(0))
    return OpenAI("frontier", OpenAI.Options.model_validate(table), Path(), held, Random(0))


@pytest.fixture(autouse=True)
def _a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIMTAB_TEST_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "*")


def _asked(
    api: Api, acts: list[Act], *, seconds: float = 30.0, stop: Callable[[str], bool] = _never, **options: Any
) -> tuple[Reply | ModelError, FaultServer, SkippingClock]:
    """Ask once, and return the reply or the error, the server and the clock."""
    clock = SkippingClock()

    async def ask() -> tuple[Reply | ModelError, FaultServer]:
        async with FaultServer(acts) as server:
            model = _model(api, server.url, clock, **options)
            try:
                return await model.reply(PROMPT, stop=stop, seconds=seconds), server
            except ModelError as error:
                return error, server
            finally:
                await model.close()

    return *asyncio.run(ask()), clock


def _line(api: Api, acts: list[Act], **how: Any) -> str:
    error, _, _ = _asked(api, acts, **how)
    assert isinstance(error, ModelUnavailable), error
    assert KEY not in str(error)
    assert str(error).isprintable()
    assert len(str(error)) < 500
    return str(error)


@BOTH
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529])
def test_overload_is_asked_again_and_then_answered(api: Api, status: int) -> None:
    """What can pass by itself is waited for, a little longer each time."""
    reply, server, clock = _asked(api, [refusal(status, "busy"), refusal(status, "busy"), Say(["ok"])])
    assert isinstance(reply, Reply)
    assert (reply.text, len(server.asked)) == ("ok", 3)
    assert 0.25 <= clock.slept[0] <= 0.5 <= clock.slept[1] <= 1


@BOTH
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_is_wrong_is_asked_once(api: Api, status: int) -> None:
    """A wrong key, model or request is answered at once with one line."""
    error, server, clock = _asked(api, [refusal(status, "no")])
    assert isinstance(error, ModelUnavailable)
    assert f"answered {status}" in str(error)
    assert (len(server.asked), clock.slept) == (1, [])


@BOTH
def test_a_wrong_key_names_its_place_and_never_itself(api: Api) -> None:
    """The line says where the key comes from, even when the server repeats the key."""
    assert _line(api, [refusal(401, f"Incorrect API key provided: {KEY}")]).endswith(
        "answered 401: the key in $TRIMTAB_TEST_KEY is not accepted"
    )
    echoed = _line(api, [refusal(403, f"Bearer {KEY} may not")])
    assert "[key] may not" in echoed


@BOTH
def test_retry_after_is_obeyed(api: Api) -> None:
    """Both forms of the header are waited for, neither more nor less."""
    at = "Mon, 05 Jan 2026 08:00:09 GMT"  # nine seconds after the clock's start, two after the first wait
    acts: list[Act] = [refusal(429, "slow", Retry_After="7"), refusal(503, "slow", Retry_After=at), Say(["ok"])]
    reply, _, clock = _asked(api, acts)
    assert isinstance(reply, Reply)
    assert clock.slept == [7, 2]


@BOTH
def test_a_wait_beyond_the_deadline_ends_at_once(api: Api) -> None:
    """Nobody waits an hour inside a run of a minute, and the line says what was asked for."""
    error, server, clock = _asked(api, [refusal(429, "slow", Retry_After="3600")], seconds=60)
    assert "it asks to wait 3600 s" in str(error)
    assert (len(server.asked), clock.slept) == (1, [])


@BOTH
def test_retries_end(api: Api) -> None:
    """After the last attempt the line says how often it was tried."""
    error, server, _ = _asked(api, [refusal(500, "broken")], retries=2)
    assert len(server.asked) == 3
    assert str(error).endswith("answered 500: it failed: broken (asked 3 times)")


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
def test_each_failure_has_its_line(api: Api, act: Act, says: str) -> None:
    """A broken answer is never an answer, and each way to break is told in one line."""
    assert says in _line(api, [act], retries=0)


@BOTH
def test_half_a_stream_is_not_asked_for_again(api: Api) -> None:
    """What was handed on would be handed on twice; what was lost is counted."""
    heard: list[str] = []

    def listen(piece: str) -> bool:
        heard.append(piece)
        return False

    error, server, _ = _asked(api, [Say(["ab", "cd"], cut=1), Say(["ok"])], stop=listen)
    assert isinstance(error, ModelUnavailable)
    assert heard == ["ab"]
    assert "the 2 characters that had come are not used" in str(error)
    assert len(server.asked) == 1


@BOTH
def test_a_hang_before_the_first_byte_and_between_bytes(api: Api) -> None:
    """The two are told apart, and neither is asked again, because the server may be at work."""
    before, server, _ = _asked(api, [Silence()], timeout=0.1)
    assert str(before).endswith("took the request and sent nothing for 0.1 s")
    assert len(server.asked) == 1
    between = _line(api, [Say(["ab", "cd"], hang=1)], timeout=0.1)
    assert "stopped in the middle of its answer and sent nothing for 0.1 s" in between


@BOTH
def test_a_deadline_before_any_answer_is_no_answer(api: Api) -> None:
    """A server that has not begun when the time is over counts as unavailable."""
    assert "did not begin to answer within the 0.1 s that were left" in _line(api, [Silence()], seconds=0.1)


@BOTH
def test_an_error_before_the_first_word_is_asked_again(api: Api) -> None:
    """An overload that is reported inside the stream is the same as a 529, until something was said."""
    busy = b'data: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded", "code": 529}}\n\n'
    reply, server, _ = _asked(api, [Send(200, busy), Say(["ok"])])
    assert isinstance(reply, Reply)
    assert len(server.asked) == 2
    assert "broke off with an error: " in _line(api, [Send(200, busy)], retries=0)


@BOTH
def test_bytes_may_come_one_by_one(api: Api) -> None:
    """A stream that is cut inside characters and lines is the same stream."""
    reply, _, _ = _asked(api, [Say(["Grüße ", "😀\u2028"], [("host", {"what": "disk"})], bytes_each=1)])
    assert isinstance(reply, Reply)
    assert reply.text == "Grüße 😀\u2028"
    assert [call.args for call in reply.calls] == [{"what": "disk"}]


@BOTH
def test_a_call_that_is_no_json_stays_text(api: Api) -> None:
    """The reply carries what was said and a note; nothing is called."""
    reply, _, _ = _asked(api, [Say(["hm"], [("host", '{"what": ')])])
    assert isinstance(reply, Reply)
    assert reply.calls == ()
    assert 'host {"what":' in reply.text
    assert "not a JSON object" in reply.note


@BOTH
def test_a_stopped_stream_drops_its_calls_and_estimates_its_cost(api: Api) -> None:
    """A guard that ends the stream ends it at once; nothing unfinished is called, and the tokens are not forgotten."""
    seen: list[str] = []

    def stop(piece: str) -> bool:
        seen.append(piece)
        return "b" in piece

    price = {"prompt": 1.0, "completion": 1e6}
    reply, _, _ = _asked(api, [Say(["a" * 40, "b", "c"], [("host", {})], hang=2)], stop=stop, price=price)
    assert isinstance(reply, Reply)
    assert (reply.finish, reply.text, reply.calls) == ("guard", "a" * 40 + "b", ())
    assert seen[-1] == "b"
    assert reply.usage.completion == 11
    assert reply.usage.usd >= 11
    assert "estimated" in reply.note


@BOTH
def test_arguments_are_shown_to_the_guard_too(api: Api) -> None:
    """A model that runs in circles inside its arguments can be stopped there."""
    reply, _, _ = _asked(api, [Say([], [("host", {"what": "xyz"})])], stop=lambda piece: "xyz" in piece)
    assert isinstance(reply, Reply)
    assert (reply.finish, reply.calls) == ("guard", ())
    assert "1 unfinished tool calls were dropped" in reply.note


@BOTH
def test_prices_and_their_absence(api: Api) -> None:
    """A price makes dollars; a server on this machine costs nothing; elsewhere a missing price is said."""
    say: list[Act] = [Say(["ok"], usage=(1000, 600, 10))]
    priced, _, _ = _asked(api, say, price={"prompt": 10.0, "completion": 100.0, "cached": 1.0})
    assert isinstance(priced, Reply)
    assert priced.usage.usd == pytest.approx((400 * 10 + 600 * 1 + 10 * 100) / 1e6)
    free, _, _ = _asked(api, say)
    assert isinstance(free, Reply)
    assert (free.usage.usd, free.note) == (0, "")
    assert (free.usage.prompt, free.usage.reused, free.usage.completion) == (1000, 600, 10)


@BOTH
def test_unpriced_work_elsewhere_says_so(api: Api) -> None:
    """An address that is not plainly this machine's and has no price leaves a note, never a silent zero."""

    async def ask() -> Reply:
        async with FaultServer([Say(["ok"])]) as server:
            model = _model(api, server.url.replace("127.0.0.1", "0.0.0.0"))
            assert not model.local
            try:
                return await model.reply(PROMPT, stop=_never, seconds=5)
            finally:
                await model.close()

    reply = asyncio.run(ask())
    assert reply.usage.usd == 0
    assert "unpriced" in reply.note


@BOTH
def test_one_connection_serves_many_calls(api: Api) -> None:
    """The connection is opened at the first call and used again; closing twice is fine, and ends it."""

    async def talk() -> int:
        async with FaultServer() as server:
            model = _model(api, server.url)
            assert server.connections == 0
            for _ in range(5):
                await model.reply(PROMPT, stop=_never, seconds=5)
            used = server.connections
            await model.close()
            await model.close()
            with pytest.raises(ModelUnavailable, match="frontier: it has been closed"):
                await model.reply(PROMPT, stop=_never, seconds=5)
            return used

    assert asyncio.run(talk()) == 1


@BOTH
def test_a_connection_that_died_while_idle_is_replaced(api: Api) -> None:
    """A kept connection that the server closes without a word is not a failure; a new one that it closes is."""

    async def talk() -> tuple[str, int, str]:
        async with FaultServer([Say(["a"]), Slam(), Say(["b"]), Slam()]) as server:
            model = _model(api, server.url)
            await model.reply(PROMPT, stop=_never, seconds=5)
            second = await model.reply(PROMPT, stop=_never, seconds=5)
            connections = server.connections
            await model.close()
            fresh = _model(api, server.url)
            with pytest.raises(ModelUnavailable) as caught:
                await fresh.reply(PROMPT, stop=_never, seconds=5)
            await fresh.close()
            return second.text, connections, str(caught.value)

    text, connections, line = asyncio.run(talk())
    assert (text, connections) == ("b", 2)
    assert "closed the connection without an answer" in line
    assert "asked" not in line


@BOTH
def test_cancelling_closes_the_stream_and_leaves_the_model_usable(api: Api) -> None:
    """The task ends at once, and the next call works."""

    async def talk() -> str:
        async with FaultServer([Say(["ab"], hang=1), Say(["ok"])]) as server:
            model = _model(api, server.url)
            heard = asyncio.Event()

            def listen(piece: str) -> bool:
                heard.set()
                return False

            task = asyncio.create_task(model.reply(PROMPT, stop=listen, seconds=60))
            await heard.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            reply = await model.reply(PROMPT, stop=_never, seconds=5)
            await model.close()
            return reply.text

    assert asyncio.run(talk()) == "ok"
    gc.collect()


@BOTH
def test_a_provider_that_keeps_failing_is_left_alone_for_a_while(api: Api) -> None:
    """After five failures in a row no request is made; later one is, and success closes the breaker."""

    async def talk() -> tuple[list[str], int, str]:
        clock, lines = SkippingClock(), []
        async with FaultServer([*[refusal(500, "broken")] * 5, Say(["ok"])]) as server:
            model = _model(api, server.url, clock, retries=0)
            for _ in range(7):
                with pytest.raises(ModelUnavailable) as caught:
                    await model.reply(PROMPT, stop=_never, seconds=5)
                lines.append(str(caught.value))
            asked = len(server.asked)
            clock.advance(30)
            reply = await model.reply(PROMPT, stop=_never, seconds=5)
            await model.close()
            return lines, asked, reply.text

    lines, asked, text = asyncio.run(talk())
    assert asked == 5
    assert lines[-1].endswith("failed 5 times in a row and is left alone for another 30 s")
    assert text == "ok"


@BOTH
def test_a_request_that_is_refused_says_nothing_about_the_provider(api: Api) -> None:
    """A prompt that is too long does not open the breaker for the next."""

    async def talk() -> int:
        async with FaultServer([*[refusal(400, "too long")] * 8, Say(["ok"])]) as server:
            model = _model(api, server.url)
            for _ in range(8):
                with pytest.raises(ModelUnavailable):
                    await model.reply(PROMPT, stop=_never, seconds=5)
            await model.reply(PROMPT, stop=_never, seconds=5)
            await model.close()
            return len(server.asked)

    assert asyncio.run(talk()) == 9


@BOTH
def test_nobody_there_is_one_line(api: Api) -> None:
    """A closed port and an unknown name are asked again and then told in one line."""

    async def ask(url: str) -> tuple[str, int]:
        clock = SkippingClock()
        model = _model(api, url, clock)
        with pytest.raises(ModelUnavailable) as caught:
            await model.reply(PROMPT, stop=_never, seconds=60)
        await model.close()
        return str(caught.value), len(clock.slept)

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    line, waits = asyncio.run(ask(f"http://127.0.0.1:{port}/v1"))
    assert "cannot be reached" in line
    assert "(asked 4 times)" in line
    assert waits == 3
    line, _ = asyncio.run(ask("http://no-such-host.invalid/v1"))
    assert "has no address: no network, or the name in url is wrong" in line


@BOTH
def test_tls_to_a_server_without_it_is_one_line(api: Api) -> None:
    """https where the server speaks http is told as that, once."""
    clock = SkippingClock()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def ask() -> str:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            model = _model(api, f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", clock)
            with pytest.raises(ModelUnavailable) as caught:
                await model.reply(PROMPT, stop=_never, seconds=5)
            await model.close()
            return str(caught.value)

    assert "does not speak TLS as it should" in asyncio.run(ask())
    assert clock.slept == []


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate that nobody signed")
def test_a_certificate_that_nobody_signed_is_one_line(tmp_path: Path) -> None:
    """A certificate that is not trusted ends the call before the key is sent."""
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1"]
    subprocess.run([*make, "-keyout", tmp_path / "k", "-out", tmp_path / "c"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "c", tmp_path / "k")
    received: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.read(100))
        writer.close()

    async def ask() -> str:
        async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context) as server:
            model = _model(OpenAI, f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
            with pytest.raises(ModelUnavailable) as caught:
                await model.reply(PROMPT, stop=_never, seconds=5)
            await model.close()
            return str(caught.value)

    assert "shows a certificate that is not trusted: self-signed certificate" in asyncio.run(ask())
    assert received == []


@BOTH
def test_retries_are_logged_without_the_key(api: Api) -> None:
    """Each repeated question is an event that says why."""
    with capture_logs() as logs:
        _asked(api, [refusal(503, f"busy {KEY}"), Say(["ok"])])
    assert [entry["event"] for entry in logs] == ["model.retried"]
    assert KEY not in str(logs)


@BOTH
def test_a_key_that_is_gone_is_told_at_the_start_and_later(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its key a model is not made; one whose key goes away later is unavailable."""

    async def ask(model: Remote) -> str:
        with pytest.raises(ModelUnavailable) as caught:
            await model.reply(PROMPT, stop=_never, seconds=5)
        with pytest.raises(ConfigError):
            await model.check()
        await model.close()
        return str(caught.value)

    model = _model(api, "http://127.0.0.1:9/v1")
    monkeypatch.delenv("TRIMTAB_TEST_KEY")
    assert "the environment variable TRIMTAB_TEST_KEY is not set" in asyncio.run(ask(model))
    with pytest.raises(ConfigError, match=r"models\.frontier\.api_key"):
        _model(api, "http://127.0.0.1:9/v1")


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
def test_settings_that_cannot_be_meant_are_refused(api: Api, wrong: dict[str, Any]) -> None:
    """Each is a validation error of one key."""
    with pytest.raises(ValueError, match="1 validation error"):
        _model(api, **({"url": "http://h/v1"} | wrong))


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.8.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("192.168.1.5", False),
        ("h.local", False),
    ],
)
def test_only_this_machine_is_local(host: str, local: bool) -> None:
    """A server in the same room is not this machine."""
    assert is_loopback(host) is local


@BOTH
def test_odd_text_can_be_sent(api: Api) -> None:
    """A lone surrogate or a control character in the thread does not stop the request."""

    async def ask() -> Any:
        async with FaultServer() as server:
            model = _model(api, server.url)
            await model.reply(Prompt("t", (Message("user", "a\ud800\x00b"),)), stop=_never, seconds=5)
            await model.close()
            return server.asked[0].body

    assert "a?\\u0000b" in str(asyncio.run(ask())).replace("\\x00", "\\u0000")
