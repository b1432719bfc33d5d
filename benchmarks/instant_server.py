"""A model server that answers at once: a vault call, then, when it has seen the result, one sentence."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import socket
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.managers import ListProxy

ARGUMENTS = {"action": "append", "path": "journal", "text": "looked, all is well"}
CALL = {"name": "vault", "arguments": json.dumps(ARGUMENTS)}


def _event(delta: dict[str, object], finish: str | None = None, **more: object) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "x", "object": "chat.completion.chunk", "model": "instant", "choices": [choice], **more}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def _answer(request: dict[str, object]) -> bytes:
    messages = request.get("messages")
    last = messages[-1] if isinstance(messages, list) else {}
    usage = {"usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}}
    if last.get("role") == "tool":
        said = _event({"role": "assistant", "content": "The line is in the journal."}) + _event({}, "stop", **usage)
    else:
        call = {"index": 0, "id": "call-1", "type": "function", "function": CALL}
        said = _event({"role": "assistant", "tool_calls": [call]}) + _event({}, "tool_calls", **usage)
    return said + b"data: [DONE]\n\n"


def _serve(pipe: Connection, sent: ListProxy[bytes]) -> None:
    """Blocking, one connection after the other in threads of its own: the cost is not ours to measure."""
    import threading

    listener = socket.create_server(("127.0.0.1", 0))
    pipe.send(listener.getsockname()[1])

    def talk(connection: socket.socket) -> None:
        stream = connection.makefile("rb")
        while head := stream.readline():
            length = 0
            while (line := stream.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            body = stream.read(length)
            if not head.startswith(b"POST"):
                connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                continue
            sent.append(body)
            del sent[:-4]
            said = _answer(json.loads(body))
            head_out = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(said)
            connection.sendall(head_out + said)

    while True:
        connection, _ = listener.accept()
        threading.Thread(target=talk, args=(connection,), daemon=True).start()


@contextlib.contextmanager
def running() -> Iterator[tuple[int, Callable[[], list[bytes]]]]:
    """Give the port of a server in a process of its own, and what it was sent last."""
    ours, theirs = multiprocessing.Pipe()
    with multiprocessing.Manager() as manager:
        sent: ListProxy[bytes] = manager.list()
        process = multiprocessing.Process(target=_serve, args=(theirs, sent), daemon=True)
        process.start()
        try:
            yield ours.recv(), lambda: list(sent)
        finally:
            process.kill()
            process.join()
