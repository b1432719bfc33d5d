"""The models of a heartbeat in its order: the next is asked only when the one before gave no answer and said nothing.

It never changes models silently: the note of the reply names every model that was passed over, and why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import structlog

from daemon.errors import ConfigError, ModelUnavailable
from daemon.stages import Adjustable, Clock, Model
from daemon.types import Prompt, Reply, Stop

log = structlog.get_logger()


def stays_here(model: Model) -> bool:
    """Say whether a model keeps the prompt on this machine; one that does not say so is taken to send it away."""
    return getattr(model, "local", False) is True


def costs_nothing(model: Model) -> bool:
    """Say whether a call of a model is free; one that does not say so is, only if it stays on this machine."""
    return getattr(model, "free", stays_here(model)) is True


class Router:
    """Several models as one (implements stages.Model).  `sensitive` work is shown to none that sends it elsewhere.

    It owns none of its models.  `tell` hears (name, True) of a model that answered and (name, False) of one that could
    not; of one that was not asked it hears nothing.
    """

    def __init__(
        self,
        routes: Sequence[Model],
        clock: Clock,
        *,
        sensitive: bool = False,
        tell: Callable[[str, bool], None] | None = None,
    ) -> None:
        allowed = [model for model in routes if stays_here(model)] if sensitive else list(routes)
        if not allowed:
            named = ", ".join(model.name for model in routes) or "none"
            raise ConfigError("heartbeat", "model", f"expected a model on this machine for sensitive work, not {named}")
        self._routes, self._clock = tuple(allowed), clock
        self._answered = allowed[0]
        self._tell = tell or _tell_nobody
        self.name = allowed[0].name
        self.local = all(stays_here(model) for model in allowed)

    async def reply(self, prompt: Prompt, *, stop: Stop, seconds: float) -> Reply:
        """Answer with the first model that can; `seconds` are for all of them together.

        A model that fails after it has said something is not replaced: its words have been heard.  Raises what that
        model raised, or ModelUnavailable with a part for every model that was asked.
        """
        ends = self._clock.monotonic() + seconds
        passed: list[str] = []
        heard = False

        def listen(piece: str) -> bool:
            nonlocal heard
            heard = True
            return stop(piece)

        for model in self._routes:
            left = ends - self._clock.monotonic()
            if left <= 0:
                passed.append(f"{model.name}: no time was left to ask it")
                break
            try:
                reply = await model.reply(prompt, stop=listen, seconds=left)
            except ModelUnavailable as why:
                self._tell(model.name, False)
                if heard or len(self._routes) == 1:
                    raise
                log.warning("model.passed_over", model=model.name, why=str(why))
                passed.append(str(why))
                continue
            self._tell(model.name, True)
            self._answered = model
            notes = [f"asked {model.name} because: {'; '.join(passed)}"] if passed else []
            return replace(reply, note="; ".join([*notes, reply.note] if reply.note else notes))
        raise ModelUnavailable("no model of the route answered: " + "; ".join(passed))

    def loosened(self, avoid: Sequence[str]) -> Model | None:
        """Return the model that answered last in another way, and in its usual way should that fail.

        None where it has no other way; see `stages.Adjustable`.
        """
        loosened = self._answered.loosened(avoid) if isinstance(self._answered, Adjustable) else None
        return None if loosened is None else Router([loosened, self._answered], self._clock, tell=self._tell)

    def another(self) -> Router | None:
        """Return a route through the free models that did not answer last, and then back; see `stages.Routed`."""
        others = [model for model in self._routes if model is not self._answered and costs_nothing(model)]
        return Router([*others, self._answered], self._clock, tell=self._tell) if others else None

    async def check(self) -> str:
        """Return a line for each model.  Raises ModelUnavailable when none of them is ready."""
        lines, ready = [], False
        for model in self._routes:
            try:
                lines.append(await model.check())
                ready = True
            except ModelUnavailable as why:
                lines.append(str(why))
        if not ready:
            raise ModelUnavailable("; ".join(lines))
        return "; ".join(lines)

    async def close(self) -> None:
        """Do nothing: the models belong to whoever made them, and other routers may be using them."""


def _tell_nobody(name: str, up: bool) -> None:
    """Nobody wants to know."""
