"""Taking back what a commit wrote, in a new commit: later edits of the same notes stay.

Each note is taken back by itself: one whose same lines were changed since stays as it is, and that is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vault.author import Author
from vault.errors import Clash, Refused
from vault.git import Change, Commit
from vault.joining import joined
from vault.vault import Vault
from vault.work import Kept, Work, message_of

REVERTS = "Trimtab-Reverts"
"""The trailer of a commit that names the one that it takes back."""


@dataclass(frozen=True, slots=True)
class Reverted:
    """What became of a revert: the commit, the notes that were taken back, and why others stay as they are."""

    kept: Kept
    paths: tuple[str, ...]
    left: tuple[str, ...] = ()


def revert(
    vault: Vault, commit: Commit, why: str, author: Author, trailers: Mapping[str, str] | None = None
) -> Reverted:
    """Take back what a commit did to its notes.  Raises Clash when nothing of it can be, and then nothing was done."""
    if commit.merges:
        raise Refused(f"{commit.id[:10]} is a merge: take it back with git")
    changes = list(vault.git.changes(commit))
    done, left = list[str](), list[str]()

    def undo(work: Work) -> None:
        done.clear()
        left.clear()
        for change in changes:
            try:
                before, after = work.here(change.path), _undone(vault, work, change)
                work.put(change.path, after)
            except Refused as refused:
                left.append(str(refused))
                continue
            if after != before:
                done.append(change.path)

    subject = f"revert {commit.id[:10]}: {', '.join(change.path for change in changes)}"
    kept = vault.change(undo, message_of(subject, {REVERTS: commit.id, **(trailers or {})}, why), author)
    if kept is None:
        raise Clash("; ".join(left) or f"nothing of {commit.id[:10]} is left to take back")
    return Reverted(kept, tuple(done), tuple(left))


def _undone(vault: Vault, work: Work, change: Change) -> bytes | None:
    """Return what a note shall hold instead of what it holds now, None to take it away; Clash where both touch."""
    if not change.regular:
        raise Refused(f"{change.path} is {change.unshown}: it stays as it is")
    here = work.here(change.path)
    new = None if change.new is None else vault.git.blob(change.new)
    old = None if change.old is None else vault.git.blob(change.old)
    if here in (new, old):
        return old
    result = None
    if here is not None and new is not None:
        base, theirs = new, old or b""
        result = vault.git.merged(base, here, theirs)
        if result is None:
            result = joined(base, here, theirs)
    if result is None:
        what = "was taken away" if here is None else "was changed since in the same place"
        raise Clash(f"{change.path} {what}: it stays as it is")
    return result if result.strip() or old is not None else None
