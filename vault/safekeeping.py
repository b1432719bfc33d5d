"""How an acknowledged commit outlives a kill and a power cut, and how its journal is emptied.

While the system stays up, whatever was written can be read again, and only a landing that was cut off has to be ended.
After a power cut the journal is what is believed: objects, branch, files and index are made to fit it, unless the
branch's own log says that a person moved it since.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from datetime import UTC, datetime

from vault.author import Author
from vault.branch import Branch
from vault.cut_short import ASIDE, look_through, moved_aside
from vault.errors import Corrupt, Refused, VaultError
from vault.files import Files
from vault.git import Git
from vault.journal import CAPACITY, Journal, Record
from vault.landing import LARGEST_READ, Landing, list_paths

_RECOVERED = Author("trimtab", "trimtab@localhost", datetime(2000, 1, 1, tzinfo=UTC))


class Safekeeping:
    """The journal of one vault, and what is done with it.  Its caller sees to it that one writer works at a time."""

    def __init__(self, git: Git, files: Files) -> None:
        self._git, self._files = git, files
        self._journal = Journal(files.scratch / "journal")

    def prepare(self) -> None:
        """Have a journal.  Raises OSError."""
        self._journal.prepare()

    def look_through(self) -> None:
        """Have nothing where git looks that the last end of the system cut short.  Raises OSError."""
        look_through(self._git.gitdir / "objects", self._files.scratch, self._journal.boot)

    def missing(self) -> list[str]:
        """Return a line where objects were cut short that neither the journal nor anybody else has put back."""
        lost = [each for each in moved_aside(self._files.scratch) if not self._git.has(each)]
        if not lost:
            return []
        which = ", ".join(each[:10] for each in lost[:3]) + (" ..." if len(lost) > 3 else "")
        what = f"objects of git that were cut short when the system went down, and are missing: {len(lost)} ({which})"
        return [f"{what}; .git/trimtab/{ASIDE} has what is left of them: fetch them from a copy"]

    def keep(self, landing: Landing, *, owing: bool) -> tuple[int, int]:
        """Have a commit on the disk; return where its record begins and ends.

        `owing` says that an earlier one has still to reach the index, so that the journal must not begin anew.
        """
        objects = self._git.handed_over(CAPACITY // 2)
        place = self._journal.append(landing, objects, CAPACITY)
        if place is None and not owing:
            with contextlib.suppress(VaultError, OSError):  # a full disk: then the journal becomes longer, if it can
                self.empty()
        return place or self._journal.append(landing, objects) or (0, 0)

    def tidy(self) -> None:
        """Empty a journal that is half full, so that a writer that never lives long need not do it in a commit."""
        landing, end = self._journal.owed()
        if landing is None and end > CAPACITY // 2:
            with contextlib.suppress(VaultError, OSError):  # a full disk: it is tried again
                self.empty()

    def take_back(self, start: int) -> None:
        """Forget a commit that no branch has moved to."""
        self._journal.take_back(start)

    def owed(self) -> tuple[Landing | None, int]:
        """Return the landing that has not been ended, None where all have, and where its record ends."""
        return self._journal.owed()

    def settle(self, end: int) -> None:
        """Remember that what was kept up to here has landed."""
        self._journal.settle(end)

    def empty(self) -> None:
        """Have all that the journal keeps on the disk elsewhere, its objects in one pack, and begin it anew."""
        records = self._journal.records()
        identities = [identity for record in records for identity in record.objects]
        try:
            self._git.pack(identities)
        except VaultError:
            self._git.sync(identities)
        for name in {record.landing.branch for record in records}:
            Branch(self._git.gitdir, name).sync()
        for folder in {tuple(path.split("/")[:-1]) for record in records for path in record.landing.paths}:
            self._files.sync(folder)
        with contextlib.suppress(FileNotFoundError), (self._git.gitdir / "index").open("rb") as index:
            os.fsync(index.fileno())
        self._journal.restart()

    def recover(self) -> list[str]:
        """Make the repository and the files fit the journal after a power cut; return a line if that was needed."""
        records = self._journal.records()
        if all(record.same_boot for record in records):
            return []
        lost = self._git.restore({identity: file for record in records for identity, file in record.objects.items()})
        moved = self._move_branch(records)
        head = self._git.head(records[-1].landing.branch)
        there = [record.landing for record in records if head and self._git.descends(head, record.landing.commit)]
        written = [path for landing in there for path in landing.paths if self._write_again(landing, path)]
        if self._git.index_is_damaged():
            (self._git.gitdir / "index").unlink()
        if head is not None and there:
            list_paths(self._git, self._files, head, {path for landing in there for path in landing.paths})
        self.empty()
        what = [f"{len(lost)} objects"] * bool(lost) + ["the branch"] * moved + sorted(set(written))
        return [f"made whole after the system went down: {', '.join(what)}"] if what else []

    def _move_branch(self, records: Sequence[Record]) -> bool:
        """Bring the branch to the newest commit that was kept, if it went back only because the power did."""
        last = records[-1].landing
        branch = Branch(self._git.gitdir, last.branch)
        try:
            here = self._git.head(last.branch)
        except Corrupt:
            here = None
        if here == last.commit or branch.moved_by_other():
            return False
        if here is not None and not self._git.descends(last.commit, here):
            return False
        return branch.move(lambda: here, here, last.commit, _RECOVERED)

    def _write_again(self, landing: Landing, path: str) -> bool:
        """Write a file that still holds what it held before the commit, or nothing but zeros."""
        was, now = landing.paths[path]
        parts = tuple(path.split("/"))
        with contextlib.suppress(Refused):
            here = self._files.read(parts, LARGEST_READ)
            found = None if here is None else self._git.identify(here)
            torn = here is not None and not here.strip(b"\0")
            wanted = now is not None and found != now and (found == was or torn)
            if now is not None and wanted and self._git.size(now) <= LARGEST_READ:
                return self._files.replace(parts, self._git.blob(now), here) is not None
        return False
