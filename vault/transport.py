"""How commits travel: the git binary in a process of its own that can be ended at any moment.

Chosen over libgit2's own network code because what a remote sends is then parsed outside of this process, checked by
git's fsck, and bounded in time and size from outside; and because ssh is the system's own, with its known hosts.
The process sees no configuration but ours, and of our environment only what ssh needs.  It never forces anything.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, TypeAlias
from urllib.parse import urlsplit

from vault.address import Access, check_branch, protocol_of
from vault.errors import VaultError
from vault.escape import one_line
from vault.git_gate import CAME

Reason: TypeAlias = Literal[
    "network", "credentials", "host_key", "timeout", "missing", "refused", "moved", "rewritten", "unrelated", "content",
    "too_large", "disk", "busy", "vault", "stopped", "other",
]  # fmt: skip

_LOOK_SECONDS, _GRACE_SECONDS = 0.1, 2.0
_MOST_SAID, _TAIL = 4 * 1024 * 1024, 16 * 1024
_SAYS: Sequence[tuple[Reason, str]] = (
    ("disk", "no space left on device|disk quota exceeded|read-only file system"),
    ("content", "fsck error|error in object|error: object |index-pack|unpack-objects|bad object|pack .*corrupt|"
     "bad pack|inflate|did not receive expected object"),
    ("host_key", "host key verification failed|host identification has changed|certificate|ssl"),
    ("credentials", "authentication failed|permission denied|could not read (?:username|password)|terminal prompts "
     "disabled|returned error: 40[13]|load key|invalid credentials"),
    ("missing", "not appear to be a git repository|repository .*not found|returned error: 404|not exported|"
     "no such repository|no such file or directory|does not exist"),
    ("refused", "shallow update not allowed|remote rejected|unable to push"),
    ("network", "could not resolve|connection|connect to|network is unreachable|no route to host|timed out|hung up|"
     "early eof|unexpected disconnect|could not read from remote|returned error: 5|unable to access|broken pipe"),
)  # fmt: skip


class SyncFailed(VaultError):
    """An exchange with the remote that did not come about; `reason` is one of a few words."""

    def __init__(self, reason: Reason, message: str) -> None:
        self.reason: Reason = reason
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long one exchange may take, in seconds, and how many bytes may come."""

    seconds: float = 120.0
    most_bytes: int = 256 * 1024 * 1024


