"""One exchange with a remote: what came there since is checked and taken, what is only here goes on top and is pushed.

Nothing is ever forced, on either side.  A remote whose history was rewritten, or that has another history, changes
nothing here until a person says so.  The network is used without any lock, so that no run waits for it.

The remote is believed as far as a person who edits the vault by hand: whoever can push to it can write notes and
instructions.  But what comes from there in the agent's own name, or everything with `hold_instructions`, never becomes
an instruction: that part is taken back in a commit that says so, and waits as a proposal.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from vault.address import Access
from vault.author import Author
from vault.errors import Busy, Refused, VaultError
from vault.git_gate import Gate
from vault.locks import turn
from vault.paper import Failure, Paper
from vault.review import Review
from vault.taking import Taking
from vault.transport import Limits, SyncFailed, Transport
from vault.vault import Vault

_ATTEMPTS: Final = 3
_FOLLOWED: Final = "refs/remotes/trimtab"
_REPLACED: Final = "refs/trimtab/replaced"
SHALLOW: Final = "the vault is a shallow clone, without its older history: run `git fetch --unshallow` in it"
_REWRITTEN = (
    "the remote no longer has {seen}, which it had before: its history was rewritten. Nothing was taken or pushed. "
    "Either push the old history there again, or `trimtab sync --accept` goes on from what the remote has now"
)
_UNRELATED = (
    "the remote has a history of its own that shares nothing with this vault. Nothing was taken or pushed. Name an "
    "empty repository, or `trimtab sync --accept` puts this vault's notes on top of what is there"
)


@dataclass(frozen=True, slots=True)
class Remote:
    """Where a vault is synced to.  `hold_instructions` lets no instruction from there into force without approval."""

    url: str
    branch: str
    access: Access = field(default_factory=Access)
    limits: Limits = field(default_factory=Limits)
    hold_instructions: bool = False


@dataclass(frozen=True, slots=True)
class Synced:
    """What an exchange did: how many commits came and went, which got a new id, what waits, lines for the person."""

    taken: int = 0
    pushed: int = 0
    moved: Mapping[str, str] = field(default_factory=dict)
    proposals: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


class Sync:
    """The exchanges of one vault with one remote; `review` says whose a commit is and which were approved."""

    def __init__(self, vault: Vault, remote: Remote, review: Review, now: Callable[[], datetime]) -> None:
        self._vault, self._remote, self._review, self._now = vault, remote, review, now
        self._gate = Gate(vault.git.gitdir)
        self._transport = Transport(self._gate.folder, remote.url, remote.branch, remote.access, remote.limits)
        self.paper = Paper(vault.own, remote.url, remote.branch)

    def run(self, *, accept: bool = False, stop: threading.Event | None = None) -> Synced:
        """Do one exchange; `accept` goes on from another or a rewritten history of the remote.

        `stop` ends it early from another thread.  Raises SyncFailed; then the vault is as it was, or has only taken in.
        """
        stop, done = stop or threading.Event(), Synced()
        with self._clear():
            for _ in range(_ATTEMPTS):
                tip = self._fetch(stop)
                done = self._take(tip, done, accept=accept)
                try:
                    return self._push(tip, done, stop)
                except SyncFailed as failed:
                    if failed.reason != "moved":
                        raise
        raise SyncFailed("moved", "somebody else keeps pushing to the remote: the next exchange tries again")

    @contextlib.contextmanager
    def _clear(self) -> Iterator[None]:
        """Be the only exchange of this vault, clear up behind it, and give every failure its reason."""
        try:
            with turn(self._vault.own / "sync.lock", attempts=1):
                try:
                    yield
                finally:
                    self._gate.remove()
        except SyncFailed as failed:
            self.failed(failed)
            raise
        except Busy as busy:
            raise SyncFailed("busy", str(busy)) from None
        except Refused as refused:
            raise self.failed(SyncFailed("content", f"{refused}: nothing was taken")) from None
        except (VaultError, OSError) as wrong:
            raise self.failed(SyncFailed("vault", str(wrong))) from None

    def failed(self, failed: SyncFailed) -> SyncFailed:
        """Write down why no exchange came about, for whoever asks later; one that was stopped is no failure."""
        if failed.reason != "stopped":
            self.paper.keep_failure(Failure(self._now(), failed.reason, str(failed)))
        return failed

    def _fetch(self, stop: threading.Event) -> str | None:
        """Bring what is new to the vault's objects, where nothing points at it yet; return the remote's tip."""
        if (self._vault.git.gitdir / "shallow").exists():
            raise SyncFailed("vault", SHALLOW)
        head, seen = self._vault.head, self.paper.commit()
        self._gate.build({"ours": head, "seen": seen if seen and self._vault.git.find(seen) else None})
        self._transport.fetch(stop)
        tip = self._gate.tip()
        if tip is not None:
            self._gate.check(self._gate.fork(head, tip), tip)
            self._gate.take_in()
        return tip

    def _take(self, tip: str | None, done: Synced, *, accept: bool) -> Synced:
        """Bring branch and files to what the remote has, with what is only here on top."""
        head, seen = self._vault.head, self.paper.commit()
        since = self._gate.fork(head, tip)
        if seen is not None and (tip is None or not self._gate.descends(tip, seen)):
            if not accept or tip is None:
                raise SyncFailed("rewritten", _REWRITTEN.format(seen=seen[:10]))
            since = seen if self._gate.descends(head, seen) else since
        elif tip is not None and head is not None and since is None and not accept:
            raise SyncFailed("unrelated", _UNRELATED)
        if tip is None or tip == since:
            return done
        if head is not None and not self._gate.descends(tip, head):  # a run goes on naming the commit that it made
            self._gate.follow(f"{_REPLACED}/{head[:12]}", head)
        agent = Author(*self._vault.agent, self._now())
        taking = Taking(self._vault, self._gate, self._review, agent, tip, since, self._remote.hold_instructions)
        if not taking.take() or taking.done is None:
            return done
        names, moved = taking.propose(), taking.done.moved
        return replace(
            done,
            taken=done.taken + taking.taken,
            moved={old: moved.get(new, new) for old, new in done.moved.items()} | moved,
            proposals=(*done.proposals, *names),
            remarks=(*done.remarks, *taking.remarks),
        )

    def _push(self, tip: str | None, done: Synced, stop: threading.Event) -> Synced:
        """Push what is only here, if anything is, and write down what the remote has now."""
        head = self._vault.head
        new = [] if head is None or head == tip else self._gate.commits(head, tip)
        large = self._gate.large(tip, new) if new else []
        if new and head is not None:
            if tip is not None:
                self.paper.keep_seen(tip)
            try:
                self._transport.push(head, stop)
            except SyncFailed as failed:
                raise SyncFailed(failed.reason, "; ".join([str(failed), *large])) from None
        if head is not None:
            self.paper.keep(head, self._now())
            self._gate.follow(f"{_FOLLOWED}/{self._remote.branch}", head)
        return replace(done, pushed=len(new), remarks=(*done.remarks, *large))
