"""How a command reaches the daemon that holds an agent: one line of JSON each way over a Unix socket in its directory.

Only the owner of the directory can open the socket (mode 0600); it takes three requests: beat, explain and status.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from daemon.errors import TrimtabError

Answer = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]
_LINE = 64 * 1024
_REQUEST_SECONDS = 5.0


@contextlib.contextmanager
def _short(path: Path) -> Any:
    """Give a path of any depth a name that fits into the 108 bytes of a socket address."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


class _Requests:
    """The requests that are being answered; none outlives the server."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._open = set[asyncio.Task[None]]()

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer), name="control request")
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def end(self) -> None:
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reply = await self._reply(reader)
        with contextlib.suppress(OSError):
            writer.write(json.dumps(reply).encode() + b"\n")
            await writer.drain()
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    async def _reply(self, reader: asyncio.StreamReader) -> dict[str, Any]:
        try:
            request = json.loads(await asyncio.wait_for(reader.readline(), _REQUEST_SECONDS))
            if not isinstance(request, dict) or not isinstance(request.get("do"), str):
                raise ValueError('expected an object with "do"')
            return await self._answer(request)
        except TrimtabError as failed:
            return {"error": str(failed), "exit_code": failed.exit_code}
        except (ValueError, TimeoutError) as wrong:
            return {"error": f"not a request: {wrong}", "exit_code": 2}
        except asyncio.CancelledError:
            return {"error": "trimtab was stopped before this ended", "exit_code": 1}


@contextlib.asynccontextmanager
async def answering(path: Path, answer: Answer) -> AsyncIterator[None]:
    """Serve `answer` on the socket at `path` for as long as the block lasts.

    The caller holds the agent's lock, so a socket that is there already was left by a process that died.
    """
    requests = _Requests(answer)
    path.unlink(missing_ok=True)
    old = os.umask(0o177)
    try:
        with _short(path) as address:
            server = await asyncio.start_unix_server(requests.accept, address, limit=_LINE)
    finally:
        os.umask(old)
    try:
        yield
    finally:
        server.close()
        await requests.end()
        await server.wait_closed()
        path.unlink(missing_ok=True)


async def ask(path: Path, request: Mapping[str, Any], seconds: float) -> dict[str, Any] | None:
    """Send a request to the daemon that listens at `path`; None when none does.  Raises TrimtabError with its error."""
    try:
        with _short(path) as address:
            reader, writer = await asyncio.open_unix_connection(address, limit=_LINE * 16)
    except OSError:
        return None
    try:
        writer.write(json.dumps(dict(request)).encode() + b"\n")
        line = await asyncio.wait_for(reader.readline(), seconds)
        reply: dict[str, Any] = json.loads(line) if line else {"error": "the daemon closed the connection; see its log"}
    except TimeoutError:
        raise TrimtabError(f"the daemon did not answer within {seconds:g} s; `trimtab doctor` may say why") from None
    except (OSError, ValueError) as wrong:
        raise TrimtabError(f"the daemon's answer broke off: {wrong}") from None
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
    if "error" in reply:
        failed = TrimtabError(reply["error"])
        failed.exit_code = int(reply.get("exit_code", 1))
        raise failed
    return reply
