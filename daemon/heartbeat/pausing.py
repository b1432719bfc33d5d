"""Turns the `paused:` line of a heartbeat file on and off and leaves every other byte as it was."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

from daemon.errors import ConfigError, StorageError
from daemon.heartbeat.file import parse

_UTC = ZoneInfo("UTC")
_FENCE = re.compile(rb"^(?:\xef\xbb\xbf)?-{3,}[ \t]*\r?$", re.MULTILINE)
_LINE = re.compile(rb"""^((?:paused|"paused"|'paused')[ \t]*:[ \t]+)([^\s#]+)""", re.MULTILINE)


def paused(file: str, name: str, data: bytes, value: bool) -> bytes:
    """Return the content of a heartbeat file with `paused: value`.

    Raises ConfigError when the file is no heartbeat, or is written so that a line cannot be changed safely.
    """
    before = parse(file, name, data, _UTC)
    if before.paused is value:
        return data
    word = b"true" if value else b"false"
    opening, closing = [*_FENCE.finditer(data)][:2]
    matter = data[opening.end() : closing.start()]
    changed, count = _LINE.subn(rb"\g<1>" + word, matter)
    if not count:
        ending = b"\r\n" if data[opening.start() : opening.end()].endswith(b"\r") else b"\n"
        changed = matter + b"paused: " + word + ending
    result = data[: opening.end()] + changed + data[closing.start() :]
    with contextlib.suppress(ConfigError):
        if parse(file, name, result, _UTC) == replace(before, paused=value):
            return result
    raise ConfigError(
        file, "paused", f"cannot be changed safely in this file; write `paused: {word.decode()}` into it by hand"
    )


def pause(path: Path, value: bool) -> bool:
    """Change the file at `path` in one step; return whether it was different before.

    Raises ConfigError for what is wrong with the file and StorageError when it cannot be written.
    """
    label = f"{path.parent.name}/{ascii(path.name)[1:-1]}"
    try:
        data = path.read_bytes()
        changed = paused(label, path.stem, data, value)
        if changed == data:
            return False
        _replace(path, changed)
    except OSError as wrong:
        raise StorageError(f"{label}: cannot be changed: {wrong.strerror}") from None
    return True


def _replace(path: Path, data: bytes) -> None:
    """Put `data` in the place of a file, whole or not at all, with the file's own mode."""
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), path.stat().st_mode & 0o7777)
            os.fsync(file.fileno())
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)
