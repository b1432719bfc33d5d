"""How a commit reaches the files, in steps that a killed writer's successor can end.

The order is: objects, this paper, the branch, the files, the index, and the paper is thrown away.  A person's edit that
came in between is never overwritten: it is joined with the agent's, and left as it is where the two clash.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vault.errors import Refused
from vault.files import Files
from vault.git import Git
from vault.locks import held

LARGEST_READ = 16 * 1024 * 1024
"""The most bytes of a person's file that are taken into a commit."""

_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Landing:
    """A commit on its way.  `paths` has for each file the id of what was there and of what shall be (None: nothing)."""

    branch: str
    commit: str
    paths: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)

    def before(self, later: Landing) -> Landing:
        """Return `later` with what is still owed of this one."""
        return Landing(later.branch, later.commit, {**self.paths, **later.paths})

    def save(self, paper: Path) -> None:
        """Write it down, on the disk when this returns; nothing to do leaves an empty paper.

        The paper is written over in place, which is quick.  One that a kill tore is not read, and need not be, because
        the branch moves only after this.
        """
        text = json.dumps({"branch": self.branch, "commit": self.commit, "paths": self.paths}) if self.paths else ""
        handle = os.open(paper, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            os.ftruncate(handle, 0)
            if text:
                os.write(handle, text.encode())
                os.fsync(handle)
        finally:
            os.close(handle)

    def land(self, git: Git, files: Files) -> list[str]:
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
        lines = [line for path in present if (line := self._land_file(git, files, path))]
        index, fresh = git.gitdir / "index", files.scratch / "index.new"
        with held(git.gitdir / "index.lock"):
            git.list_in_index(head, present, fresh)
            fresh.replace(index)
        return lines

    def _land_file(self, git: Git, files: Files, path: str) -> str:
        was, now = self.paths[path]
        parts = tuple(path.split("/"))
        for _ in range(_ATTEMPTS):
            try:
                here = files.read(parts, LARGEST_READ)
            except Refused as refused:
                return str(refused)
            found = None if here is None else git.identify(here)
            if found == now:
                return ""
            if now is None:
                if found == was and files.remove(parts, here):
                    return ""
                return f"{path} was edited by hand at the same moment: it stays as it is"
            wanted = git.blob(now) if found == was else _joined(git, was, now, here)
            if wanted is None:
                return f"{path} was edited by hand at the same moment: the agent's text is only in git"
            if files.replace(parts, wanted, here):
                return ""
        return f"{path} is being edited by hand: the agent's text is in git"


def read_paper(paper: Path) -> Landing | None:
    """Return the landing that was written down, None where there is none or only a torn one."""
    try:
        facts = json.loads(paper.read_bytes())
        paths = {str(path): (was, now) for path, (was, now) in facts["paths"].items()}
        return Landing(str(facts["branch"]), str(facts["commit"]), paths)
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _joined(git: Git, was: str | None, now: str, here: bytes | None) -> bytes | None:
    """Both edits of one file, None where they clash or the person has taken the file away."""
    if here is None:
        return None
    return git.merged(git.blob(was) if was else b"", here, git.blob(now))
