"""The vault's exchanges with its remote, as [sync] in trimtab.toml asks for them: on a schedule and after commits.

They run beside the runs and never in one's way.  One that fails is told once in the log and counted each time; the
agent goes on without it, and the next try comes with the schedule.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

import structlog
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from daemon.errors import ConfigError
from daemon.heartbeat import fields
from daemon.memory import review_of
from daemon.models.secret import KeyOption, KeySource
from daemon.settings import FILE, validated
from daemon.stages import Clock
from vault import Refused, Vault, VaultError
from vault.address import Access, basic, check_branch, protocol_of, ssh_command
from vault.git_gate import Gate
from vault.paper import Paper
from vault.sync import Remote, Sync, Synced
from vault.transport import Limits, SyncFailed, Transport

log = structlog.get_logger()

_LOOK_SECONDS, _SPACING_SECONDS, _STOP_SECONDS = 5.0, 30.0, 10.0
_LEAST, _MOST = timedelta(minutes=1), timedelta(hours=2)  # the alert VaultNotSynced counts on three tries at least


def _interval(value: Any) -> timedelta:
    found = fields.duration(value)
    if not _LEAST <= found <= _MOST:
        raise ValueError("a duration from 1m to 2h")
    return found


class Options(BaseModel):
    """What [sync] may say; without the table nothing is synced.

    `token` is for http, `ssh_key` for ssh; without one ssh uses the user's own keys.  `instructions = "hold"` lets no
    instruction that comes from the remote into force before it was approved here.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: str
    branch: str | None = None
    every: Annotated[timedelta, BeforeValidator(_interval)] = timedelta(minutes=15)
    after_commits: bool = True
    seconds: float = Field(default=120, ge=1, le=3600)
    most_megabytes: int = Field(default=256, ge=1, le=100_000)
    user: str = Field(default="git", pattern=r"^[^:\x00-\x20\x7f]{1,100}$")
    token: KeyOption = None
    ssh_key: KeyOption = None
    known_hosts: Path | None = None
    instructions: Literal["take", "hold"] = "take"


class Told(Protocol):
    """Who counts exchanges."""

    def synced(self, at: datetime, taken: int = 0, pushed: int = 0) -> None: ...

    def sync_failed(self, reason: str) -> None: ...


