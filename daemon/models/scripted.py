"""A model that says what it was told to say: for tests of everything around a model, for dry runs and for rehearsals.

It ships with the product and keeps the whole contract of a model: it streams, obeys `stop` and the deadline, can fail
and can hang.  It counts words as tokens and does not read its prompts, but it keeps the last of them in `prompts`.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from daemon.clock import SystemClock
from daemon.errors import ConfigError, ModelError, ModelUnavailable
from daemon.stages import Clock
from daemon.types import Finish, Message, Prompt, Reply, Stop, ToolCall, ToolSpec, Usage

KEPT_PROMPTS = 64

_late: tuple[str, Finish] = ("", "deadline")
_PIECE = re.compile(r"\S+\s*|\s+")


class Call(BaseModel):
    """A tool call to make; without an id it gets one from its place in the script."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    args: dict[str, Any] = Field(default_factory=dict)
    id: str | None = None


class Line(BaseModel):
    """One reply: what to say, how many seconds to take for it, or how to fail instead; a hang lasts until cancelled."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = ""
    calls: tuple[Call, ...] = ()
    fail: Literal["error", "unavailable", "hang"] | None = None
    delay: Annotated[float, Field(ge=0)] = 0.0
    finish: Finish = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    usd: Annotated[float, Field(ge=0)] = 0.0
    note: str = ""


class Scripted:
    """Says its lines in order.  Without `loop` it is unavailable when they are over."""

    local = True

    class Options(BaseModel):
        """`replies` are texts or tables (see Line); `file` holds more of them, one JSON text or object a line.

        `delay` is in seconds and adds to each line's own.
        """

        model_config = ConfigDict(extra="forbid", frozen=True)

        replies: tuple[str | Line, ...] = ()
        file: str | None = None
        loop: bool = False
        delay: float = Field(default=0.0, ge=0)
        context: int = Field(default=32_768, ge=1)

    def __init__(self, name: str, options: Options, home: Path, clock: Clock | None = None) -> None:
        self.name = name
        self.prompts: deque[Prompt] = deque(maxlen=KEPT_PROMPTS)
        self._options, self._clock = options, clock or SystemClock()
        lines = [_line(one) for one in options.replies]
        self._lines = [*lines, *_read(home / options.file)] if options.file else lines
        self._next = 0
        self._seen: dict[str, int] = {}
        self._closed = False

    @property
    def context_tokens(self) -> int:
        """How many words one thread can hold."""
        return self._options.context

    async def window(self) -> int:
        """Return `context_tokens`."""
        return self._options.context

    async def reply(self, prompt: Prompt, *, stop: Stop, seconds: float) -> Reply:
        """Say the next line; see `stages.Model`."""
        began = self._clock.monotonic()
        self.prompts.append(prompt)
        number, line = self._take()
        if line.fail == "hang":
            await asyncio.Event().wait()
        wait = self._options.delay + line.delay
        await self._clock.sleep(min(wait, seconds)) if wait else await asyncio.sleep(0)
        if line.fail == "error":
            raise ModelError(f"{self.name}: line {number} of the script is an error")
        if line.fail == "unavailable":
            raise ModelUnavailable(f"{self.name}: line {number} of the script is unavailable")
        said, finish = _late if wait > seconds else _stream(line, stop)
        whole = finish == line.finish
        return Reply(
            text=said,
            calls=tuple(_call(call, number, i) for i, call in enumerate(line.calls)) if whole else (),
            finish=finish,
            usage=self._usage(prompt, line, said, self._clock.monotonic() - began),
            model=self.name,
            note=line.note,
        )

    async def count(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        """Return how many words these are."""
        return sum(len(message.text.split()) for message in messages) + len(tools)

    async def check(self) -> str:
        """Say how many lines there are.  Raises ConfigError when there is none."""
        if not self._lines:
            raise ConfigError("trimtab.toml", f"models.{self.name}", "a scripted model needs `replies` or a `file`")
        return f"{len(self._lines)} scripted replies{', over and over' if self._options.loop else ''}"

    async def close(self) -> None:
        """Say nothing more."""
        self._closed = True

    def _take(self) -> tuple[int, Line]:
        if self._closed:
            raise ModelUnavailable(f"{self.name}: it has been closed")
        if self._options.loop and self._lines:
            self._next %= len(self._lines)
        if self._next >= len(self._lines):
            raise ModelUnavailable(f"{self.name}: the script is over after {len(self._lines)} replies")
        self._next += 1
        return self._next, self._lines[self._next - 1]

    def _usage(self, prompt: Prompt, line: Line, said: str, seconds: float) -> Usage:
        """Words as tokens; what a thread had sent before counts as reused, as with a warm local model."""
        words = sum(len(message.text.split()) for message in prompt.messages) + len(prompt.tools)
        sent = words if line.prompt_tokens is None else line.prompt_tokens
        reused = min(self._seen.get(prompt.thread, 0), sent)
        self._seen[prompt.thread] = sent
        spoken = len(said.split()) if line.completion_tokens is None else line.completion_tokens
        return Usage(sent, reused, spoken, line.usd, seconds)


def _stream(line: Line, stop: Stop) -> tuple[str, Finish]:
    """Give the text to `stop` word by word; return what was said until it tripped."""
    said = ""
    for piece in _PIECE.findall(line.text):
        said += piece
        if stop(piece):
            return said, "guard"
    return said, line.finish


def _call(call: Call, number: int, place: int) -> ToolCall:
    return ToolCall(call.id or f"call{number:04d}{chr(ord('a') + place % 26)}", call.name, call.args)


def _line(reply: str | Line) -> Line:
    return Line(text=reply) if isinstance(reply, str) else reply


def _read(file: Path) -> list[Line]:
    """Read a script.  Raises ConfigError that names the line."""
    lines: list[Line] = []
    try:
        for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if not text.strip():
                continue
            value = json.loads(text)
            if not isinstance(value, str | Mapping):
                raise ConfigError(f"{file}:{number}", "", "expected a JSON text or object")
            lines.append(_line(value if isinstance(value, str) else Line.model_validate(value)))
    except OSError as wrong:
        raise ConfigError(file, "", f"expected a readable file of replies: {wrong.strerror}") from None
    except ValidationError as wrong:
        first = wrong.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{file}:{number}", where, first["msg"]) from None
    except ValueError as wrong:
        raise ConfigError(f"{file}:{number}", "", f"expected one JSON value a line: {wrong}") from None
    return lines
