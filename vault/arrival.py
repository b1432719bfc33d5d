"""From the journal to the files: how a commit becomes the newest one, and what a killed writer has left of that.

The order is: the journal, git's lock of the index, the branch, the files and the index.  A step that has to wait for
another git process is owed to the next commit, and said so.
"""

from __future__ import annotations

import contextlib

from vault.author import Author
from vault.errors import Busy, VaultError
from vault.files import Files
from vault.git import Git
from vault.landing import Landing, index_held
from vault.late import Late
from vault.locks import remove_stale, remove_unfinished
from vault.safekeeping import Safekeeping


class Arrival:
    """The commits of one vault on their way; what a person should know of it is added to `notices`.

    Its caller sees to it that one writer works at a time.
    """

    def __init__(self, git: Git, files: Files, notices: list[str]) -> None:
        self._git, self._files, self._notices = git, files, notices
        self._keeping, self._late = Safekeeping(git, files), Late(git, files)
        self._recovered = False

    def prepare(self) -> None:
        """Have what is needed beside the history, and nothing in it that no git can read.  Raises OSError."""
        self._keeping.prepare()
        self._keeping.look_through()

    def look_through(self) -> None:
        """Have no object where git looks that it would read for ever, as far as that may be done here."""
        with contextlib.suppress(OSError):
            self._keeping.look_through()

    def recover(self) -> None:
        """Once, end what a killed writer had begun, and make whole what a power cut tore."""
        if self._recovered:
            return
        remove_unfinished(self._git.gitdir)
        stale = remove_stale(self._git.gitdir)
        self._notices += [f"removed a lock that a crash left behind: {name}" for name in stale]
        self._late.find()
        self._notices += self._keeping.recover()
        self.owed()
        self._keeping.tidy()
        self._recovered = True

    def missing(self) -> list[str]:
        """Return a line where a power cut took objects of which there is no copy."""
        return self._keeping.missing()

    def end(self) -> None:
        """Put back what editors have written late; nothing of it is kept any longer."""
        self._late.bring(last=True)

    def owed(self) -> Landing:
        """End a landing that could not end before; return what the index is still owed while another git holds it."""
        landing, end = self._keeping.owed()
        self._notices += self._late.bring(last=True)
        if landing is None or self._land(landing, end):
            return Landing("", "")
        return Landing("", landing.commit, {path: (now, now) for path, (_, now) in landing.paths.items()})

    def acknowledge(self, head: str | None, landing: Landing, owed: Landing, author: Author, *, anew: bool) -> bool:
        """Move a branch from `head` and then the files; False, nothing done, when somebody else moved or locked it.

        `anew` says that the commit need not follow on what the branch has now: then no power cut may undo the move.
        """
        landing = owed.before(landing)
        start, end = self._keeping.keep(landing, owing=bool(owed.paths))
        moved = False
        with contextlib.ExitStack() as locks:
            try:
                held = self._hold_index(locks)
                moved = self._git.advance(landing.branch, head, landing.commit, author, kept=not anew)
            except Busy:
                return False
            finally:
                if not moved:
                    self._keeping.take_back(start)
            if not moved:
                return False
            try:
                self._land(landing, end, held_already=held)
                self._notices += self._late.bring()
            except (VaultError, OSError) as error:
                self._notices.append(f"committed, but the files come with the next commit: {error}")
        return True

    def _hold_index(self, locks: contextlib.ExitStack) -> bool:
        """Hold git's index from before the branch moves; False where another git has it, which goes on then."""
        try:
            locks.enter_context(index_held(self._git, attempts=4))
        except Busy:
            return False
        return True

    def _land(self, landing: Landing, end: int, *, held_already: bool = False) -> bool:
        """Bring files and index up to a commit; False when the index has to wait for another git process."""
        try:
            self._notices += landing.land(self._git, self._files, self._late, held_already=held_already)
        except Busy as busy:
            if not remove_stale(self._git.gitdir):
                self._notices.append(f"{busy}: `git status` is behind until the next commit")
                return False
            landing.land(self._git, self._files, self._late)
        self._keeping.settle(end)
        return True
