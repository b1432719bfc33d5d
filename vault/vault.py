"""The vault: a git repository of Markdown notes that a person and an agent write at the same time.

It knows nothing of agents: callers say who writes, when and why.  One process commits at a time; threads may share it.
A person's uncommitted edits are looked for in the notes that a commit touches: there they come first, in a commit of
the person's own.  In all other notes they stay as they are, uncommitted, and cost nothing.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from vault.arrival import Arrival
from vault.author import Author
from vault.draft import Draft
from vault.durable import sync_folder
from vault.edit import Edit
from vault.errors import Busy, Corrupt, NotReady, Unwritable, VaultError
from vault.escape import one_line
from vault.files import Files
from vault.following import Following
from vault.git import Git
from vault.landing import LARGEST_READ, Landing
from vault.locks import remove_stale, turn
from vault.permission import check_places
from vault.reads import Reads
from vault.search import Shelf
from vault.work import Kept, Work, message_of

_ATTEMPTS, _PAUSE_SECONDS = 5, 0.05


class Vault:
    """An open vault.  `notices` tell the person what was found and mended; the next commit's remarks take them over."""

    def __init__(self, git: Git, branch: str) -> None:
        self._git, self.branch = git, branch
        self.root = git.root
        self._own = git.gitdir / "trimtab"
        self._lock = threading.Lock()
        self.files = Files(git.root, self._own)
        self.shelf = Shelf(self._own, Following(self.files, git, lambda: self.head))
        self.reads = Reads(self._own)
        self.notices: list[str] = []
        self._arrival = Arrival(git, self.files, self.notices)

    @classmethod
    def create(cls, path: Path | str, name: str, email: str, branch: str = "main") -> Vault:
        """Make a vault, or take over a repository that is there; `name` and `email` are the agent's."""
        git = Git.create(Path(path), branch)
        check_places(git.root, git.gitdir)
        git.remember("trimtab.name", one_line(name, 100))
        git.remember("trimtab.email", one_line(email, 100))
        return cls.open(path)

    @classmethod
    def open(cls, path: Path | str, *, patient: bool = False) -> Vault:
        """Open a vault and end what a killed writer had begun; VaultError says in one line why it cannot be used.

        With `patient` it opens also in the middle of a person's work (a merge, another branch): then nothing in it is
        touched, and `unready` says what is waited for.
        """
        git = Git(Path(path))
        check_places(git.root, git.gitdir)
        vault = cls(git, git.setting("trimtab.branch") or "")
        try:
            vault._own.mkdir(exist_ok=True)
            with turn(vault._own / "lock"):
                vault._arrival.prepare()
                vault._begin(patient)
            sync_folder(git.gitdir)
        except OSError as error:
            raise Unwritable(f"{error.filename or vault._own}: cannot be written: {error.strerror}") from None
        return vault

    @classmethod
    @contextlib.contextmanager
    def looked_at(cls, path: Path | str) -> Iterator[Vault]:
        """Give a vault only to read what git has of it, beside whoever works on it; VaultError as `open` has it."""
        git = Git(Path(path))
        try:
            vault = cls(git, git.setting("trimtab.branch") or git.branch())
            vault._arrival.look_through()
            vault._check_branch()
            yield vault
        finally:
            git.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the repository's files; safe to call twice."""
        with self._lock:
            with contextlib.suppress(VaultError, OSError), turn(self._own / "lock"):
                self._arrival.end()
            self.shelf.close()
            self.reads.close()
            self._git.close()

    @property
    def agent(self) -> tuple[str, str]:
        """The agent's name and address, as `create` was told them."""
        return self._git.setting("trimtab.name") or "trimtab", self._git.setting("trimtab.email") or "trimtab@localhost"

    @property
    def head(self) -> str | None:
        """The newest commit, None before the first one."""
        return self._git.head(self.branch)

    @property
    def git(self) -> Git:
        """The repository, for reading its history."""
        return self._git

    def unready(self) -> str | None:
        """Return why nothing may be written now, such as a person's merge, None where it may."""
        try:
            self._check_branch()
        except VaultError as wrong:
            return str(wrong)
        return None

    def missing(self) -> list[str]:
        """Return a line where a power cut took objects of git of which there is no copy."""
        return self._arrival.missing()

    def draft(self, *, hold_all: bool = False) -> Draft:
        """Begin the notes of a run; with `hold_all` whatever it writes waits for a person's approval."""
        return Draft(self, hold_all=hold_all)

    @property
    def own(self) -> Path:
        """The directory for what a vault remembers beside its history; no git command looks at it."""
        return self._own

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep every other writer of ours out for a moment; Busy when one does not end."""
        with self._lock, turn(self._own / "lock"):
            yield

    def plant(self, contents: Mapping[str, str], message: str, author: Author | None = None) -> Kept | None:
        """Write files past the rules for agents, in the person's name by default; those that exist stay as they are."""
        edits = {
            path: Edit(text=text.encode())
            for path, text in contents.items()
            if self.files.read(tuple(path.split("/")), LARGEST_READ) is None
        }
        who = author or self.person(datetime.now(UTC))
        return self.commit(edits, message, who, {}) if edits else None

    def commit(
        self, edits: Mapping[str, Edit], message: str, author: Author, trailers: Mapping[str, str]
    ) -> Kept | None:
        """Commit edits at once, after the person's own edits of the same notes; None when nothing changes.

        When this returns, the commit is on the disk.  Raises VaultError, and then no branch has been moved.
        """

        def take(work: Work) -> None:
            for path, edit in edits.items():
                work.take(path, edit)

        return self.change(take, message_of(message, trailers), author)

    def change(self, plan: Callable[[Work], None], message: str, author: Author, *, hand: bool = False) -> Kept | None:
        """Commit what `plan` puts into a work that fits the present state; it is asked again when that has changed.

        None when nothing changes; with `hand` it may also be only what the person has edited.  What `plan` raises ends
        it with nothing done.
        """
        with self._begun() as owed:
            for attempt in range(_ATTEMPTS):
                work = Work(self._git, self.files, self.branch, self.head)
                plan(work)
                if not work.by_agent and not (hand and work.by_person):
                    self.notices += work.remarks
                    return None
                kept = work.commit(message, author, lambda: self.person(author.when))
                landing = work.landing(kept.commit)
                if self._arrival.acknowledge(work.head, landing, owed, author, anew=False):
                    noticed = tuple(self.notices)
                    self.notices.clear()
                    return replace(kept, remarks=kept.remarks + noticed)
                self._pause(attempt)
        raise Busy(f"{self.root}: other git processes keep writing to {self.branch!r}: try again")

    def rebase(self, plan: Callable[[str | None], Landing | None], author: Author) -> Landing | None:
        """Move branch and files to a commit that `plan` makes of the newest one; None when it has nothing to do.

        It is asked again when somebody else has moved the branch.  What it raises ends it with nothing done.
        """
        with self._begun() as owed:
            for attempt in range(_ATTEMPTS):
                work = Work(self._git, self.files, self.branch, self.head)
                landing = plan(work.head)
                if landing is None or self._arrival.acknowledge(work.head, landing, owed, author, anew=True):
                    return landing
                self._pause(attempt)
        raise Busy(f"{self.root}: other git processes keep writing to {self.branch!r}: try again")

    def _pause(self, attempt: int) -> None:
        time.sleep(_PAUSE_SECONDS)
        if attempt == _ATTEMPTS - 2:
            self.notices += [f"removed a lock without an owner: {name}" for name in remove_stale(self._git.gitdir)]

    def _begin(self, patient: bool) -> None:
        """Find the branch, end what a killed writer had begun, and look whether the newest commit can be read."""
        try:
            if not self.branch:
                self.branch = self._git.branch()
                self._git.remember("trimtab.branch", self.branch)
            if not patient or self.unready() is None:
                self._check_branch()
                self._arrival.recover()
            self._git.identity(self.head, "AGENTS.md")
        except Corrupt as damage:
            raise Corrupt("; ".join([str(damage), *self.missing()])) from None
        self.notices += self.missing()

    @contextlib.contextmanager
    def _begun(self) -> Iterator[Landing]:
        """Be alone with the vault on its branch, with nothing left of a killed writer; give what the index is owed."""
        try:
            with self.alone():
                self._check_branch()
                self._arrival.recover()
                yield self._arrival.owed()
        except OSError as error:
            raise Unwritable(f"{self.root}: cannot be written: {error.strerror}") from None

    def _check_branch(self) -> None:
        here, ours = self._git.branch(), self.branch
        if here != ours:
            raise NotReady(f"{self.root}: HEAD is on {here!r}, the agent writes to {ours!r}: run `git switch {ours}`")

    def person(self, when: datetime) -> Author:
        """Return the person as git's configuration names them."""
        name, email = self._git.setting("user.name"), self._git.setting("user.email")
        return Author(name or "person", email or "person@localhost", when)
