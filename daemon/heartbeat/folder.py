"""The heartbeats of a vault's folder as they are now: the good ones, and one line for each file that is not.

An edit is seen by the file's status and then its content, and taken over only when two looks in a row see the same, so
that a file that an editor is just writing is never read half.  It reads nothing but regular files that end in `.md`.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from zoneinfo import ZoneInfo

from daemon.errors import ConfigError
from daemon.heartbeat import front
from daemon.heartbeat.file import parse
from daemon.types import Heartbeat

Found: TypeAlias = Heartbeat | ConfigError
_Status: TypeAlias = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class _Known:
    status: _Status
    digest: bytes
    found: Found


class Folder:
    """A folder of heartbeat files; `zone` is for those that name no time zone.

    `models` and `tools` are the names there are; a file that names another is a bad one.  None checks none.
    """

    def __init__(
        self,
        path: Path,
        zone: ZoneInfo,
        models: Collection[str] | None = None,
        tools: Collection[str] | None = None,
    ) -> None:
        self.path, self._zone, self._models, self._tools = path, zone, models, tools
        self._known: dict[str, _Known] = {}
        self._seen: dict[str, _Status] = {}
        self._looked = False
        self.problem: ConfigError | None = None

    @property
    def found(self) -> Mapping[str, Found]:
        """What the last look found: by name, the heartbeat or the line that says what is wrong with its file."""
        return {name: known.found for name, known in sorted(self._known.items())}

    @property
    def heartbeats(self) -> Mapping[str, Heartbeat]:
        """The good ones."""
        return {name: found for name, found in self.found.items() if isinstance(found, Heartbeat)}

    @property
    def problems(self) -> Mapping[str, ConfigError]:
        """The lines about the others."""
        return {name: found for name, found in self.found.items() if isinstance(found, ConfigError)}

    def look(self) -> set[str]:
        """Look again and return the names that came, went or changed.

        A folder that cannot be listed leaves everything as it was and is in `problem`.
        """
        seen = self._list()
        if seen is None:
            return set()
        settled = {name for name in seen.keys() | self._known.keys() if self._settled(name, seen.get(name))}
        self._seen, self._looked = seen, True
        return {name for name in settled if self._take(name, seen.get(name))}

    def _list(self) -> dict[str, _Status] | None:
        try:
            with os.scandir(self.path) as entries:
                seen = {
                    entry.name[: -len(".md")]: _status(entry.stat(follow_symlinks=False))
                    for entry in entries
                    if entry.name.endswith(".md") and not entry.name.startswith(".")
                }
        except OSError as wrong:
            self.problem = ConfigError(self.path, "", f"cannot be listed: {wrong.strerror}")
            return None
        self.problem = None
        return seen

    def _settled(self, name: str, status: _Status | None) -> bool:
        """Whether a status is news, and the same news as at the look before."""
        known = self._known.get(name)
        if status == (known.status if known else None):
            return False
        return not self._looked or self._seen.get(name) == status

    def _take(self, name: str, status: _Status | None) -> bool:
        """Read a file again; return whether what it says is different."""
        old = self._known.pop(name, None)
        if status is None:
            return old is not None
        label = f"{self.path.name}/{ascii(name)[1:-1]}.md"
        data: bytes | None = None
        try:
            data = _read(label, self.path / f"{name}.md")
            found: Found = parse(label, name, data, self._zone, self._models, self._tools)
        except ConfigError as wrong:
            found = wrong
        digest = hashlib.sha256(data if data is not None else str(found).encode()).digest()
        self._known[name] = _Known(status, digest, found)
        return old is None or old.digest != digest


def _status(status: os.stat_result) -> _Status:
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _read(label: str, path: Path) -> bytes:
    """Read a regular file of a bounded size; a link, a pipe or a device is none.  Raises ConfigError."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as wrong:
        reason = "is a link" if path.is_symlink() else f"cannot be read: {wrong.strerror}"
        raise ConfigError(label, "", f"{reason}; expected a regular file") from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ConfigError(label, "", "expected a regular file")
        with open(handle, "rb", closefd=False) as file:
            return file.read(front.LIMIT + 1)
    except OSError as wrong:
        raise ConfigError(label, "", f"cannot be read: {wrong.strerror}") from None
    finally:
        os.close(handle)
