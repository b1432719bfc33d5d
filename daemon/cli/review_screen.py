"""The review at a terminal: one commit or proposal at a time, one key for each decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from daemon.cli.decisions import Decisions
from daemon.cli.keys import Terminal
from daemon.cli.proposals import proposal_row
from daemon.cli.review_pages import Ink, commit_page, commit_row, proposal_page
from daemon.errors import TrimtabError
from vault import Commit, VaultError
from vault.escape import one_line
from vault.proposals import Proposal
from vault.reveal import reveal
from vault.review import Item

_KEYS: Final = "a approve, r revert, e edit, s skip, q quit, ? help: "
_PROPOSAL_KEYS: Final = "a approve, r reject, e edit, s skip, q quit, ? help: "
_ALLOWED: Final = "aresq?h"
_HELP: Final = (
    "a  approve: the mark `reviewed` moves over it. It can still be taken back: trimtab vault revert COMMIT",
    "r  revert: a new commit of yours takes back what it wrote and keeps later edits; the agent is told why",
    "e  edit its notes as they are now; what you change is a commit of yours. Then decide on this one",
    "s  skip: it is shown again next time",
    "q  quit (Ctrl-C too): what was decided stays decided",
)
_PROPOSAL_HELP: Final = (
    "a  approve: it is joined with what its notes say now, in a commit of yours, and the agent obeys it from now on",
    "r  reject: it is taken away; the agent is told why",
    "e  edit what it proposes; it is shown again and still waits",
    "s  skip: it goes on waiting and changes nothing",
    "q  quit (Ctrl-C too): what was decided stays decided",
)
_WHY: Final = "why? (the agent is told; empty: not after all) "


@dataclass(slots=True)
class Screen:
    """A review that a person works through."""

    terminal: Terminal
    ink: Ink
    desk: Decisions
    done: Counter[str] = field(default_factory=Counter)

    def work_through(self, items: Sequence[Item], proposals: Sequence[Proposal]) -> None:
        """Ask about each that is open, the oldest first; what was decided stays decided however this ends."""
        total = sum(item.open for item in items) + len(proposals)
        place = 0
        for item in items:
            if not item.open:
                row = commit_row(item.commit)
                whose = "approved before" if item.by_agent else "by hand, passed"
                self.terminal.say(self.ink.drawn(f"{row['commit'][:10]}  {whose}: {row['subject']}", "2"))
                continue
            place += 1
            self._head(place, total)
            if not self._commit(item.commit):
                break
        else:
            for proposal in proposals:
                place += 1
                self._head(place, total)
                if not self._proposal(proposal):
                    break
        self.desk.review.approve([])
        self._sum_up(total)

    def _head(self, place: int, total: int) -> None:
        self.terminal.say()
        self.terminal.say(self.ink.drawn(f"---- {place} of {total} ----", "1;34"))

    def _commit(self, commit: Commit) -> bool:
        """Show a commit and carry out what is decided; False ends the review."""
        try:
            changes = list(self.desk.vault.git.changes(commit))
        except VaultError as wrong:
            self._tell(str(wrong))
            return self._end("could not be read")
        page = list(commit_page(self.ink, {**commit_row(commit), **self.desk.origin(commit)}, changes))
        if not self.terminal.page(page):
            return False
        while True:
            pressed = self.terminal.key(_KEYS, _ALLOWED)
            try:
                if pressed == "a":
                    self.desk.review.approve([commit.id])
                    return self._end("approved")
                if pressed == "r" and (why := self.terminal.line(_WHY)):
                    done = self.desk.take_back(commit, why)
                    self._tell(f"taken back in commit {done.kept.commit[:10]}: {', '.join(done.paths)}", *done.left)
                    return self._end("reverted")
                if pressed == "e":
                    self._tell(self.desk.edit(changes))
                if pressed in "?h":
                    self._tell(*_HELP)
            except (VaultError, TrimtabError) as wrong:
                self._tell(str(wrong))
            if pressed in "sq":
                return pressed == "s" and self._end("skipped")

    def _proposal(self, proposal: Proposal) -> bool:
        shown = True
        while True:
            if shown:
                page = proposal_page(self.ink, proposal, proposal_row(self.desk, proposal))
                if not self.terminal.page(list(page)):
                    return False
            shown = False
            pressed = self.terminal.key(_PROPOSAL_KEYS, _ALLOWED)
            try:
                if pressed == "a":
                    self._tell(self.desk.approve(proposal))
                    return self._end("approved")
                if pressed == "r" and (why := self.terminal.line(_WHY)):
                    self._tell(self.desk.reject(proposal, why))
                    return self._end("rejected")
                if pressed == "e":
                    proposal, shown = self.desk.amend(proposal), True
                if pressed in "?h":
                    self._tell(*_PROPOSAL_HELP)
            except (VaultError, TrimtabError) as wrong:
                self._tell(str(wrong))
            if pressed in "sq":
                return pressed == "s" and self._end("skipped")

    def _end(self, what: str) -> bool:
        self.done[what] += 1
        return True

    def _tell(self, *lines: str) -> None:
        for line in [*lines, *self.desk.notices]:
            self.terminal.say(f"  {one_line(reveal(line).text, 400)}")
        self.desk.notices.clear()

    def _sum_up(self, total: int) -> None:
        counted = [f"{count} {what}" for what, count in self.done.items()]
        left = total - sum(self.done.values())
        counted += [f"{left} not looked at"] if left else []
        mark = self.desk.review.mark()
        self.terminal.say()
        self.terminal.say(
            f"{', '.join(counted) or 'nothing to decide'}; the mark is {mark[:10] if mark else 'not set'}"
        )
