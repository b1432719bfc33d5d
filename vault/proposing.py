"""How a write that needs approval becomes a proposal: a branch of its own that nothing on the agent's branch knows of.

One branch is one proposal.  What the person has edited by hand in those notes is committed first, in the person's name,
so that the proposal holds the agent's change and nothing else.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from vault import rules
from vault.author import Author
from vault.edit import Edit
from vault.errors import Busy, Refused
from vault.git import Commit, Git
from vault.joining import joined
from vault.work import Work, message_of

if TYPE_CHECKING:
    from vault.vault import Vault

FOLDER: Final = "proposals"
PROPOSES: Final = "Trimtab-Proposes"
"""The trailer of the agent's own commit of a proposal; what comes after it on the branch is the person's."""
APPROVES: Final = "Trimtab-Approves"
"""The trailer of a person's commit that names the proposal's commit which it puts in force."""
MOST_WAITING: Final = 1_000
"""The most proposals that wait; a person who approves everything by hand can be away for a while."""
MOST_INSTRUCTIONS: Final = 40
"""The most proposals that wait when an instruction is proposed: nobody reads more of them with care."""
_LONGEST_NAME = 60
_NEWEST = 1_000


@dataclass(frozen=True, slots=True)
class Proposed:
    """What became of a proposal: its name, empty when there was nothing to propose, and lines for the person."""

    name: str
    remarks: tuple[str, ...] = ()


def check_proposal(vault: Vault, path: str, content: bytes, *, new: bool) -> None:
    """Refuse a proposal that waits already, and a new one when too many wait."""
    waiting = vault.git.branches_below(FOLDER)
    wanted = vault.git.identify(content)
    for name, tip in waiting.items():
        if vault.git.identity(tip, path) == wanted and vault.git.identity(vault.head, path) != wanted:
            raise Refused(f"{path}: exactly this is proposed already ({name}) and waits for approval: go on without it")
    most = MOST_INSTRUCTIONS if rules.is_instruction(path) else MOST_WAITING
    if new and len(waiting) >= most:
        raise Refused(f"{path}: {len(waiting)} proposals wait for approval already: go on without this one")


def waiting_tips(git: Git, head: str | None) -> dict[str, str]:
    """Return {name: newest commit} of the proposals, without those that an approval in the newest history names.

    Such a one is left where an approval was killed before it could take the branch away.
    """
    tips = git.branches_below(FOLDER)
    if not tips:
        return {}
    start = f"{APPROVES}: "
    lines = (line for commit in islice(git.history(head), _NEWEST) for line in commit.message.splitlines())
    approved = {line.removeprefix(start) for line in lines if line.startswith(start)}
    return {name: tip for name, tip in tips.items() if tip not in approved}


def own_commits(git: Git, tip: str, head: str | None) -> list[Commit]:
    """Return a proposal's own commits, the newest first; none where the branch is part of the history already.

    They end with the agent's commit, so that a proposal stays what it is although the history that it began from was
    done again below it.
    """
    if head is not None and git.descends(head, tip):
        return []
    commits = list(git.history(tip, git.fork(tip, head)))
    last = next((n for n, each in enumerate(commits) if f"\n{PROPOSES}: " in each.message), len(commits) - 1)
    return commits[: last + 1]


def propose(vault: Vault, edits: Mapping[str, Edit], trailers: Mapping[str, str], author: Author) -> Proposed:
    """Make one proposal of these edits; on the disk when this returns.  Raises VaultError."""

    def by_hand(work: Work) -> None:
        for path in edits:
            work.by_hand(path, work.here(path))

    vault.change(by_hand, "", author, hand=True)
    with vault.alone():
        head = vault.head
        contents, remarks = dict[str, str | None](), list[str]()
        for path, edit in edits.items():
            identity = vault.git.identity(head, path)
            here = None if identity is None else vault.git.blob(identity)
            mine = edit.onto(edit.base)
            after = edit.onto(here) if edit.fits(here) else joined(edit.base or b"", here or b"", mine)
            if after is None:
                remarks.append(f"{path} was edited by hand at the same time: the agent's proposal for it is dropped")
            elif after != here:
                contents[path] = vault.git.store(after)
        if not contents:
            return Proposed("", tuple(remarks))
        subject = f"propose {', '.join(contents)}"
        message = message_of(subject, {**trailers, PROPOSES: next(iter(contents))})
        made = vault.git.commit(head, contents, message, author)
        for name in _names(next(iter(contents)), set(vault.git.branches_below(FOLDER))):
            if vault.git.advance(f"{FOLDER}/{name}", None, made, author):
                return Proposed(name, tuple(remarks))
        raise Busy(f"{vault.root}: the proposal {subject!r} could not be written: try again")


def _names(path: str, taken: set[str]) -> list[str]:
    """Return some free names for a proposal about a note, the best first."""
    plain = unicodedata.normalize("NFKD", path.removesuffix(".md")).encode("ascii", "ignore").decode().lower()
    words = "".join(c if c.isalnum() else "-" for c in plain).split("-")
    slug = "-".join(word for word in words if word)[:_LONGEST_NAME].strip("-") or "note"
    free = (slug if n == 1 else f"{slug}-{n}" for n in range(1, len(taken) + 4))
    return [name for name in free if name not in taken]
