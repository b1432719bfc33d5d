"""What a call cost, from a price that the user wrote down.  No table of prices is shipped: it would be wrong soon."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

_MILLION = 1_000_000


class Price(BaseModel):
    """US dollars for a million tokens.

    `cached` is for tokens read from the provider's cache and `cache_write` for storing them there; both are the price
    of the prompt when they are not given.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: float = Field(ge=0, allow_inf_nan=False)
    completion: float = Field(ge=0, allow_inf_nan=False)
    cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    cache_write: float | None = Field(default=None, ge=0, allow_inf_nan=False)

    def usd(self, *, prompt: int, reused: int, written: int, completion: int) -> float:
        """Return the price in US dollars; `prompt` counts all tokens sent, `reused` and `written` are parts of it."""
        fresh = max(0, prompt - reused - written)
        cached = self.prompt if self.cached is None else self.cached
        cache_write = self.prompt if self.cache_write is None else self.cache_write
        parts = fresh * self.prompt + reused * cached + written * cache_write + completion * self.completion
        return parts / _MILLION
