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

from vault.author import Author
from vault.draft import Draft
from vault.edit import Edit
from vault.errors import Busy, NotReady, Unwritable, VaultError
from vault.escape import one_line
from vault.files import Files, sync_folder
from vault.following import Following
from vault.git import Git
from vault.landing import LARGEST_READ, Landing, index_held
from vault.late import Late
from vault.locks import remove_stale, remove_unfinished, turn
from vault.permission import check_places
from vault.reads import Reads
from vault.safekeeping import Safekeeping
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
        self._keeping, self._late = Safekeeping(git, self.files), Late(git, self.files)
        self.shelf = Shelf(self._own, Following(self.files, git, lambda: self.head))
        self.reads = Reads(self._own)
        self.notices: list[str] = []
        self._recovered = False

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
            vault._keeping.prepare()
            sync_folder(git.gitdir)
        except OSError as error:
            raise Unwritable(f"{vault._own}: cannot be made: {error.strerror}") from None
        with turn(vault._own / "lock"):
            if not vault.branch:
                vault.branch = git.branch()
                git.remember("trimtab.branch", vault.branch)
            if not patient or vault.unready() is None:
                vault._check_branch()
                vault._recover()
            git.identity(git.head(vault.branch), "AGENTS.md")
        return vault

    @classmethod
    @contextlib.contextmanager
    def looked_at(cls, path: Path | str) -> Iterator[Vault]:
        """Give a vault only to read what git has of it, beside whoever works on it; VaultError as `open` has it."""
        git = Git(Path(path))
        try:
            vault = cls(git, git.setting("trimtab.branch") or git.branch())
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
                self._late.bring(last=True)
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
                if self._acknowledge(work, work.landing(kept.commit), owed, author):
                    noticed, self.notices = tuple(self.notices), []
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
                if landing is None or self._acknowledge(work, landing, owed, author, anew=True):
                    return landing
                self._pause(attempt)
        raise Busy(f"{self.root}: other git processes keep writing to {self.branch!r}: try again")

    def _acknowledge(self, work: Work, landing: Landing, owed: Landing, author: Author, *, anew: bool = False) -> bool:
        """Move the branch and then the files; False, and nothing done, when somebody else moved or locked it.

        `anew` says that the commit need not follow on what the branch has now: then no power cut may undo the move.
        """
        landing = owed.before(landing)
        start, end = self._keeping.keep(landing, owing=bool(owed.paths))
        moved = False
        with contextlib.ExitStack() as locks:
            try:
                held = self._hold_index(locks)
                moved = self._git.advance(self.branch, work.head, landing.commit, author, kept=not anew)
            except Busy:
                return False
            finally:
                if not moved:
                    self._keeping.take_back(start)
            if not moved:
                return False
            try:
                self._land(landing, end, held_already=held)
                self.notices += self._late.bring()
            except (VaultError, OSError) as error:
                self.notices.append(f"committed, but the files come with the next commit: {error}")
        return True

    def _hold_index(self, locks: contextlib.ExitStack) -> bool:
        """Hold git's index from before the branch moves; False where another git has it, which goes on then."""
        try:
            locks.enter_context(index_held(self._git, attempts=4))
        except Busy:
            return False
        return True

    def _pause(self, attempt: int) -> None:
        time.sleep(_PAUSE_SECONDS)
        if attempt == _ATTEMPTS - 2:
            self.notices += [f"removed a lock without an owner: {name}" for name in remove_stale(self._git.gitdir)]

    @contextlib.contextmanager
    def _begun(self) -> Iterator[Landing]:
        """Be alone with the vault on its branch, with nothing left of a killed writer; give what the index is owed."""
        try:
            with self.alone():
                self._check_branch()
                if not self._recovered:
                    self._recover()
                yield self._land_owed()
        except OSError as error:
            raise Unwritable(f"{self.root}: cannot be written: {error.strerror}") from None

    def _recover(self) -> None:
        remove_unfinished(self._git.gitdir)
        self.notices += [f"removed a lock that a crash left behind: {name}" for name in remove_stale(self._git.gitdir)]
        self._late.find()
        self.notices += self._keeping.recover()
        self._land_owed()
        self._keeping.tidy()
        self._recovered = True

    def _land_owed(self) -> Landing:
        """End a landing that could not end before; return what the index is still owed while another git holds it."""
        landing, end = self._keeping.owed()
        self.notices += self._late.bring(last=True)
        if landing is None or self._land(landing, end):
            return Landing(self.branch, "")
        return Landing(self.branch, landing.commit, {path: (now, now) for path, (_, now) in landing.paths.items()})

    def _land(self, landing: Landing, end: int, *, held_already: bool = False) -> bool:
        """Bring files and index up to a commit; False when the index has to wait for another git process."""
        try:
            self.notices += landing.land(self._git, self.files, self._late, held_already=held_already)
        except Busy as busy:
            if not remove_stale(self._git.gitdir):
                self.notices.append(f"{busy}: `git status` is behind until the next commit")
                return False
            landing.land(self._git, self.files, self._late)
        self._keeping.settle(end)
        return True

    def _check_branch(self) -> None:
        here, ours = self._git.branch(), self.branch
        if here != ours:
            raise NotReady(f"{self.root}: HEAD is on {here!r}, the agent writes to {ours!r}: run `git switch {ours}`")

    def person(self, when: datetime) -> Author:
        """Return the person as git's configuration names them."""
        name, email = self._git.setting("user.name"), self._git.setting("user.email")
        return Author(name or "person", email or "person@localhost", when)
