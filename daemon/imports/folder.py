"""The files of a folder to import, read without following a link or opening what is no plain file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vault.rules import LIMIT_BYTES

MOST_FILES: Final = 50_000
"""The most files that are looked at."""
_LINK = "a link: what it leads to is not looked at"
_READ = {".md", ".json"}
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Found:
    """A file, by its path below the folder: its text, or why it has none that can be imported."""

    path: str
    text: str = ""
    why: str = ""


def files_of(root: Path) -> Iterator[Found]:
    """Give the files below `root` in order; a hidden folder or a link is one entry, and nothing in it is looked at.

    Raises OSError when the folder itself cannot be read.
    """
    next(root.iterdir(), None)
    seen, missed = 0, list[OSError]()
    for place, folders, names in os.walk(root, onerror=missed.append):
        here = Path(place).relative_to(root)
        for name in sorted(folders):
            if name.startswith(".") and name != ".agents":
                yield Found(_shown(here / name) + "/", why=_HIDDEN.get(name, "a hidden folder"))
            elif (Path(place) / name).is_symlink():
                yield Found(_shown(here / name), why=_LINK)
        folders[:] = sorted(name for name in folders if not name.startswith(".") or name == ".agents")
        for name in sorted(names):
            seen += 1
            if seen > MOST_FILES:
                yield Found(_shown(here), why=f"there are more than {MOST_FILES:,} files: the rest was not looked at")
                return
            yield _read(root, _shown(here / name))
    for wrong in missed:
        yield Found(f"{_shown(Path(str(wrong.filename)).relative_to(root))}/", why=f"cannot be read: {wrong.strerror}")


_HIDDEN = {
    ".obsidian": "settings of Obsidian", ".git": "a history of its own", ".trash": "what was thrown away",
    ".openclaw": "state of OpenClaw",
}  # fmt: skip


def _read(root: Path, path: str) -> Found:
    name = path.rpartition("/")[2]
    ending = Path(name).suffix.lower()
    if not _is_text(path):
        return Found(repr(path), why="its name is not UTF-8")
    if name.startswith("."):
        return Found(path, why="a hidden file; keys stay where they are" if name == ".env" else "a hidden file")
    if ending not in _READ:
        return Found(path, why=f"an attachment ({ending[1:]} file)" if ending else "not a Markdown note")
    try:
        handle = os.open(root / path, _FLAGS)
        with os.fdopen(handle, "rb") as file:
            facts = os.fstat(handle)
            if not stat.S_ISREG(facts.st_mode):
                return Found(path, why="not a regular file")
            if facts.st_size > LIMIT_BYTES:
                return Found(path, why=f"has {facts.st_size:,} bytes; a note may have {LIMIT_BYTES:,}")
            return Found(path, file.read(LIMIT_BYTES).decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Found(path, why="not UTF-8 text")
    except OSError as wrong:
        link = (root / path).is_symlink()
        return Found(path, why=_LINK if link else f"cannot be read: {wrong.strerror}")


def _shown(path: Path) -> str:
    return path.as_posix()


def _is_text(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
