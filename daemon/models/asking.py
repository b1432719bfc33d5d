"""One question to a provider: asked again where nothing is done twice, heard event by event, ended by stop or deadline.

A stream that broke is never an answer.  It does not know how much a broken stream cost: nobody tells.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

import structlog

from daemon.errors import ModelError
from daemon.models.draft import Complaint, Draft
from daemon.models.fault import Fault, Server
from daemon.models.sse import Event
from daemon.stages import Clock
from daemon.types import Prompt, Stop

if TYPE_CHECKING:
    from daemon.models.http import Door

log = structlog.get_logger()

_MOST_CHARS = 4_000_000
_MOST_CALLS = 256
_DRAIN_SECONDS = 0.2
_PATIENCE = 60.0  # a server that is silent for less than this may only be slow


class Wire(Protocol):
    """One API's format: where its calls go, what they hold and what its events mean."""

    path: str
    calls_in_text: bool

    def headers(self, key: str | None) -> Mapping[str, str]: ...

    def body(self, prompt: Prompt) -> Mapping[str, Any]: ...

    def hear(self, draft: Draft, event: Event) -> str: ...

    async def ready(self, door: Door) -> str:
        """Return what the server says of the model, in a few words.  Raises Fault."""


@dataclass(slots=True)
class Call:
    """One `reply` on its way; `draft` is what the newest attempt heard, `ends` is in the clock's monotonic seconds."""

    prompt: Prompt
    body: Mapping[str, Any]
    stop: Stop
    ends: float
    draft: Draft
    opened: bool = False
    attempts: int = 0


class Asking:
    """How one server is asked; `retries` is how often again, at most."""

    def __init__(self, server: Server, wire: Wire, door: Door, clock: Clock, random: Random, retries: int) -> None:
        self._server, self._wire, self._door = server, wire, door
        self._clock, self._random, self._retries = clock, random, retries

    async def answer(self, call: Call, seconds: float) -> None:
        """Fill `call.draft`; a deadline leaves what there is so far.

        Raises Fault when there is no answer, ModelError when it is of no use.
        """
        try:
            async with asyncio.timeout(seconds):
                await self._with_retries(call)
        except TimeoutError:
            if not call.opened:
                words = f"did not begin to answer within the {seconds:g} s that were left"
                raise Fault(self._server.line(words), provider=seconds >= _PATIENCE) from None
            if not call.draft.over and call.draft.finish is None:
                call.draft.cut("deadline")

    async def _with_retries(self, call: Call) -> None:
        """Ask until there is an answer.  What a stream has handed on is never asked for again."""
        from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

        def too_late(state: RetryCallState) -> bool:
            return self._clock.monotonic() + state.upcoming_sleep >= call.ends

        def say(state: RetryCallState) -> None:
            why = str(state.outcome.exception()) if state.outcome else ""
            name, wait = self._server.name, round(state.upcoming_sleep, 3)
            log.warning("model.retried", model=name, attempt=state.attempt_number, wait=wait, why=why)

        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, Fault) and error.again),
            wait=self._pause,
            stop=lambda state: stop_after_attempt(self._retries + 1)(state) or too_late(state),
            sleep=self._clock.sleep,
            before_sleep=say,
            reraise=True,
        )
        try:
            await retrying(self._attempt, call)
        except Fault as fault:
            if call.attempts < 2:
                raise
            line = f"{fault.line} (asked {call.attempts} times)"
            raise Fault(line, after=fault.after, provider=fault.provider) from None

    def _pause(self, state: Any) -> float:
        """What the server asks for, else half a second, doubling; less at random, so that agents do not keep step."""
        fault = state.outcome.exception()
        after: float | None = getattr(fault, "after", None)
        if after is not None:
            return after
        wait: float = min(8.0, 0.5 * 2 ** (state.attempt_number - 1))
        return wait * self._random.uniform(0.5, 1)

    async def _attempt(self, call: Call) -> None:
        call.draft, call.opened, call.attempts = Draft(), False, call.attempts + 1
        try:
            async with self._door.events(self._wire.path, call.body) as events:
                call.opened = True
                async with contextlib.aclosing(events):
                    async for event in events:
                        self._heard(call, event)
                        if call.draft.over:
                            break
                    if call.draft.over and call.draft.finish not in ("guard", "deadline"):
                        await _drained(events)
        except Fault as fault:
            if call.draft.finish is not None:  # the answer was whole; what is missing is what it cost
                return
            call.opened = False
            if not call.draft.said:
                raise
            line = f"{fault.line}; the {call.draft.chars} characters that had come are not used"
            raise Fault(line, after=fault.after, provider=fault.provider) from None
        self._ended(call.draft)

    def _heard(self, call: Call, event: Event) -> None:
        try:
            piece = self._wire.hear(call.draft, event)
        except Complaint as told:
            words = self._door.clean(str(told)) or "no reason"
            raise Fault(self._server.line(f"broke off with an error: {words}"), again=told.again) from None
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
            words = self._door.clean(event.data)
            raise Fault(self._server.line(f"sent what its format does not allow: {words}")) from None
        if call.draft.chars > _MOST_CHARS or len(call.draft.calls) > _MOST_CALLS:
            most = f"{_MOST_CHARS:,} characters or {_MOST_CALLS} calls"
            raise ModelError(self._server.line(f"sent more than {most} and was cut off"))
        if piece and call.stop(piece):
            call.draft.cut("guard")

    def _ended(self, draft: Draft) -> None:
        """Judge a stream that has ended: without a word and without a reason it was no answer."""
        if draft.finish is not None:
            return
        if not draft.said:
            raise Fault(self._server.line("answered 200 with nothing in it"))
        if not draft.over:
            lost = f"the {draft.chars} characters that had come are not used"
            raise Fault(self._server.line(f"ended its stream without saying that it was done; {lost}"))


async def _drained(events: AsyncIterator[Event]) -> None:
    """Read what follows the end of an answer, so that its connection can be used again; do not wait for it long."""
    with contextlib.suppress(TimeoutError, Fault):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in events:
                pass
