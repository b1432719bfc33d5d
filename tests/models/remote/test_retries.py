"""What is asked again, how long is waited, and when it ends."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from daemon.clock import SkippingClock
from daemon.errors import ModelUnavailable
from daemon.models.fault_acts import Act, Say, Send, Slam, refusal
from daemon.models.fault_server import FaultServer
from daemon.types import Reply
from tests.models.remote.asking import BOTH, KEY, PROMPT, Api, Ask, never


@BOTH
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529])
def test_overload_is_asked_again_and_then_answered(api: Api, status: int, asked: Ask) -> None:
    """What can pass by itself is waited for, a little longer each time."""
    reply, server, clock = asked(api, [refusal(status, "busy"), refusal(status, "busy"), Say(["ok"])])
    assert isinstance(reply, Reply)
    assert (reply.text, len(server.asked)) == ("ok", 3)
    assert 0.25 <= clock.slept[0] <= 0.5 <= clock.slept[1] <= 1


@BOTH
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_is_wrong_is_asked_once(api: Api, status: int, asked: Ask) -> None:
    """A wrong key, model or request is answered at once with one line."""
    error, server, clock = asked(api, [refusal(status, "no")])
    assert isinstance(error, ModelUnavailable)
    assert f"answered {status}" in str(error)
    assert (len(server.asked), clock.slept) == (1, [])


@BOTH
def test_retry_after_is_obeyed(api: Api, asked: Ask) -> None:
    """Both forms of the header are waited for, neither more nor less."""
    at = "Mon, 05 Jan 2026 08:00:09 GMT"  # nine seconds after the clock's start, two after the first wait
    acts: list[Act] = [refusal(429, "slow", Retry_After="7"), refusal(503, "slow", Retry_After=at), Say(["ok"])]
    reply, _, clock = asked(api, acts)
    assert isinstance(reply, Reply)
    assert clock.slept == [7, 2]


@BOTH
def test_a_wait_beyond_the_deadline_ends_at_once(api: Api, asked: Ask) -> None:
    """Nobody waits an hour inside a run of a minute, and the line says what was asked for."""
    error, server, clock = asked(api, [refusal(429, "slow", Retry_After="3600")], seconds=60)
    assert "it asks to wait 3600 s" in str(error)
    assert (len(server.asked), clock.slept) == (1, [])


@BOTH
def test_retries_end(api: Api, asked: Ask) -> None:
    """After the last attempt the line says how often it was tried."""
    error, server, _ = asked(api, [refusal(500, "broken")], retries=2)
    assert len(server.asked) == 3
    assert str(error).endswith("answered 500: it failed: broken (asked 3 times)")


@BOTH
def test_half_a_stream_is_not_asked_for_again(api: Api, asked: Ask) -> None:
    """What was handed on would be handed on twice; what was lost is counted."""
    heard: list[str] = []

    def listen(piece: str) -> bool:
        heard.append(piece)
        return False

    error, server, _ = asked(api, [Say(["ab", "cd"], cut=1), Say(["ok"])], stop=listen)
    assert isinstance(error, ModelUnavailable)
    assert heard == ["ab"]
    assert "the 2 characters that had come are not used" in str(error)
    assert len(server.asked) == 1


@BOTH
def test_an_error_before_the_first_word_is_asked_again(api: Api, asked: Ask, told: Ask) -> None:
    """An overload that is reported inside the stream is the same as a 529, until something was said."""
    busy = b'data: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded", "code": 529}}\n\n'
    reply, server, _ = asked(api, [Send(200, busy), Say(["ok"])])
    assert isinstance(reply, Reply)
    assert len(server.asked) == 2
    assert "broke off with an error: " in told(api, [Send(200, busy)], retries=0)


@BOTH
def test_a_connection_that_died_while_idle_is_replaced(api: Api, make: Ask) -> None:
    """A kept connection that the server closes without a word is not a failure; a new one that it closes is."""

    async def talk() -> tuple[str, int, str]:
        async with FaultServer([Say(["a"]), Slam(), Say(["b"]), Slam()]) as server:
            made = make(api, server.url)
            await made.reply(PROMPT, stop=never, seconds=5)
            second = await made.reply(PROMPT, stop=never, seconds=5)
            connections = server.connections
            await made.close()
            fresh = make(api, server.url)
            with pytest.raises(ModelUnavailable) as caught:
                await fresh.reply(PROMPT, stop=never, seconds=5)
            await fresh.close()
            return second.text, connections, str(caught.value)

    text, connections, line = asyncio.run(talk())
    assert (text, connections) == ("b", 2)
    assert "closed the connection without an answer" in line
    assert "asked" not in line


@BOTH
def test_a_provider_that_keeps_failing_is_left_alone_for_a_while(api: Api, make: Ask) -> None:
    """After five failures in a row no request is made; later one is, and success closes the breaker."""

    async def talk() -> tuple[list[str], int, str]:
        clock, lines = SkippingClock(), []
        async with FaultServer([*[refusal(500, "broken")] * 5, Say(["ok"])]) as server:
            made = make(api, server.url, clock, retries=0)
            for _ in range(7):
                with pytest.raises(ModelUnavailable) as caught:
                    await made.reply(PROMPT, stop=never, seconds=5)
                lines.append(str(caught.value))
            asked = len(server.asked)
            clock.advance(30)
            reply = await made.reply(PROMPT, stop=never, seconds=5)
            await made.close()
            return lines, asked, reply.text

    lines, asked, text = asyncio.run(talk())
    assert asked == 5
    assert lines[-1].endswith("failed 5 times in a row and is left alone for another 30 s")
    assert text == "ok"


@BOTH
def test_a_request_that_is_refused_says_nothing_about_the_provider(api: Api, make: Ask) -> None:
    """A prompt that is too long does not open the breaker for the next."""

    async def talk() -> int:
        async with FaultServer([*[refusal(400, "too long")] * 8, Say(["ok"])]) as server:
            made = make(api, server.url)
            for _ in range(8):
                with pytest.raises(ModelUnavailable):
                    await made.reply(PROMPT, stop=never, seconds=5)
            await made.reply(PROMPT, stop=never, seconds=5)
            await made.close()
            return len(server.asked)

    assert asyncio.run(talk()) == 9


@BOTH
def test_retries_are_logged_without_the_key(api: Api, asked: Ask) -> None:
    """Each repeated question is an event that says why."""
    with capture_logs() as logs:
        asked(api, [refusal(503, f"busy {KEY}"), Say(["ok"])])
    assert [entry["event"] for entry in logs] == ["model.retried"]
    assert KEY not in str(logs)
