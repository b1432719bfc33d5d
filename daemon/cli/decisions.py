"""What a person can do in a review, each act whole: in the vault first, then for the agent to hear of.

A decision that the database could not take is told to the agent later: the vault's history has it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from daemon.cli.place import home
from daemon.errors import ConfigError, StorageError, UsageError
from daemon.feedback import rejected, settle_now
from daemon.heartbeat.file import parse
from daemon.home import Home
from daemon.memory import PROPOSED_IN, open_vault, review_of, run_of
from daemon.trajectories.heard import Heard
from daemon.trajectories.reading import reading
from vault import Author, Change, Commit, Refused, Vault, VaultError
from vault.durable import write_durably
from vault.errors import Busy, Corrupt, Unwritable
from vault.proposals import Proposal, Proposals
from vault.revert import Reverted, revert
from vault.work import Work

_EDITORS = ("sensible-editor", "editor", "nano", "vim", "vi")


class Decisions:
    """The acts of a person on one agent's vault."""

    def __init__(self, home: Home, vault: Vault) -> None:
        self._home, self.vault = home, vault
        self.review, self.proposals = review_of(vault), Proposals(vault)
        self.notices: list[str] = []
        self._heard = Heard()

    def settle(self) -> None:
        """End what a killed review had begun, and let the database know; one that cannot be written is only noted."""
        self.proposals.clear()
        try:
            settle_now(self.vault, self._home.database)
        except StorageError as wrong:
            self.notices.append(f"the agent is told later: {wrong}")

    def take_back(self, commit: Commit, why: str) -> Reverted:
        """Revert what a commit wrote, and count it as reviewed."""
        done = revert(self.vault, commit, why, self._now())
        self.review.approve([commit.id])
        self.settle()
        return done

    def approve(self, proposal: Proposal) -> str:
        """Join a proposal into the notes and say so in one line."""
        run = run_of(proposal.made)
        kept = self.proposals.approve(proposal, self._now(), {PROPOSED_IN: run} if run else {})
        self.settle()
        if kept is None:
            return f"{proposal.name}: the notes say so already"
        return f"{proposal.name} is in force: {', '.join(kept.paths)} in commit {kept.commit[:10]}"

    def reject(self, proposal: Proposal, why: str) -> str:
        """Take a proposal away, let the agent hear why, and say how to get it back."""
        rejected(self._home.database, proposal, self._now().name, datetime.now(UTC), why)
        self.proposals.drop(proposal)
        return f"{proposal.name} is rejected; `git branch proposals/{proposal.name} {proposal.tip[:10]}` brings it back"

    def origin(self, commit: Commit) -> dict[str, Any]:
        """Return {read, read_before}: what the run of a commit had read, None where that is not known, and what its
        thread held of earlier runs that nobody vouches for.
        """
        run = run_of(commit)
        if run is not None and self._home.database.exists():
            with suppress(StorageError), reading(self._home.database) as view:
                return {"read": self._heard.by(view, run), "read_before": self._heard.before(view, run)}
        return {"read": None, "read_before": []}

    def moved(self, proposal: Proposal) -> list[str]:
        """Return the notes of a proposal that have changed since it was made."""
        head = self.vault.head
        return [c.path for c in proposal.changes if self.vault.git.identity(head, c.path) not in (c.old, c.new)]

    def wrong(self, proposal: Proposal) -> list[str]:
        """Return a line for each heartbeat of a proposal that could not run as it is."""
        found = list[str]()
        for path in proposal.paths:
            folder, _, name = path.rpartition("/")
            if folder == "heartbeats" and name.endswith(".md"):
                try:
                    parse(path, name.removesuffix(".md"), self.proposals.text(proposal, path), ZoneInfo("UTC"))
                except ConfigError as wrong:
                    found.append(f"it is no heartbeat that can run: {wrong}")
        return found

    def edit(self, changes: Sequence[Change]) -> str:
        """Let the person edit notes as they are now, and commit that under the person's name; say what came of it."""
        there = [change.path for change in changes if change.regular and self._note(change.path).is_file()]
        if not there:
            return "there is nothing to edit: the notes are gone"
        self._edited([self._note(path) for path in there])

        def by_hand(work: Work) -> None:
            for path in there:
                work.by_hand(path, work.here(path))

        kept = self.vault.change(by_hand, "", self._now(), hand=True)
        return "nothing was edited" if kept is None else f"your edit is commit {kept.commit[:10]}"

    def amend(self, proposal: Proposal) -> Proposal:
        """Let the person edit what a proposal says; it still waits for approval."""
        contents = dict[str, bytes]()
        for change in proposal.changes:
            if change.new is None or not change.regular:
                continue
            before = self.proposals.text(proposal, change.path)
            place = self.vault.own / f"proposal-{Path(change.path).name}"
            write_durably(place, before)
            try:
                self._edited([place])
                after = place.read_bytes()
            finally:
                place.unlink(missing_ok=True)
            if after != before:
                contents[change.path] = after
        return self.proposals.amend(proposal, contents, datetime.now(UTC)) if contents else proposal

    def _note(self, path: str) -> Path:
        place = self.vault.root / path
        self.vault.files.read(tuple(path.split("/")), 1 << 30)  # refuses links on the way
        return place

    def _now(self) -> Author:
        return self.vault.person(datetime.now(UTC))

    @staticmethod
    def _edited(files: Sequence[Path]) -> None:
        command = next(_editors(), None)
        if command is None:
            raise UsageError("there is no editor: set EDITOR")
        try:
            done = subprocess.run([*command, *map(str, files)], check=False)
        except KeyboardInterrupt:
            raise Refused("the editor was interrupted: what it wrote is still there, nothing was committed") from None
        except OSError as wrong:
            raise Refused(f"the editor {command[0]!r} could not be started: {wrong.strerror}") from None
        if done.returncode:
            raise Refused(
                f"the editor ended with {done.returncode}: what it wrote is still there, nothing was committed"
            )


@contextmanager
def deciding() -> Iterator[Decisions]:
    """Open this agent's vault for decisions; what stands in the way is one line for the person.

    Raises UsageError for what another call can do, StorageError for a vault that cannot be read or written now.
    """
    agent = home()
    with open_vault(agent.vault) as vault:
        desk = Decisions(agent, vault)
        desk.settle()
        try:
            yield desk
        except (Busy, Corrupt, Unwritable) as wrong:
            raise StorageError(str(wrong)) from None
        except VaultError as wrong:
            raise UsageError(str(wrong)) from None


def _editors() -> Iterator[list[str]]:
    for name in ("VISUAL", "EDITOR"):
        if words := shlex.split(os.environ.get(name, "")):
            yield words
    for name in _EDITORS:
        if found := shutil.which(name):
            yield [found]
