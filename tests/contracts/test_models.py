"""What every model in the registry promises, each against its own fake."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from daemon.errors import ModelUnavailable
from daemon.models import MODELS
from daemon.models.fault_acts import Say, refusal
from daemon.models.fault_server import FaultServer
from daemon.registry import load
from daemon.settings import validated
from daemon.stages import Model
from daemon.types import Message, Prompt, ToolCall, ToolSpec

HOST = ToolSpec("host", "Look at the host.", {"type": "object", "properties": {"what": {"type": "string"}}})
PROMPT = Prompt("t", (Message("system", "Be brief."), Message("user", "How is the disk?")), (HOST,))
SHIPPED = Path(__file__).parents[2] / "daemon" / "models" / "shipped" / "watchkeeper.gguf"


def _never(piece: str) -> bool:
    return False


def _made(name: str, table: dict[str, Any], home: Path = Path()) -> Model:
    backend = load("models.x.backend", MODELS, name)
    model: Model = backend("x", validated(backend.Options, table, "trimtab.toml", "models.x"), home)
    return model


class Stage(Protocol):
    """Gives a model that will say these things, one a call; None is no answer."""

    def __call__(self, *says: Say | None) -> contextlib.AbstractAsyncContextManager[Model]: ...


def _served(name: str) -> Stage:
    @contextlib.asynccontextmanager
    async def serve(*says: Say | None) -> AsyncIterator[Model]:
        async with FaultServer([say or refusal(404, "nobody here") for say in says]) as server:
            model = _made(name, {"url": server.url, "model": "m"})
            yield model
            await model.close()

    return serve


@contextlib.asynccontextmanager
async def _scripted(*says: Say | None) -> AsyncIterator[Model]:
    def line(say: Say | None) -> dict[str, Any]:
        if say is None:
            return {"fail": "unavailable"}
        if say.hang is not None:
            return {"text": "".join(say.text), "delay": 60}
        calls = [{"name": name, "args": args} for name, args in say.calls]
        note = "refused by the model" if say.finish == "refusal" else ""
        return {"text": "".join(say.text), "calls": calls, "note": note}

    model = _made("scripted", {"replies": [line(say) for say in says]})
    yield model
    await model.close()


STAGES: dict[str, Stage] = {"scripted": _scripted, "openai": _served("openai"), "anthropic": _served("anthropic")}
OWN_CONTRACT = {"llama_cpp"}  # it samples; what can be asked of it without a script is asked below
TOLD = pytest.mark.parametrize("stage", [pytest.param(stage, id=name) for name, stage in STAGES.items()])


def test_no_backend_is_without_a_stage() -> None:
    """Whoever adds a backend adds what it is tested with."""
    assert set(MODELS) == set(STAGES) | OWN_CONTRACT


@TOLD
def test_text(stage: Stage) -> None:
    """Words come out as they were said, every piece of them is shown to `stop`, and the model names itself."""

    async def talk() -> None:
        heard: list[str] = []

        def listen(piece: str) -> bool:
            heard.append(piece)
            return False

        async with stage(Say(["All ", "is ", "well, ", "grüße 😀"])) as model:
            reply = await model.reply(PROMPT, stop=listen, seconds=10)
        assert reply.text == "All is well, grüße 😀" == "".join(heard)
        assert (reply.calls, reply.finish, reply.model, reply.note) == ((), "stop", "x", "")
        assert reply.usage.prompt > 0
        assert reply.usage.completion > 0
        assert reply.usage.usd == 0

    asyncio.run(talk())


@TOLD
def test_calls_with_objects_as_arguments(stage: Stage) -> None:
    """One call or several come in their order, with an id each and arguments that are objects."""

    async def talk() -> tuple[ToolCall, ...]:
        deep = {"what": "disk", "of": {"list": [1, None, "ü"]}}
        async with stage(Say(["I look."], [("host", deep), ("host", {})])) as model:
            reply = await model.reply(PROMPT, stop=_never, seconds=10)
        assert reply.text == "I look."
        assert reply.finish == "stop"
        assert [(call.name, dict(call.args)) for call in reply.calls] == [("host", deep), ("host", {})]
        return reply.calls

    calls = asyncio.run(talk())
    assert len({call.id for call in calls} - {""}) == 2


@TOLD
def test_calls_and_results_go_back_into_the_next_prompt(stage: Stage) -> None:
    """A second step with the calls and results of the first is answered."""

    async def talk() -> str:
        async with stage(Say([], [("host", {"what": "disk"})]), Say(["The disk is at 89 percent."])) as model:
            first = await model.reply(PROMPT, stop=_never, seconds=10)
            result = Message("tool", "89 %", call_id=first.calls[0].id, name="host")
            second = await model.reply(PROMPT.plus(first.message(), result), stop=_never, seconds=10)
        return second.text

    assert asyncio.run(talk()) == "The disk is at 89 percent."


@TOLD
def test_an_empty_reply_is_a_reply(stage: Stage) -> None:
    """A model that says nothing is heard saying nothing."""

    async def talk() -> None:
        async with stage(Say()) as model:
            reply = await model.reply(PROMPT, stop=_never, seconds=10)
        assert (reply.text, reply.calls, reply.finish) == ("", (), "stop")

    asyncio.run(talk())


@TOLD
def test_a_refusal_is_noted(stage: Stage) -> None:
    """A model that would not is told apart from one that had nothing to say."""

    async def talk() -> None:
        async with stage(Say(["No."], finish="refusal")) as model:
            reply = await model.reply(PROMPT, stop=_never, seconds=10)
        assert reply.finish == "stop"
        assert reply.note.startswith("refused")

    asyncio.run(talk())


@TOLD
def test_no_answer_is_model_unavailable(stage: Stage) -> None:
    """It is one line that names the model, and the next call may work."""

    async def talk() -> None:
        async with stage(None, Say(["ok"])) as model:
            with pytest.raises(ModelUnavailable, match=r"^x: ") as caught:
                await model.reply(PROMPT, stop=_never, seconds=10)
            assert str(caught.value).isprintable()
            assert (await model.reply(PROMPT, stop=_never, seconds=10)).text == "ok"

    asyncio.run(talk())


@TOLD
def test_a_deadline_gives_what_there_is(stage: Stage) -> None:
    """A reply that is not done in time is cut, says so, and calls nothing."""

    async def talk() -> None:
        async with stage(Say(["warm"]), Say(["be", "gun"], [("host", {})], hang=1), Say(["ok"])) as model:
            await model.reply(PROMPT, stop=_never, seconds=10)
            reply = await model.reply(PROMPT, stop=_never, seconds=0.4)
            assert reply.finish == "deadline"
            assert reply.text in ("", "be")
            assert reply.calls == ()
            assert (await model.reply(PROMPT, stop=_never, seconds=10)).text == "ok"

    asyncio.run(talk())


@TOLD
def test_stop_ends_the_stream(stage: Stage) -> None:
    """The piece that `stop` ended on is the last one, nothing unfinished is called, and the model stays usable."""

    async def talk() -> None:
        async with stage(Say(["one ", "two ", "three "], [("host", {})]), Say(["ok"])) as model:
            reply = await model.reply(PROMPT, stop=lambda piece: "two" in piece, seconds=10)
            assert (reply.text, reply.calls, reply.finish) == ("one two ", (), "guard")
            assert (await model.reply(PROMPT, stop=_never, seconds=10)).text == "ok"

    asyncio.run(talk())


@TOLD
def test_cancelling_leaves_the_model_usable(stage: Stage) -> None:
    """A cancelled call ends at once, and the model goes on answering."""

    async def talk() -> str:
        async with stage(Say(["warm"]), Say(["be", "gun"], hang=1), Say(["ok"]), Say(["ok"])) as model:
            await model.reply(PROMPT, stop=_never, seconds=10)
            task = asyncio.create_task(model.reply(PROMPT, stop=_never, seconds=60))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(task, 5)
            await model.reply(PROMPT, stop=_never, seconds=1)  # meets the hang if the cancelled call had not been sent
            return (await model.reply(PROMPT, stop=_never, seconds=10)).text

    assert asyncio.run(talk()) == "ok"


@pytest.mark.model
@pytest.mark.skipif(not SHIPPED.exists(), reason="the shipped model is not built yet")
@pytest.mark.parametrize("how", ["text", "stop", "deadline", "cancel"])
def test_the_shipped_model_keeps_the_same_promises(how: str, tmp_path: Path) -> None:
    """What can be asked of a model that samples: words, an end by `stop` or deadline, and use after a cancel."""
    pieces: list[str] = []

    def third(piece: str) -> bool:
        pieces.append(piece)
        return how == "stop" and len(pieces) == 3

    async def talk() -> None:
        model = _made("llama_cpp", {"path": "shipped", "seed": 1}, tmp_path)
        try:
            plain = Prompt("t", (Message("user", "Say that the disk is at 40 percent."),))
            if how == "cancel":
                task = asyncio.create_task(model.reply(plain, stop=_never, seconds=60))
                await asyncio.sleep(0.05)
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait_for(task, 30)
            await model.check()
            seconds = 1e-6 if how == "deadline" else 60
            reply = await model.reply(plain, stop=third, seconds=seconds)
            assert reply.model == "x"
            ends = {"stop": ("guard",), "deadline": ("deadline",)}
            assert reply.finish in ends.get(how, ("stop", "length"))  # so small a model may not find an end
            assert bool(reply.text) == (how != "deadline")
        finally:
            await model.close()

    asyncio.run(talk())
