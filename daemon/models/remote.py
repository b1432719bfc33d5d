"""A model behind an HTTP API: the breaker, the price and the key around one wire format.

What a provider can do wrong is told apart in `fault` and `http`, how it is asked in `asking`, what it says in `wire_*`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from daemon.clock import SystemClock
from daemon.errors import ConfigError
from daemon.models.asking import Asking, Call, Wire
from daemon.models.draft import CHARS_PER_TOKEN, Draft
from daemon.models.fault import Fault, Server
from daemon.models.otherwise import Otherwise
from daemon.models.provider_breaker import ProviderBreaker
from daemon.models.remote_options import RemoteOptions, is_loopback
from daemon.stages import Clock, Model
from daemon.types import Prompt, Reply, Stop, Usage

if TYPE_CHECKING:
    from daemon.models.http import Door

_CHECK_SECONDS = 15.0
WARM = 1.0
"""The temperature of one attempt after a collapse; the highest that every provider takes."""


class Remote:
    """A model that is asked over HTTP (implements stages.Model).  `local` says that nothing leaves this machine."""

    def __init__(
        self,
        name: str,
        options: RemoteOptions,
        home: Path,
        wire: Wire,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None:
        self.name, self._options, self._home, self._wire = name, options, home, wire
        self._clock = clock or SystemClock()
        self._random = random or Random()  # noqa: S311  (it spreads retries, it keeps no secret)
        self._breaker = ProviderBreaker()
        self._door: Door | None = None
        self._closed = False
        parts = urlsplit(options.url)
        self.local = is_loopback(parts.hostname or "")
        self._server = Server(name, parts.netloc, options.model, str(options.api_key) if options.api_key else None)
        self._key()

    @property
    def free(self) -> bool:
        """Whether a call costs nothing: on this machine, or at a price that was set to zero; unknown is not free."""
        price = self._options.price
        return self.local if price is None else not price.prompt and not price.completion

    def loosened(self, avoid: Sequence[str]) -> Model | None:
        """Return this model at a higher temperature, None where none was set or it is high; see `stages.Adjustable`.

        Providers take different settings, and some refuse what they do not know: the temperature alone is changed, and
        only where a person has set one.
        """
        usual = self._options.temperature
        if usual is None or usual >= WARM:
            return None
        return Otherwise(self, partial(self.reply, temperature=WARM))

    async def reply(self, prompt: Prompt, *, stop: Stop, seconds: float, temperature: float | None = None) -> Reply:
        """Answer within `seconds`; see stages.Model.  Raises ModelUnavailable with one line that says why.

        `temperature` is for this one call; the note of its reply says so.
        """
        began = self._clock.monotonic()
        changed = {} if temperature is None else {"temperature": temperature}
        call = Call(prompt, {**self._wire.body(prompt), **changed}, stop, began + seconds, Draft())
        if (rest := self._breaker.rest(began)) is not None:
            failures = self._breaker.failures
            line = self._server.line(f"failed {failures} times in a row and is left alone for another {rest:.0f} s")
            raise Fault(line, provider=False)
        try:
            options, door = self._options, self._opened()
            asking = Asking(self._server, self._wire, door, self._clock, self._random, options.retries)
            await asking.answer(call, seconds)
        except Fault as fault:
            if fault.provider:
                self._breaker.failed(self._clock.monotonic(), fault.after)
            raise
        else:
            self._breaker.worked()
        finally:
            self._breaker.unknown()
        for name, value in changed.items():
            call.draft.note(f"asked with {name} {value:g}")
        return self._reply(call, self._clock.monotonic() - began)

    async def check(self) -> str:
        """Ask for the list of models.  Raises ModelUnavailable, or ConfigError when the key is not there."""
        self._key()
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                ready = await self._wire.ready(self._opened())
        except TimeoutError:
            raise Fault(self._server.line(f"said nothing for {_CHECK_SECONDS:.0f} s")) from None
        clear = self._options.api_key is not None and self._options.url.startswith("http:") and not self.local
        warning = "; its key travels unencrypted" if clear else ""
        priced = "" if self.local or self._options.price else "; no price is set, so its cost is not counted"
        return f"{self.name}: {self._options.model} at {self._server.host}: {ready}{priced}{warning}"

    async def close(self) -> None:
        """Close the connections; safe to call twice.  Whoever asks after that is told so."""
        self._closed = True
        door, self._door = self._door, None
        if door is not None:
            await door.close()

    def _key(self) -> str | None:
        source = self._options.api_key
        return source.read(self._home, f"models.{self.name}.api_key") if source else None

    def _headers(self) -> Mapping[str, str]:
        try:
            return self._wire.headers(self._key())
        except ConfigError as gone:
            raise Fault(f"{self.name}: {gone}", provider=False) from None

    def _opened(self) -> Door:
        if self._closed:
            raise Fault(f"{self.name}: it has been closed", provider=False)
        if self._door is None:
            try:
                from daemon.models.http import Door  # a daemon that calls no API does not pay for httpx
            except ModuleNotFoundError as missing:
                words = f"{self.name}: needs the Python package {missing.name!r}, not installed here"
                raise Fault(words, provider=False) from None
            options = self._options
            self._door = Door(self._server, options.url, options.timeout, self._headers, self._clock, local=self.local)
        return self._door

    def _reply(self, call: Call, seconds: float) -> Reply:
        draft, offered = call.draft, {tool.name for tool in call.prompt.tools}
        usage, estimated = self._usage(call, seconds)
        text, calls = draft.settled(offered, calls_in_text=self._wire.calls_in_text)
        if estimated:
            draft.note("tokens are estimated: the provider told none")
        if draft.thought_chars and not text.strip() and not calls:
            draft.note(f"nothing but {draft.thought_chars} characters of reasoning came")
        if self._options.price is None and not self.local:
            draft.note("unpriced: no price is set for this model")
        return Reply(text, calls, draft.finish or "stop", usage, self.name, note="; ".join(draft.notes))

    def _usage(self, call: Call, seconds: float) -> tuple[Usage, bool]:
        """Return the usage, and whether a part of it had to be estimated from the number of characters."""
        draft, counts = call.draft, call.draft.counts
        told = counts.prompt is not None and counts.completion is not None and draft.finish not in ("guard", "deadline")
        prompt, completion = counts.prompt, counts.completion
        if prompt is None:
            prompt = -(-len(str(call.body)) // CHARS_PER_TOKEN)
        if not told:
            completion = max(completion or 0, draft.tokens)
        completion = completion or 0
        price, usd = self._options.price, 0.0
        if price is not None:
            usd = price.usd(prompt=prompt, reused=counts.reused, written=counts.written, completion=completion)
        return Usage(prompt, min(counts.reused, prompt), completion, usd, seconds), not told
