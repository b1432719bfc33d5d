"""A model server that answers at once: a vault call, then, when it has seen the result, one sentence."""

from __future__ import annotations

import contextlib
import itertools
import json
import multiprocessing
import random
import socket
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.managers import ListProxy

WORDS = """
amber anchor arch autumn barrel basket beacon bell birch boat bread bridge brook candle canvas cedar
chain chart clay cliff cloud coal coast copper crane creek crown dawn deck door drift dune dusk
ember fern ferry field flint fog fold forge frost gale garden gate glass grain gravel grove gull
harbor hedge hill hull ink iron island ivory jetty kettle lamp lantern ledge lime linen loom maple
marsh mast meadow mill mist moss mountain nail nest oak oar orchard paint paper path pearl pier pine
pond quarry quay rail rain reef ridge river road rope rudder sail salt sand shelf shore signal
silver slate smoke snow spring stair station stone storm stove stream summer tide timber tower track
trail valley
""".split()  # noqa: SIM905  # a list of so many quotes cannot be read


def _sentence(number: int) -> str:
    """A new sentence each time: a host that says the same for ever would rightly trip a guard."""
    dice = random.Random(number)
    return f"By the {dice.choice(WORDS)} I saw {', '.join(dice.sample(WORDS, 9))} and a {dice.choice(WORDS)}."


def _event(delta: dict[str, object], finish: str | None = None, **more: object) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "x", "object": "chat.completion.chunk", "model": "instant", "choices": [choice], **more}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def _answer(request: dict[str, object], number: int) -> bytes:
    messages = request.get("messages")
    last = messages[-1] if isinstance(messages, list) else {}
    usage = {"usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}}
    if last.get("role") == "tool":
        said = _event({"role": "assistant", "content": _sentence(number)}) + _event({}, "stop", **usage)
    else:
        arguments = {"action": "append", "path": "journal", "text": _sentence(-number)}
        function = {"name": "vault", "arguments": json.dumps(arguments)}
        call = {"index": 0, "id": "call-1", "type": "function", "function": function}
        said = _event({"role": "assistant", "tool_calls": [call]}) + _event({}, "tool_calls", **usage)
    return said + b"data: [DONE]\n\n"


def _serve(pipe: Connection, sent: ListProxy[bytes]) -> None:
    """Blocking, one connection after the other in threads of its own: the cost is not ours to measure."""
    import threading

    listener = socket.create_server(("127.0.0.1", 0))
    pipe.send(listener.getsockname()[1])
    numbers = itertools.count(1)

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
            said = _answer(json.loads(body), next(numbers))
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
