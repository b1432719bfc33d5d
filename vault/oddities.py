"""What lies in a vault's folder and is left alone: the agent goes on without it, and a person may want to know.

Files whose names are not UTF-8, very large files, notes that are too large, notes with front matter that is never
closed, folders that cannot be written, repositories inside.  It opens only what could be a note, and reads its
beginning.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from vault.note import is_unclosed
from vault.rules import LIMIT_BYTES

MOST_SECONDS: Final = 10.0
"""How long is looked for oddities; a very large vault is looked at in part."""
_BEGINNING = 16 * 1024
_LARGE: Final = 100 * 10**6
"""The size of a file, in bytes, from which one that is no note is named: git keeps it for ever once it is committed."""


def oddities(root: Path, seconds: float = MOST_SECONDS) -> list[str]:
    """Return a line for each kind of thing that is left alone: how many there are, and the first of them.

    After so many seconds it looks no further, and a line more says so.
    """
    found = dict[str, list[str]]()
    until, complete = time.monotonic() + seconds, True
    for kind, path in _odd(root):
        if kind:
            found.setdefault(kind, []).append(os.fsencode(path).decode("utf-8", "backslashreplace"))
        elif time.monotonic() > until:
            complete = False
            break
    lines = [f"{kind}: {len(paths)} ({paths[0]})" for kind, paths in found.items()]
    return lines if complete else [*lines, f"not everything was looked at within {seconds:.0f} s"]


def _odd(root: Path) -> Iterator[tuple[str, str]]:
    """Give (kind, path below the root) of each oddity, and an empty kind for what is as it should be."""
    for place, folders, names in os.walk(root):
        below = os.path.relpath(place, root)  # a path object for each is too slow
        start = "" if below == "." else f"{below}/"
        if start and ".git" in (*folders, *names):
            folders.clear()
            yield "repositories inside", below
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if not os.access(place, os.W_OK | os.X_OK):
            yield "folders without permission to write", below
        for name in [*folders, *sorted(names)]:
            yield _of_name(start + name), start + name
        for name in names:
            if name.startswith("."):
                continue
            of = _of_note if name.endswith(".md") else _of_other
            yield of(os.path.join(place, name)), start + name  # noqa: PTH118  # a path object each is too slow


def _of_name(path: str) -> str:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return "names that are not UTF-8"
    return ""


def _of_other(file: str) -> str:
    try:
        size = os.lstat(file).st_size
    except OSError:
        return ""
    return f"files over {_LARGE // 10**6} MB, which many remotes refuse" if size > _LARGE else ""


def _of_note(file: str) -> str:
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return "notes that are links or cannot be read"
    with os.fdopen(handle, "rb") as note:
        if os.fstat(handle).st_size > LIMIT_BYTES:
            return f"notes over {LIMIT_BYTES // 1024} kB"
        beginning = note.read(_BEGINNING) if note.read(3) == b"---" else b""
    if not beginning:
        return ""
    return "notes with front matter that is never closed" if is_unclosed(b"---" + beginning) else ""
