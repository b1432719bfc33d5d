"""The process that holds the local model: JSON lines in on standard input, JSON lines out on standard output.

It exists because llama.cpp ends its process on what it does not expect.  It dies with its parent, is the first one that
the kernel picks when memory is short, and has a process group of its own, so that Ctrl-C reaches only the daemon.
Run as `python -m daemon.models.llama_child`; the first line holds the settings.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import queue
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from daemon.models.llama_engine import BadModel, Engine
from daemon.models.llama_sampler import BadGrammar
from daemon.models.llama_template import Template, TemplateFailed
from daemon.models.llama_turn import Job, Speaker, TooLong

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Load the model that the first line names and answer requests until standard input ends."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever C code prints must not end up between two answers
    settings = json.loads(sys.stdin.buffer.readline() or "{}")
    if not settings or not _bind_to(settings["parent"]):
        return
    lock = threading.Lock()

    def send(message: Mapping[str, Any]) -> None:
        with lock:
            out.write(json.dumps(message).encode() + b"\n")
            out.flush()

    began = time.monotonic()
    try:
        engine, speaker = _load(settings)
    except (BadModel, TemplateFailed) as fault:
        send({"fault": str(fault)})
        return
    send({"ready": {**_facts(engine, speaker), "seconds": time.monotonic() - began}})
    _Desk(engine, speaker, send).work()


def _bind_to(parent: int) -> bool:
    """Die with the parent, die before it when memory runs out, leave no core file; False when it is gone already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("500")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)  # systemd sends these to every process; the daemon ends us in its order
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return os.getppid() == parent


def _load(settings: Mapping[str, Any]) -> tuple[Engine, Speaker]:
    engine = Engine(Path(settings["path"]), settings["context"], settings["parallel_threads"], settings["threads"])
    vocabulary = engine.vocabulary
    source, bos, eos = vocabulary.meta("tokenizer.chat_template"), vocabulary.named("bos"), vocabulary.named("eos")
    return engine, Speaker(engine, Template(source, bos, eos, datetime.now(UTC)), settings)


def _facts(engine: Engine, speaker: Speaker) -> dict[str, Any]:
    return {
        "context": engine.context,
        "architecture": engine.vocabulary.meta("general.architecture"),
        "tokenizer": engine.vocabulary.sha256,
        "template": speaker.template_sha256,
    }


class _Desk:
    """Takes requests in on one thread and works on them, one after the other, on the other."""

    def __init__(self, engine: Engine, speaker: Speaker, send: Callable[[Mapping[str, Any]], None]) -> None:
        self._engine, self._speaker, self._send = engine, speaker, send
        self._waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._open: dict[int, Job] = {}
        self._current: Job | None = None
        self._lock = threading.Lock()

    def work(self) -> None:
        threading.Thread(target=self._listen, args=(sys.stdin.buffer,), daemon=True).start()
        while True:
            job = self._waiting.get()
            number = job.request["id"]
            alarm = threading.Timer(job.deadline - time.monotonic(), self._end, (job, "deadline"))
            alarm.start()
            self._take(job)
            try:
                self._send({"id": number, "done": self._answer(job, number)})
            except (TooLong, TemplateFailed, BadGrammar, BadModel) as fault:
                self._send({"id": number, "error": str(fault), "useless": not isinstance(fault, BadModel)})
            finally:
                alarm.cancel()
                self._take(None)
                self._open.pop(number, None)

    def _answer(self, job: Job, number: int) -> Any:
        if job.request["op"] == "count":
            return self._speaker.count(job.request)
        return self._speaker.reply(job, lambda pieces: self._send({"id": number, "pieces": pieces}))

    def _take(self, job: Job | None) -> None:
        with self._lock:
            self._current = job
            self._engine.interrupt(stop=bool(job and job.ended))

    def _end(self, job: Job, finish: str) -> None:
        with self._lock:
            job.end(finish)
            if job is self._current:
                self._engine.interrupt()

    def _listen(self, lines: BinaryIO) -> None:
        for line in lines:
            message = json.loads(line)
            if message["op"] in ("reply", "count"):
                job = Job(message, deadline=time.monotonic() + message["seconds"])
                self._open[message["id"]] = job
                self._waiting.put(job)
            elif job := self._open.get(message["id"]):  # type: ignore[assignment]
                if message["op"] == "seen":
                    job.saw(message["pieces"])
                else:
                    self._end(job, "guard" if message["op"] == "stop" else "cancelled")
        os._exit(0)  # the parent is done with us; there is nothing here to save


if __name__ == "__main__":
    main()
