"""Several models as one: the order, what ends it, and that it is never silent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from daemon.clock import SkippingClock
from daemon.errors import ConfigError, ModelError, ModelUnavailable
from daemon.models.fault_acts import Say, refusal
from daemon.models.fault_server import FaultServer
from daemon.models.openai import OpenAI
from daemon.models.router import Router, costs_nothing, stays_here
from daemon.models.scripted import Scripted
from daemon.stages import Model
from daemon.types import Message, Prompt, Reply, Stop

PROMPT = Prompt("t", (Message("user", "hi"),))


class Elsewhere(Scripted):
    """A scripted model that says that it sends the prompt away."""

    local = False


def _says(name: str, *replies: Any, clock: SkippingClock | None = None, made: type[Scripted] = Scripted) -> Scripted:
    return made(name, made.Options.model_validate({"replies": replies}), Path(), clock or SkippingClock())


DEAD: dict[str, Any] = {"fail": "unavailable"}


def _ask(router: Model, seconds: float = 10) -> Reply:
    return asyncio.run(router.reply(PROMPT, stop=lambda piece: False, seconds=seconds))


def test_the_first_that_answers_is_the_one() -> None:
    """The order is kept, the others are not asked, and the note is empty."""
    second = _says("b", "B")
    reply = _ask(Router([_says("a", "A"), second], SkippingClock()))
    assert (reply.text, reply.model, reply.note) == ("A", "a", "")
    assert not second.prompts


def test_a_change_of_model_is_named_in_the_note() -> None:
    """Every model that was passed over is there with its reason, and the reply names who answered."""
    last: dict[str, Any] = {"text": "C", "note": "said slowly"}
    reply = _ask(Router([_says("a", DEAD), _says("b", DEAD), _says("c", last)], SkippingClock()))
    assert (reply.text, reply.model) == ("C", "c")
    assert reply.note.startswith("asked c because: a: line 1 of the script is unavailable; b: ")
    assert reply.note.endswith("; said slowly")


def test_when_none_answers_all_reasons_are_told() -> None:
    """One line with a part for each."""
    with pytest.raises(ModelUnavailable, match=r"no model of the route answered: a: .*; b: "):
        _ask(Router([_says("a", DEAD), _says("b", DEAD)], SkippingClock()))


def test_a_useless_answer_is_not_replaced() -> None:
    """Only a model that gave no answer is passed over; an answer of no use is the run's own failure."""
    useless: dict[str, Any] = {"fail": "error"}
    with pytest.raises(ModelError, match="is an error"):
        _ask(Router([_says("a", useless), _says("b", "B")], SkippingClock()))


def test_words_that_were_heard_are_not_said_again_by_another() -> None:
    """A stream that broke after its first words ends the call, because a guard has heard them."""

    async def talk() -> tuple[str, int]:
        async with FaultServer([Say(["ab", "cd"], cut=1)]) as server:
            first = OpenAI("a", OpenAI.Options(url=server.url, model="m"), Path())
            second = _says("b", "B")
            with pytest.raises(ModelUnavailable) as caught:
                await Router([first, second], SkippingClock(), tell=told).reply(
                    PROMPT, stop=lambda piece: False, seconds=5
                )
            await first.close()
            return str(caught.value), len(second.prompts)

    told = Told()
    line, asked = asyncio.run(talk())
    assert told.heard == [("a", False)]
    assert "closed the connection in the middle of its answer" in line
    assert asked == 0


def test_a_server_that_refuses_is_replaced() -> None:
    """A real refusal over a real socket leads to the next model, with its line in the note."""

    async def talk() -> Reply:
        async with FaultServer([refusal(401, "no")]) as server:
            first = OpenAI("paid", OpenAI.Options(url=server.url, model="m"), Path())
            reply = await Router([first, _says("b", "B")], SkippingClock()).reply(
                PROMPT, stop=lambda p: False, seconds=5
            )
            await first.close()
            return reply

    reply = asyncio.run(talk())
    assert reply.text == "B"
    assert "paid: the server at 127.0.0.1" in reply.note


