"""The page for machines answers what it should, and nothing and nobody else."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from http import HTTPStatus

import pytest

from daemon.errors import ConfigError
from daemon.observe.server import LONGEST_HEAD, Page, Server, healthz

Ask = Callable[[bytes], Awaitable[bytes]]
PAGES = {"/metrics": lambda: Page(b"trimtab_up 1\n", "text/plain; version=0.0.4"), "/healthz": healthz(lambda: None)}


def served(talk: Callable[[Ask], Awaitable[None]], server: Server | None = None, host: str = "127.0.0.1") -> None:
    """Run `talk` against a server on a free port."""

    async def main() -> None:
        async with (server or Server(PAGES, ["Agents.Example"])).listening(host, 0) as address:
            port = int(address.rpartition(":")[2])

            async def ask(request: bytes) -> bytes:
                reader, writer = await asyncio.open_connection(host, port)
                try:
                    writer.write(request)
                    return await reader.read()
                finally:
                    writer.close()
                    await writer.wait_closed()

            await talk(ask)

    asyncio.run(asyncio.wait_for(main(), 20))


def get(path: str, host: str = "127.0.0.1:9464", method: str = "GET", more: str = "") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n".encode()


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def test_a_page_is_answered_with_its_type_and_length() -> None:
    """GET /metrics answers 200 with the page, its content type and length, and closes; a query string is ignored."""

    async def talk(ask: Ask) -> None:
        for path in ("/metrics", "/metrics?x=1"):
            head, _, body = (await ask(get(path))).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 OK\r\n")
            assert b"Content-Type: text/plain; version=0.0.4\r\n" in head
            assert b"Content-Length: 13" in head
            assert b"Connection: close" in head
            assert body == b"trimtab_up 1\n"

    served(talk)


def test_head_has_no_body() -> None:
    """HEAD answers the head of the page alone."""

    async def talk(ask: Ask) -> None:
        answer = await ask(get("/metrics", method="HEAD"))
        assert answer.endswith(b"\r\n\r\n")
        assert b"Content-Length: 13" in answer

    served(talk)


def test_healthz_says_why_the_daemon_is_ill() -> None:
    """/healthz is 200 `ok`, or 503 with the reason."""

    async def talk(ask: Ask) -> None:
        well, ill = await ask(get("/healthz")), await ask(get("/ill"))
        assert (status(well), well.endswith(b"\r\n\r\nok\n")) == (200, True)
        assert (status(ill), ill.endswith(b"nothing was dispatched for 900 s\n")) == (503, True)

    served(talk, Server({**PAGES, "/ill": healthz(lambda: "nothing was dispatched for 900 s")}))


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "get", "TRACE"])
def test_no_other_method_is_taken(method: str) -> None:
    """Every method but GET and HEAD is refused, and the answer says which are allowed."""

    async def talk(ask: Ask) -> None:
        answer = await ask(get("/metrics", method=method, more="Content-Length: 0\r\n"))
        assert status(answer) == 405
        assert b"Allow: GET, HEAD\r\n" in answer

    served(talk)


@pytest.mark.parametrize("path", ["/", "/metrics/", "//metrics", "/../metrics", "http://127.0.0.1/metrics", "*"])
def test_no_other_path_is_a_page(path: str) -> None:
    """A path that is no page is 404."""

    async def talk(ask: Ask) -> None:
        assert status(await ask(get(path))) == 404

    served(talk)


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:9464",
        "LOCALHOST",
        "127.0.0.1",
        "192.0.2.7:80",
        "[::1]",
        "[::1]:9464",
        "agents.example:1",
    ],
)
def test_addresses_localhost_and_allowed_names_are_ours(host: str) -> None:
    """A Host that is an address, localhost or an allowed name is answered."""

    async def talk(ask: Ask) -> None:
        assert status(await ask(get("/metrics", host))) == 200

    served(talk)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:9464", "localhost.evil.example", "127.0.0.1.evil.example", "127.1", "::1",
     "[127.0.0.1]", "localhost:9464:1", "localhost:x", "[::1", "", "127.0.0.1@evil.example"],
)  # fmt: skip
def test_a_name_that_somebody_could_point_at_us_is_refused(host: str) -> None:
    """Any other Host is 421 on every path, which is what stops DNS rebinding."""

    async def talk(ask: Ask) -> None:
        for path in ("/metrics", "/healthz", "/nothing"):
            assert status(await ask(get(path, host))) == HTTPStatus.MISDIRECTED_REQUEST

    served(talk)


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /metrics HTTP/1.1\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET /metrics\r\n\r\n",
        b"GET /metrics HTTP/2.0\r\nHost: localhost\r\n\r\n",
        b"GET  /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\xff\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused(request_: bytes) -> None:
    """No Host, two Hosts, an unknown version or bytes that are no HTTP at all are 400."""

    async def talk(ask: Ask) -> None:
        assert status(await ask(request_)) == 400

    served(talk)


def test_a_request_without_end_is_cut_off() -> None:
    """A head that is too large is 431, and one that never ends is 408 when its time is over."""

    async def large(ask: Ask) -> None:
        assert status(await ask(get("/metrics", more="X: " + "x" * LONGEST_HEAD + "\r\n"))) == 431

    async def slow(ask: Ask) -> None:
        assert status(await ask(b"GET /metrics HTTP/1.1\r\n")) == 408

    served(large)
    served(slow, Server(PAGES, seconds=0.01))


def test_too_many_connections_are_turned_away() -> None:
    """While as many connections as allowed hang, the next one is 503 at once; the pages still work afterwards."""

    async def main() -> None:
        async with Server(PAGES, most=2).listening("127.0.0.1", 0) as address:
            port = int(address.rpartition(":")[2])
            hanging = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            assert status(await reader.read()) == 503
            for end in (writer, *(hung for _, hung in hanging)):
                end.close()
                await end.wait_closed()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(get("/healthz"))
            assert status(await reader.read()) == 200
            writer.close()
            await writer.wait_closed()

    asyncio.run(asyncio.wait_for(main(), 20))


async def asked(port: int) -> bytes:
    """The answer of /healthz, empty when the server turned us away before it read what we asked."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(get("/healthz"))
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.transport.abort()


