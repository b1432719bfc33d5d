"""The agent directory: where everything of one agent lives, who may hold it, and how a new one is made.

It knows file names and one lock.  It does not read what the files say.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.resources
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from daemon.errors import AlreadyRunning, StorageError, UsageError
from vault import Vault, VaultError

STARTER = ("AGENTS.md", "heartbeats/host-watch.md", "heartbeats/repo-watch.md", "heartbeats/tidy.md")
_FOLDERS = ("heartbeats", "goals", "people", "projects", "agent", "journal")


@dataclass(frozen=True, slots=True)
class Home:
    """The paths of one agent directory."""

    path: Path

    @property
    def settings(self) -> Path:
        return self.path / "trimtab.toml"

    @property
    def vault(self) -> Path:
        return self.path / "vault"

    @property
    def heartbeats(self) -> Path:
        return self.vault / "heartbeats"

    @property
    def database(self) -> Path:
        return self.path / "trimtab.db"

    @property
    def workspace(self) -> Path:
        return self.path / "workspace"

    @property
    def models(self) -> Path:
        return self.path / "models"

    @property
    def lock(self) -> Path:
        return self.path / "trimtab.lock"

    @property
    def socket(self) -> Path:
        return self.path / "trimtab.sock"

    @property
    def switch(self) -> Path:
        """The kill switch: while this file exists, nothing is started.  Its text is the reason."""
        return self.path / "PAUSED"

    def paused(self) -> str | None:
        try:
            return self.switch.read_text(encoding="utf-8", errors="replace").strip() or "paused"
        except OSError:
            return None

    def running(self) -> bool:
        """Say whether a process holds the directory now."""
        try:
            handle = os.open(self.lock, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    def holder(self) -> int | None:
        """Return the process id that the lock file names, None when it names none."""
        try:
            return int(self.lock.read_text(encoding="ascii").strip())
        except (OSError, ValueError):
            return None

    def _lock_alone(self, handle: int) -> None:
        for patience in (0.05, 0.15, 0.3, 0.5, None):  # a `status` that looks at the lock has it for a moment
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if patience is None:
                    who = f"another trimtab (process {self.holder()})"
                    raise AlreadyRunning(f"{self.path}: {who} holds this agent") from None
                time.sleep(patience)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the directory alone; the kernel lets go of it when the process dies, however it dies.

        Raises AlreadyRunning, or StorageError when the directory cannot be written.
        """
        try:
            handle = os.open(self.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as wrong:
            raise StorageError(f"{self.path}: cannot be written: {wrong.strerror}") from None
        try:
            self._lock_alone(handle)
            with contextlib.suppress(OSError):  # the lock holds without its note, also on a full disk
                os.ftruncate(handle, 0)
                os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
            yield
        finally:
            os.close(handle)


def create(path: Path, timezone: str) -> tuple[Home, dict[str, str]]:
    """Make the directories and `trimtab.toml` of a new agent; return its starter notes, not yet in any vault.

    Raises UsageError when something is there already, StorageError when it cannot be written.
    """
    home = Home(path)
    if home.settings.exists():
        raise UsageError(f"{home.settings} is there already; nothing was changed")
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is not a directory")
    name = name_of(path)
    starter = importlib.resources.files("daemon") / "starter"
    try:
        for folder in (home.vault, home.workspace, home.models, *(home.vault / name for name in _FOLDERS)):
            folder.mkdir(parents=True, exist_ok=True)
        text = (starter / "trimtab.toml").read_text(encoding="utf-8").format(name=name, timezone=timezone)
        home.settings.write_text(text, encoding="utf-8")
    except OSError as wrong:
        raise StorageError(f"{path}: cannot be written: {wrong.strerror}") from None
    return home, starter_notes(name)


def name_of(path: Path) -> str:
    """Return the name that a new agent in this directory has."""
    return re.sub(r"[^a-z0-9]+", "-", path.resolve().name.lower()).strip("-")[:40] or "agent"


def starter_notes(name: str) -> dict[str, str]:
    """Return the notes that an agent of this name begins with."""
    starter = importlib.resources.files("daemon") / "starter"
    notes = {note: (starter / note).read_text(encoding="utf-8") for note in STARTER}
    return notes | {"AGENTS.md": notes["AGENTS.md"].format(name=name)}


def plant(home: Home, notes: dict[str, str]) -> None:
    """Make the vault of a new agent with these notes in its first commit.  Raises StorageError."""
    name = "trimtab"
    try:
        with Vault.create(home.vault, name, f"{name}@localhost") as vault:
            vault.plant(notes, "Begin with the starter agent")
    except VaultError as wrong:
        raise StorageError(str(wrong)) from None
