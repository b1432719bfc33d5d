"""A model server that fails on purpose: it plays a list of acts over real sockets, one for each request.

It speaks the formats of both APIs, chosen by the path.  It is for tests and rehearsals on loopback and has no security.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Any

from daemon.models.fault_acts import (
    ANTHROPIC_OPENING,
    OPENAI_OPENING,
    Act,
    Say,
    Send,
    Silence,
    Slam,
    anthropic_events,
    openai_events,
)


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asked; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


class FaultServer:
    """Use it as `async with FaultServer([...]) as server`; the last act is repeated when there are more requests.

    `models` are what GET /models lists.  `requests` and `connections` say what came in so far.
    """

    def __init__(self, acts: Sequence[Act] = (Say(["ok"]),), models: Sequence[str] = ("m",)) -> None:
        self.acts, self.models = list(acts), tuple(models)
        self.requests: list[Request] = []
        self.connections = 0
        self._open: set[asyncio.Task[Any]] = set()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """The base address, as `url` in the settings wants it."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def __aenter__(self) -> FaultServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def asked(self) -> list[Request]:
        """The requests that wanted an answer of the model."""
        return [request for request in self.requests if request.method == "POST"]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        self.connections += 1
        try:
            while (request := await _read(reader)) is not None:
                self.requests.append(request)
                if not await self._play(request, writer):
                    break
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError, ValueError):
            pass  # the client went away, or the server is being closed
        finally:
            self._open.discard(task)
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _play(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False when the connection must be closed."""
        if request.method == "GET":
            return await _send(writer, self._listed(request.path))
        act = self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]
        if isinstance(act, Slam):
            return False
        if isinstance(act, Silence):
            await asyncio.Event().wait()
        if isinstance(act, Send):
            return await _send(writer, act)
        assert isinstance(act, Say)
        if request.path.endswith("/messages"):
            return await _stream(writer, act, anthropic_events(act), ANTHROPIC_OPENING)
        return await _stream(writer, act, openai_events(act), OPENAI_OPENING)

    def _listed(self, path: str) -> Send:
        name = path.partition("/models/")[2]
        if name and name not in self.models:
            return Send(404, b'{"error": {"message": "no such model"}}', "application/json")
        body = {"id": name} if name else {"data": [{"id": model} for model in self.models]}
        return Send(200, json.dumps(body).encode(), "application/json")


async def _read(reader: asyncio.StreamReader) -> Request | None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, headers, json.loads(body) if body else None)


def _head(status: int, kind: str, headers: Mapping[str, str]) -> bytes:
    phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else "Odd"
    lines = [f"HTTP/1.1 {status} {phrase}", f"Content-Type: {kind}", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


async def _send(writer: asyncio.StreamWriter, act: Send) -> bool:
    writer.write(_head(act.status, act.type, {"Content-Length": str(len(act.body)), **act.headers}) + act.body)
    await writer.drain()
    return True


async def _stream(writer: asyncio.StreamWriter, say: Say, events: Sequence[bytes], opening: int) -> bool:
    """Stream in chunks; an act that is cut leaves out the last chunk, so that the client can see it."""
    writer.write(_head(200, "text/event-stream; charset=utf-8", {"Transfer-Encoding": "chunked"}))
    last = min((opening + n for n in (say.cut, say.hang) if n is not None), default=len(events))
    data = b"".join(events[:last])
    size = say.bytes_each or len(data)
    for piece in events[:last] if say.bytes_each is None else (data[i : i + size] for i in range(0, len(data), size)):
        writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        await writer.drain()
    if say.hang is not None:
        await asyncio.Event().wait()
    if say.cut is not None:
        return False
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True