class Transport:
    """Exchanges with one branch of one remote, through a gate at `folder`."""

    def __init__(self, folder: Path, url: str, branch: str, access: Access, limits: Limits) -> None:
        self._folder, self._url, self._branch = folder, url, check_branch(branch)
        self._protocol = protocol_of(url)
        self._access, self._limits = access, limits

    def look(self, stop: threading.Event) -> str | None:
        """Ask for the newest commit of the remote's branch, None where it has no such branch.  Raises SyncFailed."""
        self._check_path()
        wanted = f"refs/heads/{self._branch}"
        listed = self._git(["ls-remote", "--refs", "--end-of-options", self._url, wanted], stop)
        found = (line.partition("\t") for line in listed.splitlines())
        return next((commit for commit, _, name in found if name == wanted), None)

    def fetch(self, stop: threading.Event) -> None:
        """Bring the remote's branch to the gate; where it has none, nothing comes.  Raises SyncFailed."""
        if self.look(stop) is None:
            return
        wanted = f"refs/heads/{self._branch}"
        options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance"]
        self._git(["fetch", *options, "--end-of-options", self._url, f"{wanted}:{CAME}"], stop)

    def push(self, commit: str, stop: threading.Event) -> None:
        """Let the remote's branch be `commit`, if that is a step forward.  Raises SyncFailed."""
        target = f"{commit}:refs/heads/{self._branch}"  # no + before it: git itself refuses any other step
        options = ["--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--no-force"]
        self._git(["push", *options, "--end-of-options", self._url, target], stop)

    def _check_path(self) -> None:
        """Refuse a path of another user's: its hooks and configuration would run as us."""
        if self._protocol != "file":
            return
        path = Path(urlsplit(self._url).path if "://" in self._url else self._url)
        for each in (path, path / ".git", path / "hooks", path / "config"):
            try:
                owner = each.stat().st_uid
            except OSError:
                continue
            if owner not in {os.geteuid(), 0}:
                raise SyncFailed("refused", f"{each} belongs to another user, whose hooks would run as you: use ssh")

    def _git(self, arguments: Sequence[str], stop: threading.Event) -> str:
        settings = {"protocol.allow": "never", f"protocol.{self._protocol}.allow": "always", "safe.directory": "*"}
        if self._access.header and self._protocol in {"http", "https"}:
            settings["http.extraHeader"] = self._access.header
        environment = _environment(settings)
        if self._access.ssh and self._protocol == "ssh":
            environment["GIT_SSH_COMMAND"] = " ".join(map(_quoted, self._access.ssh))
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            try:
                process = subprocess.Popen(
                    ["git", f"--git-dir={self._folder}", *arguments],
                    cwd=self._folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                    start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                raise SyncFailed("other", f"git could not be started: {error.strerror}") from None
            try:
                code = self._wait(process, (out, err), stop)
            finally:
                _end(process)
            said, wrong = _tail(out), _tail(err)
        if code:
            raise _failure(said, wrong)
        return said

    def _wait(self, process: subprocess.Popen[bytes], said: Sequence[IO[bytes]], stop: threading.Event) -> int:
        """Wait for the end, and say why not when it takes too long, sends too much or is no longer wanted."""
        until = time.monotonic() + self._limits.seconds
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(_LOOK_SECONDS)
            if stop.is_set():
                raise SyncFailed("stopped", "the exchange was stopped")
            if time.monotonic() > until:
                raise SyncFailed("timeout", f"the remote did not end within {self._limits.seconds:g} s")
            talkative = any(os.fstat(file.fileno()).st_size > _MOST_SAID for file in said)
            if talkative or _size(self._folder) > self._limits.most_bytes:
                raise SyncFailed("too_large", f"the remote sent more than {self._limits.most_bytes:,} bytes")


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return all that git and ssh see.  Settings go here and not on the command line, which every user can read."""
    made = {
        "PATH": os.defpath, "LC_ALL": "C", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "SSH_ASKPASS": "true",
        "GIT_NO_REPLACE_OBJECTS": "1", "GIT_CONFIG_COUNT": str(len(settings)), "GIT_PROTOCOL_FROM_USER": "0",
        "GIT_SSH_VARIANT": "ssh",
    }  # fmt: skip
    for place, (key, value) in enumerate(settings.items()):
        made |= {f"GIT_CONFIG_KEY_{place}": key, f"GIT_CONFIG_VALUE_{place}": value}
    if agent := os.environ.get("SSH_AUTH_SOCK"):
        made["SSH_AUTH_SOCK"] = agent
    return made


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the process and of what it started."""
    for number, patience in ((signal.SIGTERM, _GRACE_SECONDS), (signal.SIGKILL, None)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)


def _size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118  # a path object each is too slow
    return total


def _tail(file: IO[bytes]) -> str:
    file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
    return file.read().decode("utf-8", "replace")


def _failure(said: str, wrong: str) -> SyncFailed:
    """Say why git failed.  What the remote itself says comes after `remote:` and decides nothing."""
    own = [line for line in wrong.splitlines() if line.strip() and not line.startswith("remote:")]
    pushed = next((line for line in said.splitlines() if line.startswith("!")), "")
    clear = (line for line in own if line.startswith(("fatal:", "error:", "ERROR:")))
    told = next(clear, own[-1] if own else "git failed")
    shown = one_line(told, 200)
    if "[rejected]" in pushed:
        return SyncFailed("moved", "the remote moved on in the meantime")
    if "[remote rejected]" in pushed:
        why = pushed.rpartition("[remote rejected]")[2].strip(" ()")
        return SyncFailed("refused", f"the remote refused the push: {one_line(why, 120)}")
    text = "\n".join(own).lower()
    for reason, pattern in _SAYS:
        if re.search(pattern, text):
            return SyncFailed(reason, shown)
    return SyncFailed("other", shown)