def test_a_client_that_does_not_read_loses_its_place() -> None:
    """A client that asks for a large page and reads nothing of it is let go, and the next one is served."""

    async def main() -> None:
        pages = {**PAGES, "/large": lambda: Page(b"x" * 50_000_000)}
        async with Server(pages, seconds=0.05, most=1).listening("127.0.0.1", 0) as address:
            port = int(address.rpartition(":")[2])
            _, greedy = await asyncio.open_connection("127.0.0.1", port, limit=1)
            greedy.write(get("/large"))
            for _ in range(200):
                answer = await asked(port)
                if answer.startswith(b"HTTP/1.1 200"):
                    break
                await asyncio.sleep(0.01)
            assert status(answer) == 200
            greedy.transport.abort()

    asyncio.run(asyncio.wait_for(main(), 20))


def test_closing_does_not_wait_for_hanging_clients() -> None:
    """The server stops at once even while a client hangs with half a request."""

    async def main() -> None:
        async with Server(PAGES, seconds=3600).listening("127.0.0.1", 0) as address:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))
            writer.write(b"GET /metrics")
            await asyncio.sleep(0)
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()

    asyncio.run(asyncio.wait_for(main(), 20))


def test_a_port_in_use_is_one_clear_line() -> None:
    """A port that another program has gives a ConfigError naming the file, the key and the port."""

    async def main(port: int) -> None:
        async with Server(PAGES).listening("127.0.0.1", port, file="a/trimtab.toml"):
            raise AssertionError("it should not listen")

    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"^a/trimtab.toml: metrics.port: a free port: {port} on 127.0.0.1"):
            asyncio.run(main(port))


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host"])
def test_a_host_that_is_not_of_this_machine_is_one_clear_line(host: str) -> None:
    """An address that this machine does not have gives a ConfigError naming metrics.host."""

    async def main() -> None:
        async with Server(PAGES).listening(host, 0):
            raise AssertionError("it should not listen")

    with pytest.raises(ConfigError, match=r"metrics\.host: an address of this machine"):
        asyncio.run(main())
