"""How the program writes what it does: one JSON object a line for machines, coloured text on a terminal.

Events are named `<stage>.<past participle>` and carry facts as key=value.  Values may hold hostile text, so whatever
could move a cursor, fake a line or turn text around is written as an escape in both forms, and keys that name a secret
show none.  It does not know what a secret looks like inside free text, save for bearer tokens, `sk-` keys and
passwords in URLs.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

LONGEST: Final = 2_000
"""Characters of one value; the rest is cut, and the cut says so."""

LONGEST_TRACEBACK: Final = 8_000
"""Characters of a traceback; its end is kept, because the cause is there."""

DEEPEST: Final = 4
MOST_ITEMS: Final = 50

QUIET: Final = ("alembic", "apscheduler", "asyncio", "httpcore", "httpx", "huggingface_hub", "sqlalchemy", "uvicorn")

_HIDDEN: Final = "[hidden]"
_ALWAYS_SECRET = re.compile(r"secret|authorization|passw|credential|cookie", re.IGNORECASE)
_SECRET_UNLESS_A_NUMBER = re.compile(r"key|token", re.IGNORECASE)
_SECRET_IN_TEXT = re.compile(
    r"(?P<bearer>\bbearer\s+)\S{3,}|(?P<url>://[^\s/:@]*:)[^\s/@]+(?=@)|\bsk-[A-Za-z0-9_-]{12,}", re.IGNORECASE
)
_PRIORITY: Final = {"debug": 7, "info": 6, "warning": 4, "error": 3, "critical": 2}


class Sink:
    """A stream that never raises: a full disk or a closed pipe loses log lines, not the daemon."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except (OSError, ValueError):
            return 0

    def flush(self) -> None:
        try:
            self._stream.flush()
        except (OSError, ValueError):
            return


def setup(level: str = "info", *, stream: TextIO | None = None, as_json: bool | None = None) -> None:
    """Send every log line, ours and that of libraries, to `stream` (standard error) from `level` on.

    `as_json` None means JSON unless the stream is a terminal.  May be called again; the last call holds.  Raises
    ValueError for a level that does not exist.
    """
    stream = sys.stderr if stream is None else stream
    number = logging.getLevelNamesMapping().get(level.upper())
    if number is None:
        raise ValueError(f"{level!r} is not one of debug, info, warning, error, critical")
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        clean,
    ]
    terminal = stream.isatty()
    renderer = _json(_is_journal(stream)) if as_json or (as_json is None and not terminal) else _console(terminal)
    sink = Sink(stream)
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(file=sink),  # type: ignore[arg-type]  # needs write and flush only
        cache_logger_on_first_use=False,
    )
    _route_libraries(sink, shared, renderer, number)


@contextmanager
def bind_run(run: str, heartbeat: str, thread: str | None = None) -> Iterator[None]:
    """Put these facts on every line that is logged inside, by this task and by those that it starts."""
    facts = {"run": run, "heartbeat": heartbeat} | ({"thread": thread} if thread else {})
    with structlog.contextvars.bound_contextvars(**facts):
        yield


def clean(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Hide secrets, escape what is not plain text and cut what is long: the last step before a line is written."""
    cleaned: EventDict = {}
    for key, value in event.items():
        if key == "exception":
            cleaned[key] = _traceback(str(value))
        else:
            cleaned[escape(key)] = _plain(key, value, DEEPEST)
    return cleaned


def escape(text: str) -> str:
    """Return `text` with everything that is not a printable character as a backslash escape.

    >>> print(escape("all ok\\x1b[2J\\u202e\\n<0>fake"))
    all ok\\x1b[2J\\u202e\\n<0>fake
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode() for char in text
    )


def _plain(key: str, value: Any, depth: int) -> Any:
    if _ALWAYS_SECRET.search(key):
        return _HIDDEN
    if value is None or isinstance(value, bool | int | float):
        return value  # `tokens=812` is a count: a number is never a key
    if _SECRET_UNLESS_A_NUMBER.search(key):
        return _HIDDEN
    if depth > 0 and isinstance(value, Mapping):
        pairs = list(value.items())[:MOST_ITEMS]
        return {escape(str(name)[:LONGEST]): _plain(str(name), item, depth - 1) for name, item in pairs}
    if depth > 0 and isinstance(value, list | tuple | set | frozenset):
        return [_plain("", item, depth - 1) for item in list(value)[:MOST_ITEMS]]
    return _text(value if isinstance(value, str) else str(value))


def _text(text: str) -> str:
    shown = _hide(text[: 2 * LONGEST])
    if len(shown) > LONGEST:
        return f"{escape(shown[:LONGEST])}… (of {len(text)} characters)"
    return escape(shown)


def _traceback(text: str) -> str:
    """Keep the line breaks, but indent what follows one: an exception's message cannot pose as a line of its own."""
    return "\n  ".join(escape(line) for line in _hide(text)[-LONGEST_TRACEBACK:].split("\n"))


def _hide(text: str) -> str:
    return _SECRET_IN_TEXT.sub(lambda found: f"{found['bearer'] or found['url'] or ''}{_HIDDEN}", text)


def _json(journal: bool) -> Processor:
    """JSON with the time and the event first; `<6>` before the line is how journald learns the level."""

    def render(_logger: WrappedLogger, _method: str, event: EventDict) -> str:
        level = event.get("level", "info")
        first = {key: event.pop(key) for key in ("timestamp", "level", "event") if key in event}
        line = json.dumps({**first, **event}, ensure_ascii=False, default=str)
        return f"<{_PRIORITY.get(level, 6)}>{line}" if journal else line

    return render


def _console(colors: bool) -> Processor:
    return structlog.dev.ConsoleRenderer(
        colors=colors and not os.environ.get("NO_COLOR"),
        pad_event_to=24,
        exception_formatter=structlog.dev.plain_traceback,
    )


def _is_journal(stream: TextIO) -> bool:
    """Say whether systemd connected this very stream to the journal; the variable alone is inherited by anyone."""
    try:
        facts = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{facts.st_dev}:{facts.st_ino}"


def _route_libraries(sink: Sink, shared: list[Processor], renderer: Processor, level: int) -> None:
    handler = logging.StreamHandler(sink)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in QUIET:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    logging.captureWarnings(capture=True)
