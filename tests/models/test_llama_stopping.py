"""How a reply of the local model ends early: a guard trips, time is up, the task is cancelled; then it goes on."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from daemon.models.llama_cpp import LlamaCpp
from daemon.types import Message, Prompt, Reply, Stop, ToolSpec

if TYPE_CHECKING:
    from tests.models.conftest import With

pytestmark = pytest.mark.model

SYSTEM = Message("system", "You keep watch over a host.")
LINE = "Disk / is 61 percent full, load 0.42, memory 3.1 of 7.8 GiB, no failed units. "
HOT = {"temperature": 2.0, "top_p": 1.0, "min_p": 0.0, "top_k": 0}


def prompt(thread: str = "watch", text: str = "How is the disk?", tools: tuple[ToolSpec, ...] = ()) -> Prompt:
    return Prompt(thread, (SYSTEM, Message("user", text)), tools)


async def ask(model: LlamaCpp, what: Prompt, stop: Stop = lambda _: False, seconds: float = 60) -> Reply:
    return await model.reply(what, stop=stop, seconds=seconds)


def test_a_trip_ends_the_reply_at_the_piece_that_tripped(with_model: With) -> None:
    """`stop` sees each piece once; the reply is exactly what it saw, and the thread goes on from there."""
    heard: list[str] = []

    def stop(piece: str) -> bool:
        heard.append(piece)
        return len(heard) == 3

    async def body(model: LlamaCpp) -> tuple[Reply, Reply]:
        for thread in "abcdefgh":  # a reply of fewer pieces cannot show it
            heard.clear()
            first = await ask(model, prompt(thread), stop)
            if first.finish == "guard":
                break
        return first, await ask(model, prompt(thread).plus(first.message(), Message("user", "Go on.")))

    first, second = with_model(body, **HOT, max_tokens=400, seed=None)
    assert (first.finish, first.text, len(heard)) == ("guard", "".join(heard), 3)
    assert first.sample is not None
    assert len(first.sample.completion_ids) == len(first.sample.logprobs) == first.usage.completion
    assert second.usage.reused >= first.usage.prompt + first.usage.completion - 1


def test_an_exception_from_stop_comes_through(with_model: With) -> None:
    """What a guard raises reaches the caller, and the next reply works in the same process."""

    def stop(_: str) -> bool:
        raise ZeroDivisionError

    async def body(model: LlamaCpp) -> tuple[int | None, int | None]:
        with pytest.raises(ZeroDivisionError):
            await ask(model, prompt(), stop)
        pid = model.pid
        await ask(model, prompt())
        return pid, model.pid

    before, after = with_model(body, max_tokens=20)
    assert before == after


def test_a_deadline_inside_a_long_prompt_ends_it(with_model: With) -> None:
    """A deadline that comes while the prompt is read gives an empty reply, and keeps what had been read."""

    async def body(model: LlamaCpp) -> tuple[Reply, Reply]:
        await model.check()
        late = await ask(model, prompt(text=LINE * 90), seconds=0.03)
        return late, await ask(model, prompt(text=LINE * 90))

    late, full = with_model(body, max_tokens=5)
    assert (late.finish, late.text, late.usage.completion) == ("deadline", "", 0)
    assert full.usage.prompt > 2000
    assert full.usage.reused < full.usage.prompt / 2
    assert full.finish != "deadline"


def test_a_deadline_in_the_middle_gives_what_was_said(with_model: With) -> None:
    """When time is up while it speaks, the reply holds what was said until then."""

    async def body(model: LlamaCpp) -> Reply:
        await model.check()
        for thread in "abcdefgh":  # a short reply may be over before the deadline
            ends = time.monotonic() + 0.3

            def slow(_: str, ends: float = ends) -> bool:
                while time.monotonic() < ends + 0.05:  # a guard that takes its time holds the model back
                    pass
                return False

            reply = await ask(model, prompt(thread, "Tell me all that you see."), slow, seconds=0.3)
            if reply.finish == "deadline":
                break
        return reply

    reply = with_model(body, **HOT, max_tokens=2000, seed=None)
    assert reply.finish == "deadline"
    assert reply.text
    assert reply.usage.completion >= 1


def test_cancelling_inside_a_long_prompt_leaves_the_process_usable(with_model: With) -> None:
    """A cancelled task stops the model in the middle of the prompt; the same process answers the next call."""

    async def body(model: LlamaCpp) -> tuple[int | None, int | None, Reply]:
        await model.check()
        pid = model.pid
        task = asyncio.create_task(ask(model, prompt(text=LINE * 90)))
        await asyncio.wait([task], timeout=0.05)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pid, model.pid, await ask(model, prompt(text=LINE * 90))

    before, after, reply = with_model(body, max_tokens=5)
    assert before == after
    assert reply.usage.reused < reply.usage.prompt / 2
