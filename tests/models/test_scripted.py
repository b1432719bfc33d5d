"""The model that says what it was told to: order, streaming, failures, and its script file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from daemon.clock import SkippingClock
from daemon.errors import ConfigError, ModelError, ModelUnavailable
from daemon.models.scripted import Scripted
from daemon.types import Message, Prompt, Reply

PROMPT = Prompt("t", (Message("system", "Keep watch."), Message("user", "How is the disk?")))


def model(home: Path, clock: SkippingClock | None = None, **options: Any) -> Scripted:
    return Scripted("fake", Scripted.Options.model_validate(options), home, clock or SkippingClock())


async def ask(fake: Scripted, prompt: Prompt = PROMPT, *, stop: Any = lambda _: False, seconds: float = 60) -> Reply:
    return await fake.reply(prompt, stop=stop, seconds=seconds)


def test_lines_are_said_in_order_and_then_it_is_over(tmp_path: Path) -> None:
    """Replies come in the order of the script, with their calls and costs, and after the last there is none."""
    fake = model(
        tmp_path, replies=["All good.", {"text": "", "calls": [{"name": "host", "args": {"what": "disk"}}], "usd": 0.5}]
    )

    async def run() -> tuple[Reply, Reply]:
        said = await ask(fake), await ask(fake)
        with pytest.raises(ModelUnavailable, match="over after 2 replies"):
            await ask(fake)
        return said

    first, second = asyncio.run(run())
    assert (first.text, first.finish, first.usage.completion) == ("All good.", "stop", 2)
    assert [(call.name, call.args) for call in second.calls] == [("host", {"what": "disk"})]
    assert second.usage.usd == 0.5
    assert list(fake.prompts) == [PROMPT] * 3


def test_a_loop_begins_again(tmp_path: Path) -> None:
    """With `loop` the first line follows the last."""
    fake = model(tmp_path, replies=["a", "b"], loop=True)

    async def run() -> list[str]:
        return [(await ask(fake)).text for _ in range(5)]

    assert asyncio.run(run()) == ["a", "b", "a", "b", "a"]


def test_pieces_are_streamed_and_a_trip_ends_the_reply(tmp_path: Path) -> None:
    """The text comes piece by piece; the piece that trips is the last, and calls behind it are not made."""
    heard: list[str] = []
    fake = model(tmp_path, replies=[{"text": "one two  three", "calls": [{"name": "host"}]}])

    def stop(piece: str) -> bool:
        heard.append(piece)
        return piece.startswith("two")

    reply = asyncio.run(ask(fake, stop=stop))

    assert heard == ["one ", "two  "]
    assert (reply.text, reply.finish, reply.calls) == ("one two  ", "guard", ())


@pytest.mark.parametrize(("fail", "error"), [("error", ModelError), ("unavailable", ModelUnavailable)])
def test_a_line_can_fail(tmp_path: Path, fail: str, error: type[Exception]) -> None:
    """A line may fail in both ways that a model can, and the next one speaks again."""
    fake = model(tmp_path, replies=[{"fail": fail}, "Back."])

    async def run() -> Reply:
        with pytest.raises(ModelError, match="line 1") as failed:
            await ask(fake)
        assert type(failed.value) is error
        return await ask(fake)

    assert asyncio.run(run()).text == "Back."


def test_a_hang_lasts_until_it_is_cancelled(tmp_path: Path) -> None:
    """A line that hangs gives nothing, not even at the deadline, and cancelling it leaves the model usable."""
    fake = model(tmp_path, replies=[{"fail": "hang"}, "Back."])

    async def run() -> Reply:
        hanging = asyncio.create_task(ask(fake, seconds=0))
        done, _ = await asyncio.wait([hanging], timeout=0.01)
        assert not done
        hanging.cancel()
        return await ask(fake)

    assert asyncio.run(run()).text == "Back."


def test_a_delay_takes_time_on_the_clock_and_the_deadline_holds(tmp_path: Path) -> None:
    """Delays pass on the given clock; one that is longer than the deadline gives nothing by then."""
    clock = SkippingClock()
    fake = model(tmp_path, clock, replies=["a", {"text": "b", "delay": 9}], delay=2)

    async def run() -> tuple[Reply, Reply]:
        return await ask(fake), await ask(fake, seconds=5)

    first, second = asyncio.run(run())
    assert (first.text, first.usage.seconds) == ("a", 2)
    assert (second.text, second.finish) == ("", "deadline")
    assert clock.slept == [2, 5]


def test_what_a_thread_sent_before_counts_as_reused(tmp_path: Path) -> None:
    """Usage counts words as tokens, and the thread's earlier prompt as reused; another thread starts from nothing."""
    fake = model(tmp_path, replies=["fine"], loop=True)
    longer = PROMPT.plus(Message("assistant", "fine"), Message("user", "And now?"))

    async def run() -> list[tuple[int, int]]:
        replies = [await ask(fake, one) for one in (PROMPT, longer, Prompt("other", PROMPT.messages))]
        return [(reply.usage.prompt, reply.usage.reused) for reply in replies]

    assert asyncio.run(run()) == [(6, 0), (9, 6), (6, 0)]


def test_a_file_holds_more_lines(tmp_path: Path) -> None:
    """The lines of the file come after those of the settings."""
    (tmp_path / "script.jsonl").write_text('"from the file"\n\n{"text": "with a note", "note": "n"}\n')
    fake = model(tmp_path, replies=["first"], file="script.jsonl")

    async def run() -> list[str]:
        assert await fake.check() == "3 scripted replies"
        return [(await ask(fake)).text for _ in range(3)]

    assert asyncio.run(run()) == ["first", "from the file", "with a note"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('"a"\n{"txt": "b"}\n', r"script.jsonl:2: txt: Extra inputs"),
        ('{"text": \n', r"script.jsonl:1: expected one JSON value a line"),
        ("3\n", r"script.jsonl:1: expected a JSON text or object"),
        (None, r"script.jsonl: expected a readable file"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, content: str | None, message: str) -> None:
    """A script that cannot be read is answered with its file, line and key."""
    if content is not None:
        (tmp_path / "script.jsonl").write_text(content)

    with pytest.raises(ConfigError, match=message):
        model(tmp_path, file="script.jsonl")


def test_an_empty_script_is_not_ready_and_a_closed_one_is_unavailable(tmp_path: Path) -> None:
    """`check` wants at least one line; after `close` there is no answer."""
    fake = model(tmp_path, replies=["a"])

    async def run() -> None:
        with pytest.raises(ConfigError, match="needs `replies` or a `file`"):
            await model(tmp_path).check()
        await fake.close()
        await fake.close()
        with pytest.raises(ModelUnavailable, match="closed"):
            await ask(fake)

    asyncio.run(run())
