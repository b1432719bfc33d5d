"""One commit in the making: what lies on the disk, what the person changed by hand, and what the agent adds to it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from vault.author import Author
from vault.edit import Edit
from vault.errors import Refused
from vault.escape import one_line
from vault.files import Files
from vault.git import Git
from vault.landing import LARGEST_READ, LOOK_AGAIN_SECONDS, MOST_LOOKS, Landing

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_SUBJECT, _VALUE, _WHY = 120, 200, 1_000


@dataclass(frozen=True, slots=True)
class Kept:
    """A commit that was made.  `person` is the one of the person's own edits that had to come first.

    `proposals` names what waits for approval; `commit` is empty when there was nothing else.
    `remarks` are lines for the person: what could not be written as the agent meant it, and what had to be mended.
    """

    commit: str
    paths: tuple[str, ...]
    person: str | None = None
    remarks: tuple[str, ...] = ()
    proposals: tuple[str, ...] = ()


@dataclass(slots=True)
class Work:
    """Edits against the present end of a branch; nothing that git or a reader can see changes here."""

    git: Git
    files: Files
    branch: str
    head: str | None = None
    by_person: dict[str, str | None] = field(default_factory=dict)
    by_agent: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    _looked: dict[str, bytes | None] = field(default_factory=dict)

    def here(self, path: str) -> bytes | None:
        """Return what a file holds, None where there is none; Refused for what is no ordinary file.

        It is looked at once: whatever is saved after that is found when the commit reaches the files.
        """
        if path not in self._looked:
            self._looked[path] = self._look(path)
        return self._looked[path]

    def _look(self, path: str) -> bytes | None:
        """Read a file until it is quiet: an editor that saves in place has it empty for a moment."""
        parts = tuple(path.split("/"))
        for _ in range(MOST_LOOKS):
            content = self.files.read(parts, LARGEST_READ)
            if not self.files.is_fresh(parts) or content is None:
                break
            if self.git.identify(content) == self.git.identity(self.head, path):
                break
            time.sleep(LOOK_AGAIN_SECONDS)
        return content

    def take(self, path: str, edit: Edit) -> None:
        """Join an edit with what the file holds now."""
        try:
            here = self.here(path)
        except Refused as refused:
            self.remarks.append(f"not written: {refused}")
            return
        after = edit.onto(here) if edit.fits(here) else self._joined(edit, here)
        if after == here:
            return
        found = self.by_hand(path, here)
        if after is None:
            path, found, after = self._beside(path), None, edit.onto(edit.base)
        self.by_agent[path] = (found, self.git.store(after))

    def put(self, path: str, content: bytes | None) -> None:
        """Let a file hold this instead of what it holds now; None takes it away."""
        here = self.here(path)
        if content != here:
            found = self.by_hand(path, here)
            self.by_agent[path] = (found, None if content is None else self.git.store(content))

    def by_hand(self, path: str, here: bytes | None) -> str | None:
        """Return the id of what a file holds; what a person changed in it goes into a commit of the person's own."""
        found = None if here is None else self.git.identify(here)
        if found != self.git.identity(self.head, path):
            self.by_person[path] = None if here is None else self.git.store(here)
        return found

    def commit(self, message: str, author: Author, person: Callable[[], Author]) -> Kept:
        """Write the person's commit, if there is something for it, and the agent's on top; no branch has them yet."""
        parent, first = self.head, None
        if self.by_person:
            subject = one_line("edit " + ", ".join(self.by_person) + " by hand", _SUBJECT)
            parent = first = self.git.commit(parent, self.by_person, subject + "\n", person())
        contents = {path: now for path, (_, now) in self.by_agent.items()}
        if first is not None and not contents:
            return Kept(first, (), first, tuple(self.remarks))
        made = self.git.commit(parent, contents, message, author)
        return Kept(made, tuple(self.by_agent), first, tuple(self.remarks))

    def landing(self, commit: str) -> Landing:
        """What has to be done once the branch is at the commit."""
        unchanged = {path: (here, here) for path, here in self.by_person.items()}
        return Landing(self.branch, commit, {**unchanged, **self.by_agent})

    def _joined(self, edit: Edit, here: bytes | None) -> bytes | None:
        """Both edits of a note that changed since the run read it; None where they clash."""
        mine = edit.onto(edit.base)
        return mine if here is None else self.git.merged(edit.base or b"", here, mine)

    def _beside(self, path: str) -> str:
        """A free name for the agent's version of a note whose same lines the person has just edited."""
        for number in range(1, 1000):
            name = f"{path.removesuffix('.md')}.agent-{number}.md"
            if self.files.read(tuple(name.split("/")), LARGEST_READ) is None and name not in self.by_agent:
                self.remarks.append(f"{path} was edited by hand at the same time: the agent's version is {name}")
                return name
        raise Refused(f"{path}: there are too many versions beside it")


def message_of(subject: str, trailers: Mapping[str, str], why: str = "") -> str:
    """Return a commit message on which no text from outside can forge a line; `why` becomes one line above the end."""
    lines = [f"{key}: {one_line(value, _VALUE)}" for key, value in trailers.items() if _KEY.fullmatch(key) and value]
    body = ["", one_line(why, _WHY)] if why.strip() and lines else []
    return "\n".join([one_line(subject, _SUBJECT) or "edit notes", *body, *([""] if lines else []), *lines, ""])
