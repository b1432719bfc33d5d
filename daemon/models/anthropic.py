"""The Anthropic Messages API, with the stable part of the prompt marked for the provider's cache."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, urlsplit

from pydantic import Field, field_validator

from daemon.models import wire_anthropic
from daemon.models.draft import Draft
from daemon.models.remote import Remote
from daemon.models.remote_options import RemoteOptions
from daemon.models.sse import Event
from daemon.stages import Clock
from daemon.types import Prompt

if TYPE_CHECKING:
    from daemon.models.http import Door

_VERSION = "2023-06-01"
_WRITE_FACTOR = {"5m": 1.25, "1h": 2.0, "off": 1.0}  # the provider's own price list, as a multiple of the prompt's


class Anthropic(Remote):
    """A model behind `URL/messages` (implements stages.Model)."""

    class Options(RemoteOptions):
        """`cache` is how long the provider keeps the prefix: choose "1h" for heartbeats more than 5 minutes apart."""

        url: str = "https://api.anthropic.com/v1"
        max_tokens: int | None = Field(default=4096, ge=1)
        cache: Literal["5m", "1h", "off"] = "5m"

        @field_validator("url")
        @classmethod
        def _with_version(cls, value: str) -> str:
            return value if urlsplit(value).path else value + "/v1"

    def __init__(
        self, name: str, options: Options, home: Path, clock: Clock | None = None, random: Random | None = None
    ) -> None:
        price = options.price
        if price is not None and price.cache_write is None:
            price = price.model_copy(update={"cache_write": price.prompt * _WRITE_FACTOR[options.cache]})
        super().__init__(name, options.model_copy(update={"price": price}), home, _Wire(options), clock, random)


class _Wire:
    path = "/messages"
    calls_in_text = False

    def __init__(self, options: Anthropic.Options) -> None:
        self._model = options.model
        self._settings = {"max_tokens": options.max_tokens or 4096} | options.sampling | options.extra
        ttl = {"ttl": "1h"} if options.cache == "1h" else {}
        self._cache = None if options.cache == "off" else {"type": "ephemeral"} | ttl

    def headers(self, key: str | None) -> Mapping[str, str]:
        return {"anthropic-version": _VERSION} | ({"X-Api-Key": key} if key else {})

    def body(self, prompt: Prompt) -> Mapping[str, Any]:
        return wire_anthropic.body(prompt, self._model, self._settings, self._cache)

    def hear(self, draft: Draft, event: Event) -> str:
        return wire_anthropic.hear(draft, event)

    async def ready(self, door: Door) -> str:
        await door.get(f"/models/{quote(self._model, safe='')}")
        return "ready"
