"""A model asked in another way than the usual one, for one attempt: the same name, the same place, another `reply`."""

from __future__ import annotations

from typing import Protocol

from daemon.stages import Model
from daemon.types import Prompt, Reply, Stop


class Asking(Protocol):
    """How it is asked; as `stages.Model.reply`."""

    async def __call__(self, prompt: Prompt, *, stop: Stop, seconds: float) -> Reply: ...


class Otherwise:
    """Another way to ask `usual` (implements stages.Model); what it holds belongs to `usual`."""

    def __init__(self, usual: Model, asking: Asking) -> None:
        self.name, self._usual, self._asking = usual.name, usual, asking
        self.local = getattr(usual, "local", False) is True

    async def reply(self, prompt: Prompt, *, stop: Stop, seconds: float) -> Reply:
        """Answer in the other way."""
        return await self._asking(prompt, stop=stop, seconds=seconds)

    async def check(self) -> str:
        """Say what is ready, as the usual way does."""
        return await self._usual.check()

    async def close(self) -> None:
        """Do nothing: the usual way may still be asked."""
