"""What the agent has proposed and a person decides: which proposals wait, what they would change, approve and reject.

A proposal is the branch `proposals/NAME`; a person may look at it, change it and merge it with plain git as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from vault.author import Author
from vault.errors import Busy, Clash, NoSuchProposal
from vault.git import Change, Commit
from vault.joining import common_start, joined
from vault.proposing import APPROVES, FOLDER, own_commits, waiting_tips
from vault.rules import is_instruction
from vault.vault import Vault
from vault.work import Kept, Work, message_of


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal that waits.  `origin` is the commit that it began from, `tip` its newest, `made` the agent's own."""

    name: str
    tip: str
    origin: str | None
    made: Commit
    changes: tuple[Change, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """The notes that it would change."""
        return tuple(change.path for change in self.changes)


class Proposals:
    """The proposals of a vault, as a person decides on them."""

    def __init__(self, vault: Vault) -> None:
        self._vault, self._git = vault, vault.git

    def since(self) -> list[datetime]:
        """Return since when each waits, the longest first, without reading what they say."""
        head, found = self._vault.head, list[datetime]()
        for tip in waiting_tips(self._git, head).values():
            found += [commit.author.when for commit in own_commits(self._git, tip, head)[-1:]]
        return sorted(found)

    def waiting(self) -> list[Proposal]:
        """Return those that wait, the oldest first; one that a person has merged with git waits no longer."""
        head = self._vault.head
        found = list[Proposal]()
        for name, tip in waiting_tips(self._git, head).items():
            if commits := own_commits(self._git, tip, head):
                origin = commits[-1].parent
                found.append(Proposal(name, tip, origin, commits[-1], tuple(self._git.differences(origin, tip))))
        return sorted(found, key=lambda each: (each.made.author.when, each.name))

    def named(self, name: str) -> Proposal:
        """Return one that waits; NoSuchProposal otherwise."""
        wanted = name.removeprefix(f"{FOLDER}/")
        waiting = self.waiting()
        found = next((each for each in waiting if each.name == wanted), None)
        if found is None:
            known = ", ".join(each.name for each in waiting)
            raise NoSuchProposal(f"there is no proposal {wanted!r}; {f'there is {known}' if known else 'none waits'}")
        return found

    def text(self, proposal: Proposal, path: str) -> bytes:
        """Return what a note would say."""
        identity = self._git.identity(proposal.tip, path)
        return b"" if identity is None else self._git.blob(identity)

    def approve(self, proposal: Proposal, author: Author, trailers: Mapping[str, str] | None = None) -> Kept | None:
        """Join a proposal with what its notes say now, in one commit of the person's, and take its branch away.

        None when the notes say so already.  Raises Clash, with nothing done, where a person has since changed the same
        lines, and what `Vault.change` raises.  A kill in between leaves a proposal that changes nothing any more.
        """

        def join(work: Work) -> None:
            for change in proposal.changes:
                work.put(change.path, self._joined(work, change))

        subject = f"approve {proposal.name}: {', '.join(proposal.paths)}"
        message = message_of(subject, {APPROVES: proposal.tip, **(trailers or {})})
        kept = self._vault.change(join, message, author)
        self.drop(proposal)
        return kept

    def clear(self) -> None:
        """Take away the branches that approvals which were killed have left behind."""
        with self._vault.alone():
            waiting = waiting_tips(self._git, self._vault.head)
            for name, tip in self._git.branches_below(FOLDER).items():
                if name not in waiting:
                    self._git.drop(f"{FOLDER}/{name}", tip)

    def drop(self, proposal: Proposal) -> None:
        """Take a proposal away; git still has its commit for a while, under the id of its tip."""
        with self._vault.alone():
            self._git.drop(f"{FOLDER}/{proposal.name}", proposal.tip)

    def amend(self, proposal: Proposal, contents: Mapping[str, bytes], when: datetime) -> Proposal:
        """Let a proposal say what the person wants instead, as a commit of the person's on its branch."""
        author = self._vault.person(when)
        with self._vault.alone():
            stored = {path: self._git.store(content) for path, content in contents.items()}
            made = self._git.commit(proposal.tip, stored, message_of(f"amend {proposal.name}", {}), author)
            if not self._git.advance(f"{FOLDER}/{proposal.name}", proposal.tip, made, author):
                raise Busy(f"the proposal {proposal.name!r} was changed at the same moment: look at it again")
        return self.named(proposal.name)

    def _joined(self, work: Work, change: Change) -> bytes | None:
        """Return what a note shall hold: the proposal's change on top of what it holds now."""
        if not change.regular:
            raise Clash(f"{change.path} is {change.unshown} in the proposal: approve it with git, or reject it")
        here = work.here(change.path)
        base = None if change.old is None else self._git.blob(change.old)
        theirs = None if change.new is None else self._git.blob(change.new)
        if here in (base, theirs):
            return theirs
        result = None
        if here is not None and theirs is not None:
            if base is None:
                base = b"" if is_instruction(change.path) else common_start(here, theirs)
            result = self._git.merged(base, here, theirs)
            if result is None and base:
                result = joined(base, here, theirs)
        if result is None:
            raise Clash(f"{change.path} was changed since in the same place: edit or reject the proposal")
        return result
