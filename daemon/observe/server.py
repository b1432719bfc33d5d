"""A web server of a hundred lines for the two pages that machines ask for: /metrics and /healthz.

It reads nothing but the head of a request, answers once and closes.  It does not encrypt and does not know who asks, so
it belongs on loopback or behind something that does.  A page in a browser cannot reach it under a name of its own (DNS
rebinding): the Host must be an address, localhost or a name that was allowed.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import structlog

from daemon.errors import ConfigError

log = structlog.get_logger()

LONGEST_HEAD: Final = 8 * 1024
SECONDS: Final = 5.0
MOST_CONNECTIONS: Final = 16


@dataclass(frozen=True, slots=True)
class Page:
    """What is answered."""

    body: bytes
    content_type: str = "text/plain; charset=utf-8"
    status: HTTPStatus = HTTPStatus.OK


Pages = Mapping[str, Callable[[], Page]]


def healthz(ill: Callable[[], str | None]) -> Callable[[], Page]:
    """Return the page that says `ok`, or 503 with the reason that `ill` gives."""

    def page() -> Page:
        reason = ill()
        return Page(b"ok\n") if reason is None else Page(f"{reason}\n".encode(), status=HTTPStatus.SERVICE_UNAVAILABLE)

    return page


class Server:
    """Answers GET and HEAD for `pages` by path; `names` are further values that the Host header may have.

    A client has `seconds` to send its request and as many to take the answer; at most `most` are served at once.
    """

    def __init__(
        self,
        pages: Pages,
        names: Collection[str] = (),
        *,
        seconds: float = SECONDS,
        most: int = MOST_CONNECTIONS,
    ) -> None:
        self._pages, self._names = pages, {"localhost", *(name.lower() for name in names)}
        self._seconds, self._most = seconds, most
        self._connections: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def listening(self, host: str, port: int, *, file: object = "trimtab.toml") -> AsyncIterator[str]:
        """Listen for as long as the block lasts and give the base address; port 0 takes a free port.

        Raises ConfigError naming `file` when nothing can listen there.
        """
        try:
            server = await asyncio.start_server(self._accept, host, port, limit=LONGEST_HEAD)
        except OSError as wrong:
            raise ConfigError(file, *_why(wrong, host, port)) from None
        address, taken = server.sockets[0].getsockname()[:2]
        base = f"http://[{address}]:{taken}" if ":" in address else f"http://{address}:{taken}"
        log.info("metrics.opened", address=base)
        try:
            yield base
        finally:
            server.close()
            for connection in tuple(self._connections):
                connection.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)
            await server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer), name="metrics connection")
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        full = len(self._connections) > self._most
        try:
            method, page = ("GET", _refusal(HTTPStatus.SERVICE_UNAVAILABLE)) if full else await self._answer(reader)
            async with asyncio.timeout(self._seconds):
                writer.write(_written(page, head_only=method == "HEAD"))
                writer.close()
                await writer.wait_closed()
        except (OSError, TimeoutError) as gone:
            log.debug("metrics.unread", reason=str(gone))
        finally:
            writer.transport.abort()  # a client that does not read must not keep its place

    async def _answer(self, reader: asyncio.StreamReader) -> tuple[str, Page]:
        """Read a request and return its method with the page that answers it."""
        try:
            async with asyncio.timeout(self._seconds):
                head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return "GET", _refusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        except TimeoutError:
            return "GET", _refusal(HTTPStatus.REQUEST_TIMEOUT)
        except asyncio.IncompleteReadError:
            return "GET", _refusal(HTTPStatus.BAD_REQUEST)
        first, *lines = head.decode("latin-1").split("\r\n")
        match first.split(" "):
            case [method, target, "HTTP/1.1" | "HTTP/1.0"]:
                return method, self._page(method, target, lines)
        return "GET", _refusal(HTTPStatus.BAD_REQUEST)

    def _page(self, method: str, target: str, lines: list[str]) -> Page:
        hosts = [value.strip() for name, _, value in (line.partition(":") for line in lines) if name.lower() == "host"]
        if len(hosts) != 1:
            return _refusal(HTTPStatus.BAD_REQUEST)
        if not self._is_ours(hosts[0]):
            return _refusal(HTTPStatus.MISDIRECTED_REQUEST)
        make = self._pages.get(target.partition("?")[0])
        if make is None:
            return _refusal(HTTPStatus.NOT_FOUND)
        return make() if method in ("GET", "HEAD") else _refusal(HTTPStatus.METHOD_NOT_ALLOWED)

    def _is_ours(self, host: str) -> bool:
        """Say whether a Host is an address or an allowed name: only a name can be made to point elsewhere."""
        name, _, port = host.rpartition(":") if not host.endswith("]") and ":" in host else (host, "", "")
        if port and not (port.isascii() and port.isdigit()):
            return False
        if name.lower() in self._names:
            return True
        bracketed = name.startswith("[") and name.endswith("]")
        try:
            return ipaddress.ip_address(name[1:-1] if bracketed else name).version == (6 if bracketed else 4)
        except ValueError:
            return False


def _refusal(status: HTTPStatus) -> Page:
    return Page(f"{status.value} {status.phrase}\n".encode(), status=status)


def _written(page: Page, *, head_only: bool) -> bytes:
    allow = "Allow: GET, HEAD\r\n" if page.status is HTTPStatus.METHOD_NOT_ALLOWED else ""
    head = (
        f"HTTP/1.1 {page.status.value} {page.status.phrase}\r\n"
        f"Content-Type: {page.content_type}\r\nContent-Length: {len(page.body)}\r\n{allow}"
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
    )
    return head.encode("ascii") + (b"" if head_only else page.body)


def _why(wrong: OSError, host: str, port: int) -> tuple[str, str]:
    """Return the key and what was expected of it, for a port or host that cannot be listened on."""
    if wrong.errno == errno.EADDRINUSE:
        return "metrics.port", f"a free port: {port} on {host} is in use by another program (0 takes any free one)"
    if wrong.errno == errno.EACCES:
        return "metrics.port", f"a port that this user may open, not {port}"
    return "metrics.host", f"an address of this machine, not {host!r}"
