"""The one door to providers over HTTP: opens a stream of events, reads JSON, and turns every failure into one line.

It keeps one connection pool for its life, follows no redirect, and asks for no compression.  It knows neither prompts
nor wire formats.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from daemon.models.fault import Fault, Server, excerpt, refused
from daemon.models.sse import Event, Events
from daemon.stages import Clock

_CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 4.0  # below the five seconds after which common servers close an idle connection
_SECRET = frozenset({"authorization", "x-api-key"})
_MOST_ERROR_BYTES = 16 * 1024
_MOST_LIST_BYTES = 8 * 1024 * 1024

Headers = Callable[[], Mapping[str, str]]
"""Called for each request, so that a rotated key is used at once; the values may be secret."""


@dataclass(slots=True)
class _Way:
    """How far a request has come; `fresh` when a connection was made for it."""

    opened: bool = False
    fresh: bool = False

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        self.fresh = self.fresh or event.startswith("connection.connect")


class Door:
    """One server.  `timeout` is how long it may be silent, in seconds; how long all may take is the caller's affair."""

    def __init__(
        self, server: Server, url: str, timeout: float, headers: Headers, clock: Clock, *, local: bool
    ) -> None:
        self._server, self._url, self._timeout, self._headers, self._clock = server, url, timeout, headers, clock
        times = httpx.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS))
        pool = httpx.Limits(max_connections=32, max_keepalive_connections=4, keepalive_expiry=_IDLE_SECONDS)
        self._paths: dict[str, httpx.URL] = {}
        # What stays on this machine must not take the way through a proxy that the environment names.
        self._client = httpx.AsyncClient(timeout=times, limits=pool, trust_env=not local, follow_redirects=False)

    async def close(self) -> None:
        await self._client.aclose()

    @contextlib.asynccontextmanager
    async def events(self, path: str, body: Mapping[str, Any]) -> AsyncIterator[AsyncGenerator[Event]]:
        """Post `body` and give the events of the answer.  Raises Fault, from the block too while it reads."""
        content = json.dumps(body, ensure_ascii=False, default=str).encode("utf-8", "replace")
        headers, secrets = self._headers_and_secrets("text/event-stream")
        way = _Way()
        with self._explained(way):
            async with self._client.stream(
                "POST", self._at(path), content=content, headers=headers, extensions={"trace": way.trace}
            ) as response:
                await self._accept(response, secrets)
                way.opened = True
                yield self._read(response, secrets)

    def _at(self, path: str) -> httpx.URL:
        """Return the address of a path, read once: the few paths of a server are asked for again and again."""
        return self._paths.get(path) or self._paths.setdefault(path, httpx.URL(self._url + path))

    async def get(self, path: str) -> Any:
        """Return the JSON at `path`.  Raises Fault."""
        headers, secrets = self._headers_and_secrets("application/json")
        with self._explained(_Way()):
            async with self._client.stream("GET", self._url + path, headers=headers) as response:
                await self._accept(response, secrets)
                text = await _start(response, _MOST_LIST_BYTES)
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise Fault(self._server.line(f"answered 200 with what is not JSON: {_clean(text, secrets)}")) from None

    def clean(self, text: str) -> str:
        """Return an excerpt of the server's words that is fit for an error."""
        return _clean(text, self._headers_and_secrets("")[1])

    def _headers_and_secrets(self, accept: str) -> tuple[dict[str, str], tuple[str, ...]]:
        headers = {"Accept": accept, "Accept-Encoding": "identity", "User-Agent": "trimtab", **self._headers()}
        headers |= {"Content-Type": "application/json"}
        return headers, tuple(value for name, value in headers.items() if name.lower() in _SECRET)

    async def _accept(self, response: httpx.Response, secrets: tuple[str, ...]) -> None:
        if response.status_code == 200:
            return
        text = ""
        with contextlib.suppress(httpx.HTTPError):
            text = await _start(response, _MOST_ERROR_BYTES)
        raise refused(self._server, response.status_code, response.headers, _struck(text, secrets), self._clock.now())

    async def _read(self, response: httpx.Response, secrets: tuple[str, ...]) -> AsyncGenerator[Event]:
        kind = response.headers.get("content-type", "text/event-stream").partition(";")[0].strip().lower()
        if kind == "application/json":  # a server that does not stream answers all at once
            text = await _start(response, _MOST_LIST_BYTES)
            if text.strip():
                yield Event("message", text)
            return
        if kind != "text/event-stream":
            text = _clean(await _start(response, _MOST_ERROR_BYTES), secrets)
            raise Fault(
                self._server.line(f"answered 200 with {excerpt(kind)} where a stream was due; check url: {text}")
            )
        events = Events()
        try:
            async for chunk in response.aiter_bytes():
                for event in events.feed(chunk):
                    yield event
        except ValueError as wrong:
            raise Fault(self._server.line(f"sent {wrong}")) from None
        for event in events.end():
            yield event

    @contextlib.contextmanager
    def _explained(self, way: _Way) -> Iterator[None]:
        try:
            yield
        except httpx.TimeoutException as late:
            raise self._late(late, way.opened) from None
        except httpx.ConnectError as failed:
            raise self._unconnected(failed) from None
        except httpx.TransportError as broken:
            raise self._broken(broken, way) from None
        except (httpx.HTTPError, httpx.InvalidURL) as wrong:
            raise Fault(self._server.line(f"could not be asked: {excerpt(str(wrong))}")) from None

    def _broken(self, broken: httpx.TransportError, way: _Way) -> Fault:
        """A connection that was used before and dies without a word was closed while it lay idle: nothing was done."""
        where = "in the middle of its answer" if way.opened else "without an answer"
        told = excerpt(str(broken)) or type(broken).__name__
        line = self._server.line(f"closed the connection {where} ({told})")
        return Fault(line, again=not way.opened and not way.fresh)

    def _late(self, late: httpx.TimeoutException, opened: bool) -> Fault:
        if isinstance(late, httpx.ConnectTimeout):
            return Fault(self._server.line("did not take the connection in time"), again=True)
        if isinstance(late, httpx.PoolTimeout):
            return Fault(self._server.line("has too many calls of ours open"), provider=False)
        when = "stopped in the middle of its answer and" if opened else "took the request and"
        return Fault(self._server.line(f"{when} sent nothing for {self._timeout:g} s"))

    def _unconnected(self, failed: httpx.ConnectError) -> Fault:
        cause = _root(failed)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Fault(self._server.line(f"shows a certificate that is not trusted: {cause.verify_message}"))
        if isinstance(cause, ssl.SSLError):
            return Fault(self._server.line(f"does not speak TLS as it should (is it http, not https?): {cause.reason}"))
        if isinstance(cause, socket.gaierror):
            return Fault(self._server.line("has no address: no network, or the name in url is wrong"), again=True)
        number = cause.errno if isinstance(cause, OSError) else None
        why = os.strerror(number) if number else excerpt(str(cause)) or "no connection"
        return Fault(self._server.line(f"cannot be reached: {why}"), again=True)


def _root(error: BaseException) -> BaseException:
    """Return the operating system's error behind the library's; a chain of causes is not always only causes."""
    seen, best = error, error
    while (inner := seen.__cause__ or seen.__context__) is not None:
        seen = inner
        if isinstance(seen, OSError):
            best = seen
    return best


async def _start(response: httpx.Response, most: int) -> str:
    """Return the first `most` bytes of a body as text."""
    got = bytearray()
    async for chunk in response.aiter_bytes():
        got += chunk
        if len(got) >= most:
            break
    return bytes(got[:most]).decode("utf-8", "replace")


def _struck(text: str, secrets: tuple[str, ...]) -> str:
    """Strike the keys out: some servers quote the header that they did not like."""
    for secret in secrets:
        for part in {secret, secret.removeprefix("Bearer ")}:
            if len(part) >= 4:
                text = text.replace(part, "[key]")
    return text


def _clean(text: str, secrets: tuple[str, ...]) -> str:
    return excerpt(_struck(text, secrets))
