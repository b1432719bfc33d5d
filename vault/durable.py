"""Files that are on the disk when a call returns, as git's own would not be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def put_durably(path: Path, data: bytes) -> None:
    """Have a file hold this: a reader, and a power cut, finds all of it or what it held before."""
    fresh = path.with_name(f"{path.name}.new")
    write_durably(fresh, data)
    fresh.replace(path)
    sync_folder(path.parent)


def write_durably(path: Path, data: bytes, mode: int | None = None) -> None:
    """Write a new file and have it on the disk before returning; `mode` None leaves the permissions to the umask."""
    handle = new_file(path, 0o666)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        if mode is not None:
            os.fchmod(handle, mode)
        os.fsync(handle)


def new_file(path: Path, mode: int) -> int:
    """Open a file for writing that is nobody else's; what lay there before is removed."""
    try:
        return os.open(path, _NEW, mode)
    except FileExistsError:
        path.unlink()
        return os.open(path, _NEW, mode)


def sync_folder(path: Path) -> None:
    """Have the names in a directory on the disk before returning."""
    folder = os.open(path, _FOLDER)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
