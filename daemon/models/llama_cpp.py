"""A local model through llama.cpp, in a process of its own: whatever happens there, the daemon goes on.

The process is started when it is first needed, and again when it died; the thread is then rebuilt from the prompt, and
the reply says so.  There is never more than one.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import structlog
from pydantic import BaseModel, ConfigDict, Field

from daemon.errors import ConfigError, ModelError, ModelUnavailable
from daemon.models import call_text, llama_file
from daemon.models.llama_process import Child, Died, Refused
from daemon.models.otherwise import Otherwise
from daemon.stages import Model
from daemon.types import Finish, Message, Prompt, Reply, Sample, Stop, ToolSpec, Usage

LOAD_SECONDS = 900.0
COUNT_SECONDS = 60.0
GRACE_SECONDS = 10.0
"""How long after its deadline a reply may come before the process counts as hung and is killed."""

WARM, WARMER, HOT, DRY = 0.8, 0.3, 1.2, 0.8
"""For one attempt after a collapse: at least this temperature, this much more than usual, at most this; and DRY."""

_AS_USUAL: Mapping[str, Any] = MappingProxyType({})

log = structlog.get_logger()


class LlamaCpp:
    """A model file answered by llama.cpp.  `home` is the agent directory; fetched files go to its `models/`."""

    local = True

    class Options(BaseModel):
        """`path` is "shipped", a file relative to the agent directory, or hf:owner/repository/file.gguf.

        `context` is in tokens per thread and never more than the model was trained for; `parallel_threads` is how many
        threads stay warm.  A `temperature` of 0 takes the likeliest token; a penalty of 1 and a `dry` of 0 are off.
        """

        model_config = ConfigDict(extra="forbid", frozen=True)

        path: str = "shipped"
        sha256: str | None = Field(default=None, pattern="^[0-9a-fA-F]{64}$")
        context: int = Field(default=4096, ge=64)
        threads: int = Field(default_factory=lambda: max(1, (os.cpu_count() or 2) - 1), ge=1, le=512)
        parallel_threads: int = Field(default=4, ge=1, le=64)
        temperature: float = Field(default=0.7, ge=0, le=10)
        top_p: float = Field(default=0.95, gt=0, le=1)
        min_p: float = Field(default=0.05, ge=0, le=1)
        top_k: int = Field(default=40, ge=0)
        repeat_penalty: float = Field(default=1.0, gt=0, le=10)
        dry: float = Field(default=0.0, ge=0, le=10)
        max_tokens: int = Field(default=512, ge=1)
        seed: int | None = Field(default=None, ge=0, lt=2**32)
        grammar: Literal["tool_or_text", "off"] = "tool_or_text"

    def __init__(self, name: str, options: Options, home: Path, grace: float = GRACE_SECONDS) -> None:
        self.name = name
        self._options, self._grace = options, grace
        self._source = llama_file.locate(options.path, options.sha256, home, f"models.{name}.path")
        llama_file.glance(self._source)
        self._sha256, self._stamp = "", (0, 0)
        self._child: Child | None = None
        self._starting: asyncio.Task[Child] | None = None
        self._fault = ""
        self._closed = False

    @property
    def context_tokens(self) -> int:
        """How many tokens one thread can hold, the reply included; exact once the model has been loaded."""
        return int(self._child.facts["context"]) if self._child else self._options.context

    @property
    def pid(self) -> int | None:
        """The process that holds the model, None while there is none."""
        return self._child.pid if self._child else None

    async def window(self) -> int:
        """Load the model and return its exact `context_tokens`.  Raises as `check` does."""
        return int((await self._ready(LOAD_SECONDS)).facts["context"])

    def loosened(self, avoid: Sequence[str]) -> Model:
        """Return this model at a higher temperature, with DRY told of these texts; see `stages.Adjustable`."""
        usual = self._options.temperature
        sampling = {"temperature": max(usual, min(HOT, max(WARM, usual + WARMER))), "dry": max(self._options.dry, DRY)}
        return Otherwise(self, partial(self.reply, otherwise={"sampling": sampling, "avoid": list(avoid)}))

    async def reply(
        self, prompt: Prompt, *, stop: Stop, seconds: float, otherwise: Mapping[str, Any] = _AS_USUAL
    ) -> Reply:
        """Answer; see `stages.Model`.  A process that dies before it said anything is replaced and asked once more.

        `otherwise` is what this one request adds: `sampling` settings, and texts to `avoid`.
        """
        began, heard = time.monotonic(), _Heard(stop)

        for last in (False, True):
            child = await self._ready(seconds - (time.monotonic() - began))
            note, self._fault = self._fault, ""
            request = {"thread": prompt.thread, **self._wire(prompt.messages, prompt.tools), **otherwise}
            try:
                done = await child.ask("reply", request, seconds=seconds - (time.monotonic() - began), hear=heard)
            except Died as end:
                self._mourn(child, str(end))
                if heard.pieces or last:
                    told = f" after {len(heard.pieces)} pieces of text" if heard.pieces else " twice"
                    raise ModelUnavailable(f"{self.name}: the model process died{told}: {end}") from None
            except Refused as no:
                raise (ModelError if no.useless else ModelUnavailable)(f"{self.name}: {no}") from None
            else:
                return self._reply(done, heard, child, note)
        raise AssertionError("the loop returns or raises")

    async def count(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        """Return how many tokens a prompt of these has, exactly.  Raises ModelUnavailable and ModelError."""
        child = await self._ready(COUNT_SECONDS)
        try:
            return int(await child.ask("count", self._wire(messages, tools), seconds=COUNT_SECONDS))
        except Died as end:
            self._mourn(child, str(end))
            raise ModelUnavailable(f"{self.name}: the model process died: {end}") from None
        except Refused as no:
            raise (ModelError if no.useless else ModelUnavailable)(f"{self.name}: {no}") from None

    async def check(self) -> str:
        """Load the model if it is not loaded and say what it is.  Raises ConfigError and ModelUnavailable."""
        facts = (await self._ready(LOAD_SECONDS)).facts
        return (
            f"{self._source.path.name} ({facts['architecture']}, {self._source.path.stat().st_size / 1e6:,.1f} MB, "
            f"sha256 {self._sha256[:12]}) ready: {self._options.parallel_threads} threads of {facts['context']} tokens"
        )

    async def pull(self, tell: llama_file.Tell) -> Path:
        """Fetch the file if it has a source and is not here, verify it, and return its path."""
        if self._source.hub and not self._source.path.exists():
            await llama_file.fetch(self._source, tell)
        self._sha256 = await asyncio.to_thread(llama_file.examine, self._source)
        return self._source.path

    async def close(self) -> None:
        """End the process."""
        self._closed = True
        if self._starting:
            self._starting.cancel()
            await asyncio.wait([self._starting])
        child, self._child = self._child, None
        if child:
            await child.close()

    async def _ready(self, seconds: float) -> Child:
        """Return the running process; a start that takes longer than `seconds` goes on for the next call."""
        if self._closed:
            raise ModelUnavailable(f"{self.name}: it has been closed")
        if self._child and self._child.alive:
            return self._child
        if dead := self._child:  # it died between two calls
            await dead.kill()
            self._mourn(dead, dead.how_it_ended())
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._start(), name=f"model {self.name} start")
            self._starting.add_done_callback(lambda task: task.cancelled() or task.exception())
        starting = self._starting
        done, _ = await asyncio.wait([starting], timeout=max(seconds, 0))
        if not done:
            raise ModelUnavailable(f"{self.name}: {self._source.path.name} is not loaded yet")
        if starting.cancelled():
            raise ModelUnavailable(f"{self.name}: it has been closed")
        return starting.result()

    async def _start(self) -> Child:
        path = self._source.path
        shown = -1

        def tell(done: int, total: int) -> None:
            nonlocal shown
            if total and (tenth := 10 * done // total) > shown:
                shown = tenth
                log.info("model.fetching", model=self.name, percent=10 * tenth, megabytes=round(total / 1e6))

        if not self._sha256 or self._stamp != _stamp(path):  # reading a large file takes seconds
            await self.pull(tell)
            self._stamp = _stamp(path)
        settings = self._options.model_dump(include=_CHILD_OPTIONS)
        try:
            child = await Child.start({**settings, "path": str(path)}, LOAD_SECONDS, self._grace)
        except Refused as no:
            raise ConfigError(path, "", f"expected a model that llama.cpp can load: {no}") from None
        except Died as end:
            if "SIGKILL" in str(end):
                raise ModelUnavailable(f"{self.name}: loading {path} was killed: not enough memory?") from None
            raise ConfigError(
                path, "", f"expected a model that llama.cpp can load, and it failed on it: {end}"
            ) from None
        self._child = child
        log.info(
            "model.loaded", model=self.name, file=path.name, seconds=round(child.facts["seconds"], 3), pid=child.pid
        )
        return child

    def _mourn(self, child: Child, how: str) -> None:
        if self._child is child:  # another call may have seen it first, and the next process may run already
            self._child = None
            self._fault = f"the model process was restarted ({how})"
            log.warning("model.died", model=self.name, how=how)

    def _wire(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> dict[str, Any]:
        return {"messages": [self._message(one) for one in messages], "tools": [_tool(one) for one in tools]}

    def _message(self, message: Message) -> dict[str, Any]:
        ids = message.token_ids if message.token_model == self._sha256 else None
        calls = [{"id": call.id, "name": call.name, "args": dict(call.args)} for call in message.calls]
        known = {"role": message.role, "text": message.text, "calls": calls, "ids": ids}
        return {**known, "call_id": message.call_id, "name": message.name}

    def _reply(self, done: Mapping[str, Any], heard: _Heard, child: Child, note: str) -> Reply:
        prompt_ids, end = tuple(done["prompt_ids"]), done["marks"][len(heard.pieces) - 1] if heard.tripped else None
        ids = tuple(done["ids"][:end])
        said, calls = call_text.parse("".join(heard.pieces))
        sample = Sample(
            prompt_ids=prompt_ids,
            completion_ids=ids,
            logprobs=tuple(done["logprobs"][:end]),
            model=self._sha256,
            tokenizer=child.facts["tokenizer"],
            template=child.facts["template"],
            sampling=done["sampling"],
        )
        usage = Usage(len(prompt_ids), done["reused"], len(ids), seconds=done["seconds"])
        finish: Finish = "guard" if heard.tripped else done["finish"]
        return Reply(said, calls, finish, usage, model=self.name, sample=sample, note=note)


class _Heard:
    """The pieces of a reply up to the one that tripped a guard."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self.pieces: list[str] = []
        self.tripped = False

    def __call__(self, piece: str) -> bool:
        self.pieces.append(piece)
        self.tripped = self._stop(piece)
        return self.tripped


_CHILD_OPTIONS = set(LlamaCpp.Options.model_fields) - {"path", "sha256"}


def _stamp(path: Path) -> tuple[int, int]:
    """What changes when a file is replaced; zeros when it is not there."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
