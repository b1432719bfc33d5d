"""Objects that a power cut left short: libgit2 reads such a file for ever, so that none may lie where it looks.

Git syncs nothing of a person's own commits, so that the journal, which has the agent's, cannot have them all.
"""

from __future__ import annotations

import contextlib
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from vault.durable import write_durably

ASIDE: Final = "cut-short"
"""The folder beside the history to which they are moved."""

_FOLDER: Final = re.compile(r"[0-9a-f]{2}")
_NAME: Final = re.compile(r"[0-9a-f]{38}(?:[0-9a-f]{24})?")
_CHUNK: Final = 1 << 15
_SLACK_SECONDS: Final = 24 * 3600.0  # far more than any system keeps a file only in memory


def look_through(objects: Path, scratch: Path, boot: str) -> None:
    """Once after each start of the system, named `boot`, move objects that end too early to a folder in `scratch`.

    Only files that came since the last look are read: 100,000 new ones take some seconds, and old ones a tenth of that.
    Raises OSError.
    """
    stamp, fresh = scratch / "looked-through", scratch / f"looked-through.{os.getpid()}"
    since = 0.0
    with contextlib.suppress(OSError):
        if stamp.read_bytes() == boot.encode() and boot:
            return
        since = stamp.stat().st_mtime - _SLACK_SECONDS
    for file in _loose(objects, since):
        with contextlib.suppress(FileNotFoundError):  # git has packed it at this moment
            if os.access(file, os.R_OK) and not is_whole(file):  # another user's is no reader's trouble
                (scratch / ASIDE).mkdir(exist_ok=True)
                file.replace(scratch / ASIDE / f"{file.parent.name}{file.name}")
    write_durably(fresh, boot.encode())
    fresh.replace(stamp)


def moved_aside(scratch: Path) -> list[str]:
    """Return the ids of all objects that were ever moved, in order."""
    with contextlib.suppress(OSError):
        return sorted(file.name for file in (scratch / ASIDE).iterdir())
    return []


def is_whole(file: Path) -> bool:
    """Whether a loose object's file can be read to its end.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "object"
    >>> file.write_bytes(zlib.compress(b"blob 3\\0abc")), is_whole(file)
    (18, True)
    >>> file.write_bytes(zlib.compress(b"blob 3\\0abc")[:9]), is_whole(file)
    (9, False)
    """
    reader = zlib.decompressobj()
    with file.open("rb", buffering=0) as source:
        try:
            while not reader.eof and (piece := reader.unconsumed_tail or source.read(_CHUNK)):
                reader.decompress(piece, _CHUNK)
        except zlib.error:
            return False
    return reader.eof


def _loose(objects: Path, since: float) -> Iterator[Path]:
    """Give the files of objects whose place or content has changed since a time, in seconds since the epoch."""
    for folder in sorted(objects.iterdir()):
        if not _FOLDER.fullmatch(folder.name) or folder.is_symlink() or not folder.is_dir():
            continue
        with os.scandir(folder) as entries:
            for entry in entries:
                if not _NAME.fullmatch(entry.name) or not entry.is_file(follow_symlinks=False):
                    continue
                with contextlib.suppress(FileNotFoundError):
                    if entry.stat(follow_symlinks=False).st_ctime >= since:
                        yield folder / entry.name
