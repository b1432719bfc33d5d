"""How what came from a remote becomes the vault's: it goes below, what is only here is done again on top of it.

Commits that are done again get new ids; what points at them (the `reviewed` mark, approvals, proposals) follows, so
that nothing which a person has not seen ever counts as reviewed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from vault.author import Author
from vault.edit import Edit
from vault.errors import Refused
from vault.git import Commit
from vault.git_gate import Gate
from vault.landing import Landing
from vault.proposing import FOLDER, check_proposal, own_commits, propose, waiting_tips
from vault.replay import Replayed, replay
from vault.review import REVIEWED, Review
from vault.rules import is_instruction
from vault.vault import Vault
from vault.work import Work, message_of

HOLDS: Final = "Trimtab-Holds"
"""The trailer of a commit that takes back what came from the remote; it names the remote's commit."""


@dataclass(slots=True)
class Taking:
    """One tip of the remote on its way into a vault; what is here and not before `since` is done again on top.

    `hold_all` holds every instruction that came, not only what came in the agent's name.
    """

    vault: Vault
    gate: Gate
    review: Review
    agent: Author
    tip: str
    since: str | None
    hold_all: bool = False
    taken: int = 0
    held: dict[str, str] = field(default_factory=dict)
    decided: set[str] = field(default_factory=set)
    done: Replayed | None = None
    remarks: list[str] = field(default_factory=list)

    def take(self) -> bool:
        """Take it; False when there was nothing to take.  Raises VaultError, and then branch and files are unmoved."""
        self._keep_by_hand()
        if self.vault.rebase(self._plan, self.agent) is None or self.done is None:
            return False
        self.remarks += [*self.done.remarks, *self.vault.notices]
        self.vault.notices.clear()
        if self.decided:
            self.review.approve(self.decided)
        self._move_proposals()
        return True

    def propose(self) -> tuple[str, ...]:
        """Let the instructions that were held wait as proposals; return the names of these."""
        names = list[str]()
        for path, identity in self.held.items():
            content = self.vault.git.blob(identity)
            here = self.vault.git.identity(self.vault.head, path)
            base = None if here is None else self.vault.git.blob(here)
            try:
                check_proposal(self.vault, path, content, new=True)
                made = propose(self.vault, {path: Edit(base, content)}, {"Trimtab-Remote": self.tip}, self.agent)
            except Refused as refused:
                self.remarks.append(str(refused))
                continue
            names += [made.name] if made.name else []
            self.remarks += made.remarks
        return tuple(names)

    def _plan(self, head: str | None) -> Landing | None:
        came = self.gate.commits(self.tip, head)
        here = self.gate.commits(head, self.tip, self.since)
        if head is not None and not came and self.since == self.tip:
            return None
        self.taken = len(came)
        onto = self._held_back(came)
        self.done = replay(self.vault.git, onto, here, self.gate.touched, self._whose)
        if self.done.tip == head:
            return None
        self._carry_decisions(self.done, {commit.id for commit in here})
        return Landing(self.vault.branch, self.done.tip, self.gate.touched(head, self.done.tip))

    def _held_back(self, came: list[Commit]) -> str:
        """Return the remote's tip, or a commit on top of it that takes back the instructions which have to wait."""
        git, back, self.held = self.vault.git, dict[str, str | None](), {}
        for commit in came:
            if not (self.hold_all or self.review.by_agent(commit)):
                continue
            for path in filter(is_instruction, self.gate.touched(commit.parent, commit.id)):
                before, after = git.identity(self.since, path), git.identity(self.tip, path)
                if before == after:
                    continue
                back[path] = before
                if after is not None:
                    self.held[path] = after
                else:
                    self.remarks.append(f"{path} was taken away on the remote: it stays until you take it away here")
        if not back:
            return self.tip
        message = message_of(f"hold {', '.join(back)} until a person approves", {HOLDS: self.tip})
        return git.commit(self.tip, back, message, self.agent)

    def _whose(self, commit: Commit) -> str:
        return "agent" if self.review.by_agent(commit) else "local"

    def _keep_by_hand(self) -> None:
        """Commit what the person has not committed of the notes that will change, in the person's name."""
        paths = list(self.gate.touched(self.vault.head, self.tip))

        def by_hand(work: Work) -> None:
            for path in paths:
                try:
                    work.by_hand(path, work.here(path))
                except Refused as refused:
                    work.remarks.append(str(refused))

        self.vault.change(by_hand, "", self.agent, hand=True)

    def _carry_decisions(self, done: Replayed, here: set[str]) -> None:
        """Let what a person has decided on count by its old and its new id; the mark steps back behind all of it.

        It is written down before the branch moves, so that a kill at any moment loses no decision.
        """
        git, mark, approved = self.vault.git, self.vault.git.resolve(REVIEWED), self.review.approved()
        passed = {commit.id for commit in self.gate.commits(mark, self.tip, self.since)} if mark in here else set()
        decided = passed | (here & approved)
        self.decided = {done.moved[each] for each in decided - done.empty}
        self.review.remember(approved | decided | self.decided)
        if mark in here:
            git.mark(REVIEWED, self.since or self.gate.commits(self.tip)[0].id)

    def _move_proposals(self) -> None:
        """Let proposals that began from a commit which was done again begin from its new one.

        Those that a killed exchange had left behind begin from the newest.
        """
        git, moved, head = self.vault.git, self.done.moved if self.done else {}, self.vault.head
        for name, tip in waiting_tips(git, head).items():
            own = own_commits(git, tip, head)[::-1]
            since = own[0].parent if own else None
            if head is None or since is None or git.descends(head, since):
                continue
            again = replay(git, moved.get(since, head), own, self.gate.touched, self._whose)
            git.advance(f"{FOLDER}/{name}", tip, again.tip, self.agent)
