"""What a person has not looked at yet: the commits since the `reviewed` tag, and which of them were approved already.

The tag is all that plain git needs (`git log reviewed..main -p`).  It moves only over commits that are decided, so what
was skipped stays in front of it; approvals behind a skipped commit are remembered beside the history until it moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from vault.durable import put_durably
from vault.errors import NotReady
from vault.git import Commit
from vault.vault import Vault

REVIEWED: Final = "reviewed"
"""The tag up to which a person has reviewed what the agent wrote."""
_MOST_REMEMBERED: Final = 100_000


@dataclass(frozen=True, slots=True)
class Item:
    """A commit since the mark.  A person's own needs no decision; `approved` says that a person decided before."""

    commit: Commit
    by_agent: bool
    approved: bool

    @property
    def open(self) -> bool:
        """Whether a person still has to decide on it."""
        return self.by_agent and not self.approved


class Review:
    """The review of one vault; `by_agent` says whose a commit is."""

    def __init__(self, vault: Vault, by_agent: Callable[[Commit], bool]) -> None:
        self._vault, self.by_agent = vault, by_agent
        self._file = vault.own / "approved"

    def mark(self) -> str | None:
        """Return the commit that the mark is on, None where none was ever set.

        Raises NotReady when it is not in the history.
        """
        head, since = self._vault.head, self._vault.git.resolve(REVIEWED)
        if since is not None and not (head and self._vault.git.descends(head, since)):
            branch = self._vault.branch
            raise NotReady(
                f"the mark {REVIEWED!r} is not in the history of {branch!r}: set it with `git tag -f {REVIEWED}`"
            )
        return since

    def items(self) -> list[Item]:
        """Return the commits since the mark, the oldest first."""
        since, approved = self.mark(), self.approved()
        newest_first = list(self._vault.git.history(self._vault.head, since))
        return [Item(each, self.by_agent(each), each.id in approved) for each in reversed(newest_first)]

    def approve(self, commits: Iterable[str]) -> None:
        """Remember that a person approved these, and move the mark as far as everything before it is decided."""
        with self._vault.alone():
            self.remember(self.approved() | set(commits))
            items, mark = self.items(), self.mark()
            place = next((n for n, item in enumerate(items) if item.open), len(items))
            while place and mark is not None and not self._vault.git.descends(items[place - 1].commit.id, mark):
                place -= 1  # a branch that was merged since: the mark stays on one line
            if place:
                self._vault.git.mark(REVIEWED, items[place - 1].commit.id)
                self.remember({item.commit.id for item in items[place:] if item.approved})

    def approved(self) -> set[str]:
        """Return the commits that were approved although one before them was not."""
        try:
            words = self._file.read_text(encoding="ascii").split()
        except (FileNotFoundError, UnicodeDecodeError):
            return set()
        return set(words[:_MOST_REMEMBERED])

    def remember(self, commits: set[str]) -> None:
        """Write down which commits were approved, and no other; the caller is alone with the vault."""
        put_durably(self._file, "".join(f"{commit}\n" for commit in sorted(commits)).encode())
