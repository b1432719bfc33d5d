"""Two files change places in one step, so that what was written over can still be looked at.

Between a look at a file and a rename over it an editor may save; after a swap its text is in our hands and not lost.
"""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path
from typing import Final

_NOREPLACE: Final = 1
_EXCHANGE: Final = 2
_HERE: Final = -100
_UNKNOWN = {errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP}
_LIBC = ctypes.CDLL(None, use_errno=True)


def place(fresh: Path, name: str, folder: int) -> bool:
    """Give a file a name that is free; False, and nothing done, where it is not.  OSError as `os.rename`."""
    try:
        _rename(fresh, name, folder, _NOREPLACE)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
        os.link(fresh, name, dst_dir_fd=folder)
        fresh.unlink()
    return True


def exchange(fresh: Path, name: str | Path, folder: int | None = None) -> bool:
    """Let `fresh` and the file `name`, in an open directory, change places; False where the file system cannot."""
    try:
        _rename(fresh, name, folder, _EXCHANGE)
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
        return False
    return True


def become(fresh: Path, target: Path, *, keep: bool = False) -> None:
    """Let `fresh` be the new `target`, and not wait for the disk, as some file systems do when a name is given anew.

    With `keep` the name `fresh` has then what `target` was, where the file system can do that.
    """
    if target.exists() and exchange(fresh, target):
        if not keep:
            fresh.unlink()
    else:
        fresh.replace(target)


def _rename(fresh: Path, name: str | Path, folder: int | None, flags: int) -> None:
    call = getattr(_LIBC, "renameat2", None)
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    inside = ctypes.c_int(_HERE if folder is None else folder)
    if call(ctypes.c_int(_HERE), os.fsencode(fresh), inside, os.fsencode(name), ctypes.c_uint(flags)):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), str(fresh))
