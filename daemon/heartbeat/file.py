"""A heartbeat file becomes a Heartbeat, or one line that names the file, the key and what was expected.

It does not read the disk, and it knows of models and tools only the names that it is told.  Whatever it repeats of a
file is spelled out, so that no file can write to a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from daemon.errors import ConfigError
from daemon.heartbeat import TRIGGERS, fields, front, names
from daemon.heartbeat.front import Value
from daemon.heartbeat.trigger import trigger_of
from daemon.registry import load
from daemon.types import Heartbeat, Schedule
from vault.escape import one_line

_SCHEDULE: Mapping[str, Callable[[Value], Any]] = {
    "timezone": fields.zone,
    "active_hours": fields.hours,
    "misfire": fields.one_of("skip", "run_once", "all"),
    "grace": fields.duration,
}
_REST: Mapping[str, Callable[[Value], Any]] = {
    "thread": fields.thread,
    "model": fields.words,
    "tools": fields.words,
    "expect": fields.words,
    "facts": fields.words,
    "acknowledge": fields.texts,
    "budget": fields.budget,
    "paused": fields.flag,
}
_LATER = ("on", "after", "pacing", "sensitive")
_KNOWN = (*TRIGGERS, *_SCHEDULE, *_REST)
_ANY_DAY = datetime(2024, 1, 1, tzinfo=UTC)
_UNSAID = re.compile(
    r"""<!--.*?(?:-->|\Z)            # comments, the unclosed one too
      | ^[ ]{0,3}\#{1,6}(?:[ \t][^\n]*)?$  # headings
      | ^[ \t]*[-*+](?:[ ]\[[ xX]\])?[ \t]*$  # list items without words
      | ^[ \t]*(?:-{3,}|={3,}|\*{3,}|_{3,})[ \t]*$  # rules""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)


def parse(
    file: str,
    name: str,
    data: bytes,
    zone: ZoneInfo,
    models: Collection[str] | None = None,
    tools: Collection[str] | None = None,
) -> Heartbeat:
    """Return the heartbeat `name` that `data` describes; `zone` is for files that name none.  Raises ConfigError.

    `file` is what the error line calls the file; `models` and `tools` are the names there are, None checks none.
    """
    if not fields.NAME.fullmatch(name):
        raise ConfigError(
            file, "", f"expected a file name of a-z, 0-9 and -, at most 64 long, not {fields.shown(name)}"
        )
    keys, instruction = front.split(file, data)
    for key in keys:
        _check_known(file, key)
    schedule = _schedule(file, keys, zone)
    rest = {key: _read(file, key, keys[key], read) for key, read in _REST.items() if key in keys}
    heartbeat = Heartbeat(name, schedule, instruction, rest.pop("thread", name), rest.pop("model", ()), **rest)
    names.check(file, heartbeat, models, tools)
    return heartbeat


def is_empty(heartbeat: Heartbeat) -> bool:
    """Whether the instruction says nothing (headings, comments, empty list items, space): no model is to be asked."""
    return not _UNSAID.sub("", heartbeat.instruction).strip()


def _check_known(file: str, key: str) -> None:
    if key in _LATER:
        raise ConfigError(file, key, "is not supported by this version of trimtab; take the line out")
    if key not in _KNOWN:
        hint = fields.near(key, _KNOWN) or f"; known: {', '.join(_KNOWN)}"
        raise ConfigError(file, one_line(key, 40), f"unknown key{hint}")


def _schedule(file: str, keys: Mapping[str, Value], zone: ZoneInfo) -> Schedule:
    settings = {key: _read(file, key, keys[key], read) for key, read in _SCHEDULE.items() if key in keys}
    zone = settings.setdefault("timezone", zone)
    triggers = [key for key in TRIGGERS if key in keys]
    if len(triggers) != 1:
        found = f"not {' and '.join(triggers)}" if triggers else "there is none"
        raise ConfigError(file, "", f"expected exactly one of {', '.join(TRIGGERS)}; {found}")
    key = triggers[0]
    settings[key] = _read(file, key, keys[key], lambda value: load("trigger", TRIGGERS, key).read(value, zone))
    schedule = Schedule(**settings)
    if trigger_of(schedule).next_after(_ANY_DAY) is None and (schedule.at is None or schedule.at > _ANY_DAY):
        raise ConfigError(file, key, f"is never due{' inside active_hours' if schedule.active_hours else ''}")
    return schedule


def _read(file: str, key: str, value: Value, read: Callable[[Value], Any]) -> Any:
    try:
        return read(value)
    except ValueError as wrong:
        raise ConfigError(file, key, str(wrong)) from None
