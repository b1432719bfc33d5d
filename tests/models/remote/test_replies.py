"""What a reply holds, what it cost, and what becomes of connections."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from daemon.errors import ModelError, ModelUnavailable
from daemon.models.fault_acts import Act, Say
from daemon.models.fault_server import FaultServer
from daemon.models.remote_options import is_loopback
from daemon.types import Message, Prompt, Reply
from tests.models.remote.asking import BOTH, PROMPT, Api, Ask, never


@BOTH
def test_bytes_may_come_one_by_one(api: Api, asked: Ask) -> None:
    """A stream that is cut inside characters and lines is the same stream."""
    reply, _, _ = asked(api, [Say(["Grüße ", "😀\u2028"], [("host", {"what": "disk"})], bytes_each=1)])
    assert isinstance(reply, Reply)
    assert reply.text == "Grüße 😀\u2028"
    assert [call.args for call in reply.calls] == [{"what": "disk"}]


@BOTH
def test_a_call_that_is_no_json_stays_text(api: Api, asked: Ask) -> None:
    """The reply carries what was said and a note; nothing is called."""
    reply, _, _ = asked(api, [Say(["hm"], [("host", '{"what": ')])])
    assert isinstance(reply, Reply)
    assert reply.calls == ()
    assert 'host {"what":' in reply.text
    assert "not a JSON object" in reply.note


@BOTH
def test_a_stopped_stream_drops_its_calls_and_estimates_its_cost(api: Api, asked: Ask) -> None:
    """A guard that ends the stream ends it at once; nothing unfinished is called, and the tokens are not forgotten."""
    seen: list[str] = []

    def stop(piece: str) -> bool:
        seen.append(piece)
        return "b" in piece

    price = {"prompt": 1.0, "completion": 1e6}
    reply, _, _ = asked(api, [Say(["a" * 40, "b", "c"], [("host", {})], hang=2)], stop=stop, price=price)
    assert isinstance(reply, Reply)
    assert (reply.finish, reply.text, reply.calls) == ("guard", "a" * 40 + "b", ())
    assert seen[-1] == "b"
    assert reply.usage.completion == 11
    assert reply.usage.usd >= 11
    assert "estimated" in reply.note


@BOTH
def test_arguments_are_shown_to_the_guard_too(api: Api, asked: Ask) -> None:
    """A model that runs in circles inside its arguments can be stopped there."""
    reply, _, _ = asked(api, [Say([], [("host", {"what": "xyz"})])], stop=lambda piece: "xyz" in piece)
    assert isinstance(reply, Reply)
    assert (reply.finish, reply.calls) == ("guard", ())
    assert "1 unfinished tool calls were dropped" in reply.note


@BOTH
def test_prices_and_their_absence(api: Api, asked: Ask) -> None:
    """A price makes dollars; a server on this machine costs nothing; elsewhere a missing price is said."""
    say: list[Act] = [Say(["ok"], usage=(1000, 600, 10))]
    priced, _, _ = asked(api, say, price={"prompt": 10.0, "completion": 100.0, "cached": 1.0})
    assert isinstance(priced, Reply)
    assert priced.usage.usd == pytest.approx((400 * 10 + 600 * 1 + 10 * 100) / 1e6)
    free, _, _ = asked(api, say)
    assert isinstance(free, Reply)
    assert (free.usage.usd, free.note) == (0, "")
    assert (free.usage.prompt, free.usage.reused, free.usage.completion) == (1000, 600, 10)


@BOTH
def test_unpriced_work_elsewhere_says_so(api: Api, make: Ask) -> None:
    """An address that is not plainly this machine's and has no price leaves a note, never a silent zero."""

    async def ask() -> Reply:
        async with FaultServer([Say(["ok"])]) as server:
            made = make(api, server.url.replace("127.0.0.1", "0.0.0.0"))
            assert not made.local
            try:
                reply: Reply = await made.reply(PROMPT, stop=never, seconds=5)
            finally:
                await made.close()
            return reply

    reply = asyncio.run(ask())
    assert reply.usage.usd == 0
    assert "unpriced" in reply.note


@BOTH
def test_one_connection_serves_many_calls(api: Api, make: Ask) -> None:
    """The connection is opened at the first call and used again; closing twice is fine, and ends it."""

    async def talk() -> int:
        async with FaultServer() as server:
            made = make(api, server.url)
            assert server.connections == 0
            for _ in range(5):
                await made.reply(PROMPT, stop=never, seconds=5)
            used = server.connections
            await made.close()
            await made.close()
            with pytest.raises(ModelUnavailable, match="frontier: it has been closed"):
                await made.reply(PROMPT, stop=never, seconds=5)
            return used

    assert asyncio.run(talk()) == 1


@BOTH
def test_cancelling_closes_the_stream_and_leaves_the_model_usable(api: Api, make: Ask) -> None:
    """The task ends at once, and the next call works."""

    async def talk() -> str:
        async with FaultServer([Say(["ab"], hang=1), Say(["ok"])]) as server:
            made = make(api, server.url)
            heard = asyncio.Event()

            def listen(piece: str) -> bool:
                heard.set()
                return False

            task = asyncio.create_task(made.reply(PROMPT, stop=listen, seconds=60))
            await heard.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            reply: Reply = await made.reply(PROMPT, stop=never, seconds=5)
            await made.close()
            return reply.text

    assert asyncio.run(talk()) == "ok"
    gc.collect()


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
def test_odd_text_can_be_sent(api: Api, make: Ask) -> None:
    """A lone surrogate or a control character in the thread does not stop the request."""

    async def ask() -> Any:
        async with FaultServer() as server:
            made = make(api, server.url)
            await made.reply(Prompt("t", (Message("user", "a\ud800\x00b"),)), stop=never, seconds=5)
            await made.close()
            return server.asked[0].body

    assert "a?\\u0000b" in str(asyncio.run(ask())).replace("\\x00", "\\u0000")


@BOTH
@pytest.mark.parametrize("say", [Say(["x" * 1_500_000] * 3), Say([], [("host", {})] * 300)], ids=["text", "calls"])
def test_a_reply_without_measure_is_of_no_use(api: Api, say: Say, asked: Ask) -> None:
    """A server that never stops talking is cut off before it fills the memory."""
    error, _, _ = asked(api, [say])
    assert type(error) is ModelError
    assert "and was cut off" in str(error)