class Told:
    """Who was said to answer or not, in order."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, bool]] = []

    def __call__(self, name: str, up: bool) -> None:
        self.heard.append((name, up))


def test_it_tells_who_answers_and_who_does_not() -> None:
    """Each model that was asked is told of once a call, and one behind the answer is not: nobody asked it."""
    told = Told()
    _ask(Router([_says("a", DEAD), _says("b", "B"), _says("c", "C")], SkippingClock(), tell=told))
    assert told.heard == [("a", False), ("b", True)]


def test_it_tells_of_a_single_model_that_is_away() -> None:
    """A route of one raises what its model raised, and tells of it all the same."""
    told = Told()
    with pytest.raises(ModelUnavailable, match=r"^a: line 1"):
        _ask(Router([_says("a", DEAD)], SkippingClock(), tell=told))
    assert told.heard == [("a", False)]


def test_it_does_not_tell_of_a_model_that_had_no_time() -> None:
    """A model that was passed over because the time was up may well be there."""
    clock, told = SkippingClock(), Told()
    spent: dict[str, Any] = {"fail": "unavailable", "delay": 30}
    with pytest.raises(ModelUnavailable, match="no time was left"):
        _ask(Router([_says("a", spent, clock=clock), _says("c", "C")], clock, tell=told), seconds=10)
    assert told.heard == [("a", False)]


def test_the_time_is_for_all_of_them() -> None:
    """What the first used up, the second does not have."""
    clock = SkippingClock()
    slow: dict[str, Any] = {"fail": "unavailable", "delay": 7}
    late: dict[str, Any] = {"text": "too late", "delay": 5}
    reply = _ask(Router([_says("a", slow, clock=clock), _says("b", late, clock=clock)], clock), seconds=10)
    assert (reply.finish, reply.model) == ("deadline", "b")
    clock = SkippingClock()
    third = _says("c", "C")
    spent: dict[str, Any] = {"fail": "unavailable", "delay": 30}
    with pytest.raises(ModelUnavailable, match="c: no time was left to ask it"):
        _ask(Router([_says("a", spent, clock=clock), third], clock), seconds=10)


def test_sensitive_work_stays_on_this_machine() -> None:
    """Models elsewhere are not in the route at all, wherever they stand in it."""
    away = _says("cloud", "leaked", made=Elsewhere)
    router = Router([away, _says("local", DEAD), away], SkippingClock(), sensitive=True)
    with pytest.raises(ModelUnavailable):
        _ask(router)
    assert not away.prompts
    assert router.local


def test_sensitive_work_without_a_local_model_is_a_mistake() -> None:
    """It is refused with one line, not sent anywhere."""
    with pytest.raises(ConfigError, match="a model on this machine for sensitive work, not cloud"):
        Router([_says("cloud", "x", made=Elsewhere)], SkippingClock(), sensitive=True)


def test_a_model_that_does_not_say_where_it_is_counts_as_elsewhere() -> None:
    """Silence is not a promise."""

    class Unknown:
        name = "own"

        async def reply(self, prompt: Prompt, *, stop: Stop, seconds: float) -> Reply:
            return Reply("x")

        async def check(self) -> str:
            return ""

        async def close(self) -> None: ...

    unknown: Model = Unknown()
    assert not stays_here(unknown)
    assert stays_here(OpenAI("x", OpenAI.Options(url="http://localhost:1/v1", model="m"), Path()))
    assert not stays_here(OpenAI("x", OpenAI.Options(url="http://10.0.0.1:1/v1", model="m"), Path()))


def test_check_tells_of_each_and_fails_when_none_is_ready() -> None:
    """One that is ready is enough, and the others are still told."""

    async def check(*models: Model) -> str:
        return await Router(models, SkippingClock()).check()

    async def both() -> tuple[str, str]:
        async with FaultServer([]) as server:
            url = server.url
        dead = OpenAI("dead", OpenAI.Options(url=url, model="m"), Path())
        try:
            line = await check(dead, _says("a", "A"))
            with pytest.raises(ModelUnavailable) as caught:
                await check(dead)
            return line, str(caught.value)
        finally:
            await dead.close()

    line, failed = asyncio.run(both())
    assert "cannot be reached" in line
    assert "1 scripted replies" in line
    assert "cannot be reached" in failed


class Loose(Scripted):
    """A model that can be asked otherwise."""

    def loosened(self, avoid: Sequence[str]) -> Model:
        """Say what is to be avoided."""
        return _says("loose", f"not {avoid[0]}")


def test_the_model_that_answered_is_the_one_that_is_loosened() -> None:
    """Not the first of the route, if that one is away; and the route itself goes on as usual."""
    first, second = _says("a", DEAD), _says("b", "B", made=Loose)
    router = Router([first, second], SkippingClock())
    assert router.loosened(["x"]) is None
    _ask(router)
    loosened = router.loosened(["x"])
    assert loosened is not None
    assert "not x" == _ask(loosened).text


def test_another_model_is_a_free_one_and_the_way_leads_back() -> None:
    """A model that costs money, or does not say, is passed over; when the others are away, the first answers again."""
    cloud, away = _says("cloud", "C", made=Elsewhere), _says("b", DEAD)
    router = Router([_says("a", "A", "A again"), cloud, away], SkippingClock())
    _ask(router)
    other = router.another()
    assert other is not None
    assert "A again" == _ask(other).text
    assert not cloud.prompts
    assert Router([_says("a", "A"), cloud], SkippingClock()).another() is None


def test_what_costs_nothing_is_local_or_priced_at_zero() -> None:
    """An API without a price is not free: nobody knows what it costs."""
    options = {"url": "http://10.0.0.1:1/v1", "model": "m"}
    free = OpenAI("x", OpenAI.Options.model_validate(options | {"price": {"prompt": 0, "completion": 0}}), Path())
    assert costs_nothing(free)
    assert not costs_nothing(OpenAI("x", OpenAI.Options.model_validate(options), Path()))
    assert costs_nothing(OpenAI("x", OpenAI.Options(url="http://localhost:1/v1", model="m"), Path()))


@pytest.mark.parametrize(("usual", "can"), [(None, False), (0.0, True), (0.7, True), (1.0, False), (1.5, False)])
def test_a_remote_model_is_warmed_only_where_a_person_set_it_cold(usual: float | None, can: bool) -> None:
    """A provider's own default is high already, and some providers refuse to be told."""
    model = OpenAI("x", OpenAI.Options(url="http://localhost:1/v1", model="m", temperature=usual), Path())
    assert can == (model.loosened(["x"]) is not None)
