"""The pending notes of one run: what it wrote can be read at once, and nothing touches the disk before `commit`.

A draft checks every write against the rules and remembers what each note said when the run last read it, or first wrote
to it, so that a person's edit in the meantime is noticed and kept.  What instructs the agent is held: it becomes a
proposal, and the draft itself goes on reading what is in force.  It may be used from several threads.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from vault import rules
from vault.author import Author
from vault.edit import Edit
from vault.errors import NoSuchNote, Refused
from vault.permission import check_note
from vault.proposing import check_proposal, propose
from vault.search import Hit
from vault.tidying import jobs
from vault.work import Kept

if TYPE_CHECKING:
    from vault.vault import Vault


class Draft:
    """Notes as one run sees them.  Made by `Vault.draft()`."""

    def __init__(self, vault: Vault, *, hold_all: bool = False) -> None:
        self._vault, self._hold_all = vault, hold_all
        self._edits: dict[str, Edit] = {}
        self._held: dict[str, Edit] = {}
        self._shown: dict[str, bytes] = {}
        self._lock = threading.RLock()

    @property
    def agent(self) -> tuple[str, str]:
        """The name and address that the vault knows its agent by."""
        return self._vault.agent

    @property
    def paths(self) -> tuple[str, ...]:
        """The notes that have pending writes, in the order of their first write."""
        return tuple(self._edits)

    @property
    def held(self) -> tuple[str, ...]:
        """The notes for which this run has a proposal, in the order of their first write."""
        return tuple(self._held)

    def holds(self, path: str) -> bool:
        """Whether a write to this note only becomes a proposal, which nothing reads before a person approves it."""
        return self._hold_all or rules.is_instruction(path)

    def read(self, path: str) -> str:
        """Return a note's text; NoSuchNote or Refused."""
        content = self._content(path)
        if content is None:
            raise NoSuchNote(f"no such note: {path}")
        text = rules.text_of(path, content)
        with self._lock:
            self._shown[path] = content
        return text

    def list(self, prefix: str = "", limit: int = 10_000) -> list[str]:
        """Return the paths of the notes below a folder, in order."""
        folder = prefix.strip("/")
        parts = tuple(folder.split("/")) if folder else ()
        if any(part.startswith(".") or not part for part in parts):
            raise Refused(f"{prefix!r} is not a folder of the vault")
        inside = [path for path in self._edits if not folder or path.startswith(folder + "/")]
        found = set(inside)
        for seen in self._vault.files.walk(parts):
            found.add(seen.path)
            if len(found) >= limit:
                break
        return sorted(found)

    def search(self, query: str, limit: int = 8, *, without_instructions: bool = False) -> Sequence[Hit]:
        """Return the lines that fit the words of `query` best, one for each note."""
        with self._lock:
            pending = {path: edit.onto(edit.base).decode("utf-8", "replace") for path, edit in self._edits.items()}
        leave = rules.is_instruction if without_instructions else None
        return self._vault.shelf.search(query, limit, pending, leave)

    def was_read(self, *paths: str) -> None:
        """Count that the agent was shown these notes; a count that cannot be written is left out."""
        self._vault.reads.add(paths)

    def to_tidy(self, today: date) -> str | None:
        """Say what could be tidied next and how, None where there is nothing."""
        return next((job.text for job in jobs(self._vault, today)), None)

    def write(self, path: str, text: str, *, cut: bool = False) -> None:
        """Set a note's whole text; Refused with a reason when that is against the rules.

        `cut` says that the model was stopped in the middle of the text.
        """
        data = rules.check_text(path, text, cut=cut)
        with self._lock:
            edits, edit = self._edit(path)
            rules.check_new(path, edit.onto(edit.base) if path in edits else edit.base, data)
            rules.check_kept(path, edit.base, data)
            self._take(edits, path, replace(edit, text=data, added=()))

    def append(self, path: str, text: str, *, start: str = "", cut: bool = False) -> None:
        """Add lines to the end of a note; `start` begins the note if there is none when it is committed."""
        if not text.strip():
            raise Refused(f"there is no text to append to {path}")
        addition = rules.check_text(path, text, cut=cut)
        with self._lock:
            edits, edit = self._edit(path)
            edit = replace(edit, added=(*edit.added, (start.encode(), addition)))
            rules.check_size(path, edit.onto(edit.base))
            self._take(edits, path, edit)

    def commit(self, message: str, trailers: Mapping[str, str], author: Author) -> Kept | None:
        """Commit every pending write at once and forget them; None when nothing has changed.

        What is held becomes proposals first: one for each instruction, one for all other notes together.
        """
        with self._lock:
            held = [(path,) for path in self._held if rules.is_instruction(path)]
            notes = tuple(path for path in self._held if not rules.is_instruction(path))
            names, remarks = list[str](), list[str]()
            for paths in [*held, *([notes] if notes else [])]:
                made = propose(self._vault, {path: self._held[path] for path in paths}, trailers, author)
                for path in paths:
                    del self._held[path]  # should something fail later, this one is not proposed again
                names += [made.name] if made.name else []
                remarks += made.remarks
            kept = self._vault.commit(self._edits, message, author, trailers) if self._edits else None
            self._shown |= {path: edit.onto(edit.base) for path, edit in self._edits.items()}
            self._edits = {}
            if kept is None and not names and not remarks:
                return None
            kept = kept or Kept("", ())
            return replace(kept, proposals=tuple(names), remarks=(*kept.remarks, *remarks))

    def _content(self, path: str) -> bytes | None:
        parts = rules.check_path(path)
        with self._lock:
            if edit := self._edits.get(path):
                return edit.onto(edit.base)
        return self._vault.files.read(parts, rules.LIMIT_BYTES)

    def _edit(self, path: str) -> tuple[dict[str, Edit], Edit]:
        """The pending edit of a note that may be written, begun now if there is none, and where it belongs."""
        parts = rules.check_path(path)
        edits = self._held if self.holds(path) else self._edits
        if path in edits:
            return edits, edits[path]
        here = self._vault.files.read(parts, rules.LIMIT_BYTES)
        rules.check_target(path, here)
        check_note(self._vault.root, parts)
        if here is None and (there := self._like(path, parts)):
            raise Refused(f"{path}: there is {there} already, and some systems know no difference: use that name")
        return edits, Edit(self._shown.get(path, here))

    def _like(self, path: str, parts: tuple[str, ...]) -> str | None:
        """What is there, or was written in this run, that a system which ignores case takes this path for."""
        mine = (*self._edits, *self._held)
        return next((each for each in mine if each.casefold() == path.casefold()), None) or self._vault.files.like(
            parts
        )

    def _take(self, edits: dict[str, Edit], path: str, edit: Edit) -> None:
        if edits is self._held:
            check_proposal(self._vault, path, edit.onto(edit.base), new=path not in edits)
        edits[path] = edit