class Syncing:
    """The exchanges of one agent's vault."""

    def __init__(self, vault: Vault, options: Options, home: Path, clock: Clock) -> None:
        self._vault, self._options, self._home, self._clock = vault, options, home, clock
        self._review = review_of(vault)
        self._told_reason = ""

    def last(self) -> datetime | None:
        """Return when an exchange last came about."""
        return self.paper().last()

    def paper(self) -> Paper:
        """Return what is written down of former exchanges."""
        return self._sync(Access()).paper

    def exchange(self, *, accept: bool = False, stop: threading.Event | None = None) -> Synced:
        """Do one exchange now.  Blocks.  Raises SyncFailed, or ConfigError when a key cannot be read."""
        try:
            access = self._access()
        except ConfigError as wrong:
            self._sync(Access()).failed(SyncFailed("credentials", str(wrong)))
            raise
        return self._sync(access).run(accept=accept, stop=stop)

    def reachable(self, seconds: float) -> str | None:
        """Return the newest commit of the remote's branch, None where it has none.  Raises SyncFailed or ConfigError.

        Nothing is fetched, nothing is asked of a person, and no exchange that goes on is disturbed.  Blocks.
        """
        options, access = self._options, self._access()
        with tempfile.TemporaryDirectory() as folder:
            gate = Gate(Path(folder))
            gate.build({})
            branch = options.branch or self._vault.branch
            limits = Limits(min(seconds, options.seconds))
            return Transport(gate.folder, options.url, branch, access, limits).look(threading.Event())

    async def run(self, told: Told, paused: Callable[[], object | None]) -> None:
        """Exchange on schedule and after commits until cancelled; not while `paused` gives a reason."""
        if last := await asyncio.to_thread(self.last):
            told.synced(last)
        due = self._clock.monotonic()
        not_before, head = due, await asyncio.to_thread(self._head)
        while True:
            await self._clock.sleep(_LOOK_SECONDS)
            now, before = self._clock.monotonic(), head
            wanted = now >= due
            if not wanted and self._options.after_commits and now >= not_before:
                wanted = await asyncio.to_thread(self._head) != before
            if not wanted or paused() is not None:
                continue
            worked = await self._try(told)
            due = self._clock.monotonic() + self._options.every.total_seconds()
            not_before = self._clock.monotonic() + _SPACING_SECONDS if worked else due
            head = await asyncio.to_thread(self._head)

    async def _try(self, told: Told) -> bool:
        """Do one exchange in a thread that ends soon when this task is cancelled; say what became of it."""
        stop = threading.Event()
        thread = asyncio.ensure_future(asyncio.to_thread(self.exchange, stop=stop))
        try:
            done = await asyncio.shield(thread)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait([thread], timeout=_STOP_SECONDS)
            if thread.done():
                thread.exception()
            raise
        except (SyncFailed, ConfigError) as failed:
            self._tell(told, failed)
            return False
        if self._told_reason:
            log.info("vault.synced_again")
        self._told_reason = ""
        told.synced(self._clock.now(), done.taken, done.pushed)
        for remark in done.remarks:
            log.warning("vault.remarked", what=remark)
        for name in done.proposals:
            log.warning("vault.held", what=f"an instruction from the remote waits for approval: {name}")
        if done.taken or done.pushed:
            log.info("vault.synced", taken=done.taken, pushed=done.pushed)
        return True

    def _tell(self, told: Told, failed: SyncFailed | ConfigError) -> None:
        reason = failed.reason if isinstance(failed, SyncFailed) else "credentials"
        told.sync_failed(reason)
        if reason == "stopped":
            return
        say = log.info if reason in (self._told_reason, "busy") else log.warning
        say("vault.not_synced", cause=reason, reason=str(failed))
        self._told_reason = reason

    def _head(self) -> str | None:
        with contextlib.suppress(VaultError):  # what is wrong with it is told by whoever needs it
            return self._vault.head
        return None

    def _sync(self, access: Access) -> Sync:
        options = self._options
        limits = Limits(options.seconds, options.most_megabytes * 1024 * 1024)
        branch = options.branch or self._vault.branch
        remote = Remote(options.url, branch, access, limits, options.instructions == "hold")
        try:
            return Sync(self._vault, remote, self._review, self._clock.now)
        except Refused as refused:  # the vault's own branch has a name that could be taken for an option
            raise ConfigError(FILE, "sync.branch", str(refused)) from None

    def _access(self) -> Access:
        """Read what opens the remote, anew for each exchange.  Raises ConfigError."""
        options = self._options
        key = None if options.ssh_key is None else _path_of(options.ssh_key, self._home)
        known = None if options.known_hosts is None else self._home / options.known_hosts.expanduser()
        header = "" if options.token is None else basic(options.user, options.token.read(self._home, "sync.token"))
        return Access(header, ssh_command(key, known))


def options_of(table: Mapping[str, Any]) -> Options | None:
    """Return what [sync] says, None where it says nothing.  Raises ConfigError."""
    if not table:
        return None
    options = validated(Options, table, FILE, "sync")
    try:
        protocol = protocol_of(options.url)
    except Refused as refused:
        raise ConfigError(FILE, "sync.url", str(refused)) from None
    try:
        check_branch(options.branch or "main")
    except Refused as refused:
        raise ConfigError(FILE, "sync.branch", str(refused)) from None
    if options.ssh_key is not None and options.ssh_key.env is not None:
        raise ConfigError(FILE, "sync.ssh_key", 'expected { file = "PATH" } or { credential = "NAME" }')
    if options.token is not None and protocol not in {"http", "https"}:
        raise ConfigError(FILE, "sync.token", f"is for https, not for {protocol}; take the line out")
    return options


def _path_of(source: KeySource, home: Path) -> Path:
    """Return where a private key lies; ssh reads it itself.  Raises ConfigError when there is none."""
    folder = Path(os.environ.get("CREDENTIALS_DIRECTORY") or "/nonexistent")
    path = folder / str(source.credential) if source.credential else home / Path(str(source.file)).expanduser()
    if not os.access(path, os.R_OK):
        raise ConfigError(FILE, "sync.ssh_key", f"{source} cannot be read")
    return path
