"""Branches beside the one that is checked out: which there are, where they left the history, and taking one away."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pygit2
from pygit2.enums import ReferenceFilter

from vault.durable import sync_folder

_HEADS = "refs/heads/"


class Branches:
    """The branches of one repository.  It raises what libgit2 raises, KeyError and ValueError among it."""

    def __init__(self, repo: Any, gitdir: Path) -> None:
        self._repo, self._gitdir = repo, gitdir

    def below(self, folder: str) -> dict[str, str]:
        """Return {name below the folder: commit} of the branches there, in the order of their names."""
        start = f"{_HEADS}{folder}/"
        found = dict[str, str]()
        for reference in self._repo.references.iterator(ReferenceFilter.BRANCHES):
            if reference.name.startswith(start):
                with contextlib.suppress(KeyError, ValueError, pygit2.GitError):
                    found[reference.name.removeprefix(start)] = str(reference.resolve().target)
        return dict(sorted(found.items()))

    def fork(self, one: str, other: str | None) -> str | None:
        """Return the commit at which two histories parted, None where they have none in common."""
        base = None if other is None else self._repo.merge_base(one, other)
        return None if base is None else str(base)

    def drop(self, branch: str, expected: str) -> bool:
        """Take a branch away if it is still at `expected`; False, and nothing done, where it is not."""
        try:
            reference = self._repo.lookup_reference(f"{_HEADS}{branch}")
        except KeyError:
            return False
        if str(reference.target) != expected:
            return False
        reference.delete()
        for folder in (self._gitdir / _HEADS / branch).parents:
            if folder.is_dir():
                sync_folder(folder)
                break
        return True
