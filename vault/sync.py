"""One exchange with a remote: what came there since is checked and taken, what is only here goes on top, and is pushed.

Nothing is ever forced, on either side.  A remote whose history was rewritten, or that has another history, changes
nothing here until a person says so.  The network is used without any lock, so that no run waits for it.

The remote is believed as far as a person who edits the vault by hand: whoever can push to it can write notes and
instructions.  But what comes from there in the agent's own name, or everything with `hold_instructions`, never becomes
an instruction: that part is taken back in a commit that says so, and waits as a proposal.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from vault.author import Author
from vault.edit import Edit
from vault.errors import Busy, Corrupt, Refused, VaultError
from vault.files import sync_folder, write_durably
from vault.git import Commit
from vault.git_gate import Gate
from vault.landing import Landing
from vault.locks import turn
from vault.proposing import check_proposal, propose
from vault.replay import Replayed, replay
from vault.review import REVIEWED, Review
from vault.rules import is_instruction
from vault.transport import Access, Limits, SyncFailed, Transport
from vault.vault import Vault
from vault.work import message_of

HOLDS: Final = "Trimtab-Holds"
"""The trailer of a commit that takes back what came from the remote, and names the remote's commit."""
_ATTEMPTS: Final = 3
_FOLLOWED: Final = "refs/remotes/trimtab"
_REPLACED: Final = "refs/trimtab/replaced"


@dataclass(frozen=True, slots=True)
class Remote:
    """Where a vault is synced to.  `hold_instructions` lets no instruction from there into force without approval."""

    url: str
    branch: str
    access: Access = Access()
    limits: Limits = Limits()
    hold_instructions: bool = False


@dataclass(frozen=True, slots=True)
class Synced:
    """What an exchange did: how many commits came and went, which got a new id, what waits, and lines for the person."""

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
        self._paper = vault.own / "remote.json"

    def seen(self) -> str | None:
        """Return the commit that the remote had at the end of the last exchange, None before the first."""
        try:
            facts = json.loads(self._paper.read_bytes())
            ours = facts["url"] == self._remote.url and facts["branch"] == self._remote.branch
            return str(facts["commit"]) if ours else None
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def ahead(self) -> bool:
        """Whether there is anything here that the remote did not have at the end of the last exchange."""
        return self._vault.head != self.seen()

    def run(self, *, accept: bool = False, stop: threading.Event | None = None) -> Synced:
        """Do one exchange; `accept` takes another or a rewritten history of the remote as the one to go on from.

        `stop` ends it early from another thread.  Raises SyncFailed; then the vault is as it was, or has only taken in.
        """
        stop = stop or threading.Event()
        done = Synced()
        try:
            with turn(self._vault.own / "sync.lock", attempts=1):
                for _ in range(_ATTEMPTS):
                    tip = self._fetch(stop)
                    done = self._take(tip, done, accept=accept)
                    try:
                        return self._push(tip, done, stop)
                    except SyncFailed as failed:
                        if failed.reason != "moved":
                            raise
                raise SyncFailed("moved", "somebody else keeps pushing to the remote: the next exchange tries again")
        except Busy as busy:
            raise SyncFailed("busy", str(busy)) from None
        except Refused as refused:
            raise SyncFailed("content", f"{refused}: nothing was taken") from None
        except SyncFailed:
            raise
        except (VaultError, OSError) as wrong:
            raise SyncFailed("vault", str(wrong)) from None
        finally:
            self._gate.remove()

    def _fetch(self, stop: threading.Event) -> str | None:
        self._gate.build({"ours": self._vault.head, "seen": self._known(self.seen())})
        self._transport.fetch(stop)
        tip = self._gate.tip()
        if tip is not None and not self._known(tip):
            self._gate.check(self._gate.fork(self._vault.head, tip), tip)
            self._gate.take_in()
        return tip

    def _take(self, tip: str | None, done: Synced, *, accept: bool) -> Synced:
        """Bring branch and files to what the remote has, with what is only here on top."""
        seen, head = self._known(self.seen()), self._vault.head
        since = self._gate.fork(head, tip)
        if not (tip is None and seen is None) and not self._gate.descends(tip, seen):
            if not accept or tip is None:
                raise SyncFailed("rewritten", _REWRITTEN.format(seen=(seen or "")[:10]))
            since = seen
        elif tip is not None and head is not None and since is None and not accept:
            raise SyncFailed("unrelated", _UNRELATED)
        if tip is None or self._gate.descends(head, tip) and since == tip:
            return done
        self._keep_by_hand(tip)
        plan = _Plan(self, tip, since, accept)
        self._move_mark(since)
        landing = self._vault.rebase(plan, self._agent())
        if landing is None or plan.replayed is None:
            return done
        self._approve_again(plan)
        names, remarks = self._propose(tip, plan.held)
        notices, self._vault.notices = tuple(self._vault.notices), []
        return replace(
            done,
            taken=done.taken + plan.taken,
            moved={old: plan.replayed.moved.get(new, new) for old, new in done.moved.items()} | plan.replayed.moved,
            proposals=(*done.proposals, *names),
            remarks=(*done.remarks, *plan.replayed.remarks, *remarks, *notices),
        )

    def _push(self, tip: str | None, done: Synced, stop: threading.Event) -> Synced:
        head = self._vault.head
        if head is None:
            return done
        new = self._gate.commits(head, tip) if head != tip else []
        if tip is not None:
            self._remember(tip)
        if new:
            self._transport.push(head, stop)
            self._remember(head)
        return replace(done, pushed=len(new))

    def _keep_by_hand(self, tip: str) -> None:
        """Commit what the person has not committed of the notes that the remote changes, in the person's name."""
        paths = list(self._gate.touched(self._vault.head, tip))

        def by_hand(work: object) -> None:
            for path in paths:
                work.by_hand(path, work.here(path))  # type: ignore[attr-defined]

        self._vault.change(by_hand, "", self._agent(), hand=True)
