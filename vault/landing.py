"""How a commit reaches the files, in steps that a killed writer's successor can end.

The order is: objects, a record in the journal, the branch, the files, the index, and the journal says that nothing is
owed.  A person's edit that came in between is never overwritten: it is joined with the agent's, and left as it is where
the two clash.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from vault.errors import Corrupt, Refused
from vault.files import Files
from vault.git import Git
from vault.joining import joined
from vault.late import Late
from vault.locks import Lock, held
from vault.swap import become

LARGEST_READ = 16 * 1024 * 1024
"""The most bytes of a person's file that are taken into a commit."""

LOOK_AGAIN_SECONDS, MOST_LOOKS = 0.05, 20
"""How long, and how often, a file that is being saved by hand is waited for."""


@dataclass(frozen=True, slots=True)
class Landing:
    """A commit on its way.  `paths` has for each file the id of what was there and of what shall be (None: nothing)."""

    branch: str
    commit: str
    paths: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)

    def before(self, later: Landing) -> Landing:
        """Return `later` with what is still owed of this one."""
        return Landing(later.branch, later.commit, {**self.paths, **later.paths})

    def facts(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"branch": self.branch, "commit": self.commit, "paths": dict(self.paths)}

    @staticmethod
    def of(facts: Mapping[str, Any]) -> Landing:
        """Return the landing of these facts."""
        paths = {str(path): (was, now) for path, (was, now) in facts["paths"].items()}
        return Landing(str(facts["branch"]), str(facts["commit"]), paths)

    def land(self, git: Git, files: Files, late: Late, *, held_already: bool = False) -> list[str]:
        """Bring files and index up to the commit; return a line for each file that a person's edit kept from it.

        A commit that the branch does not hold was never acknowledged: then only the index, where it is owed, is mended.
        """
        head = git.head(self.branch)
        if head is None:
            return []
        there = git.descends(head, self.commit)
        owed = {path: now for path, (was, now) in self.paths.items() if there or was == now}
        present = {path: now for path, now in owed.items() if git.identity(head, path) == now}
        if not present:
            return []
        lines = [line for path in present if (line := self._land_file(git, files, late, path))]
        list_paths(git, files, head, present, held_already=held_already)
        return lines

    def _land_file(self, git: Git, files: Files, late: Late, path: str) -> str:
        was, now = self.paths[path]
        parts = tuple(path.split("/"))
        for _ in range(MOST_LOOKS):
            try:
                here = files.read(parts, LARGEST_READ)
            except Refused as refused:
                return str(refused)
            found = None if here is None else git.identify(here)
            if found == now:
                return ""
            if found != was and files.is_fresh(parts):
                time.sleep(LOOK_AGAIN_SECONDS)
                continue
            if now is None:
                if here is not None and found == was and (old := files.remove(parts, here)) is not None:
                    late.keep(old, path, found)
                    return ""
                return f"{path} was edited by hand at the same moment: it stays as it is"
            if git.size(now) > LARGEST_READ:
                return f"{path} is too large to be written: it is in git, and `git checkout HEAD -- {path}` brings it"
            wanted, whole = (git.blob(now), True) if found == was else _joined(git, was, now, here)
            if wanted is None:
                return f"{path} was edited by hand at the same moment: the agent's text is only in git"
            if (old := files.replace(parts, wanted, here)) is not None:
                late.keep(old, path, found)
                return "" if whole else f"{path} was edited by hand at the same moment: where both clash, yours stays"
        return f"{path} is being edited by hand: the agent's text is in git"


def list_paths(git: Git, files: Files, head: str, paths: Iterable[str], *, held_already: bool = False) -> None:
    """Have git's index list some files as in a commit; Busy while another git holds it, `held_already` if we do.

    One that no git would believe is made anew from the commit: what a person had only staged is then staged no more.
    """
    index, fresh = git.gitdir / "index", files.scratch / "index.new"
    with contextlib.nullcontext() if held_already else index_held(git):
        listed = {path: git.identity(head, path) for path in paths}
        try:
            git.list_in_index(head, listed, fresh)
        except Corrupt:
            if not git.index_is_damaged():
                raise
            index.unlink()
            git.list_in_index(head, listed, fresh)
        become(fresh, index, keep=True)


def index_held(git: Git, attempts: int = 20) -> contextlib.AbstractContextManager[Lock]:
    """Keep every other git from the index, so that none commits what it lists before it fits the branch again."""
    return held(git.gitdir / "index.lock", attempts)


def _joined(git: Git, was: str | None, now: str, here: bytes | None) -> tuple[bytes | None, bool]:
    """Both edits of one file, and whether all of them; where two clash the person's stays.

    None where nothing can be done: the person has taken the file away, or it is too long.
    """
    if here is None:
        return None, False
    base, wanted = git.blob(was) if was else b"", git.blob(now)
    for both in (git.merged(base, here, wanted), joined(base, here, wanted)):
        if both is not None:
            return both, True
    return joined(base, here, wanted, part=True), False
