"""The notes of one run, kept in one commit (implements stages.Memory), and what is recalled from them before a run.

It binds the vault to the daemon's words: which run wrote, for which heartbeat, with which model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import structlog

from daemon.errors import ConfigError, StorageError
from daemon.stages import Clock, Observer
from daemon.types import Run
from vault import Author, Commit, Draft, Kept, NoSuchNote, NotAVault, NotReady, Refused, Vault, VaultError

log = structlog.get_logger()

REVIEWED = "reviewed"
"""The tag up to which a person has reviewed what the agent wrote."""

_RUN = "Trimtab-Run"
_AROUND = 6
"""How many lines before and after the best line are shown of a long note."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """A note for the prompt: untrusted text from `path`, and why it was chosen."""

    path: str
    excerpt: str
    reason: str


def open_vault(path: Path) -> Vault:
    """Open an agent's vault.  Raises ConfigError for what a person must mend, StorageError for the disk."""
    try:
        vault = Vault.open(path)
    except (NotAVault, NotReady) as wrong:
        raise ConfigError(path, "", str(wrong).removeprefix(f"{path}: ")) from None
    except VaultError as wrong:
        raise StorageError(str(wrong)) from None
    for notice in vault.notices:
        log.warning("vault.mended", what=notice)
    vault.notices.clear()
    return vault


def written_runs(vault: Vault, limit: int = 50) -> dict[str, str]:
    """Return {run id: commit id} of the agent's commits among the newest `limit`.  Raises StorageError.

    Of two commits that name one run, the older counts: the newer is somebody's copy.  Blocks: it reads the history.
    """
    return dict(_by_agent(vault, None, limit))  # the older of two comes later, and stays


def unreviewed(vault: Vault, most: int = 1_000) -> int:
    """Return how many of the agent's commits came after the `reviewed` mark, counted up to `most`.

    Raises StorageError.  Blocks, for longer the more commits came after the mark (20,000 take a quarter of a second).
    """
    return sum(1 for _ in islice(_by_agent(vault, vault.git.resolve(REVIEWED), None), most))


def _by_agent(vault: Vault, stop: str | None, limit: int | None) -> Iterator[tuple[str, str]]:
    """Give (run id, commit id) of the agent's commits since `stop` among the newest `limit`, the newest first."""
    try:
        for commit in islice(vault.git.history(vault.head, stop), limit):
            if run := _run_of(commit):
                yield run, commit.id
    except VaultError as wrong:
        raise StorageError(str(wrong)) from None


def _run_of(commit: Commit) -> str | None:
    """Return the run that a commit's trailers name: its last lines, which no text from outside can reach."""
    subject, _, trailers = commit.message.rstrip("\n").rpartition("\n\n")
    lines = trailers.split("\n") if subject else []
    return next((line.removeprefix(f"{_RUN}: ") for line in lines if line.startswith(f"{_RUN}: ")), None)


class VaultMemory:
    """The memory of one run: what its tools wrote to `draft` is committed once, by `keep`.

    `kept` says what became of it; `recalled` holds the notes that were chosen for the prompt, each with its reason.
    """

    def __init__(self, draft: Draft, clock: Clock, observer: Observer | None = None) -> None:
        self._draft, self._clock, self._observer = draft, clock, observer
        self.kept: Kept | None = None
        self.recalled: Sequence[Recalled] = ()

    def pending(self) -> int:
        """Return how many notes were written and are not committed."""
        return 0 if self.kept is not None else len(self._draft.paths)

    async def keep(self, run: Run) -> str | None:
        """Commit what the run wrote and return the commit id, None if it wrote nothing.  Raises StorageError."""
        if not self._draft.paths:
            return None
        try:
            self.kept = await asyncio.to_thread(self._commit, run)
        except VaultError as wrong:
            raise StorageError(f"the notes of run {run.id} could not be kept: {wrong}") from None
        if self.kept is None:
            return None
        if self._observer is not None:
            self._observer.vault_committed("run")
            if self.kept.person is not None:
                self._observer.vault_committed("person")
        for remark in self.kept.remarks:
            log.warning("vault.remarked", run=run.id, what=remark)
        log.info("vault.committed", run=run.id, commit=self.kept.commit, notes=len(self.kept.paths))
        return self.kept.commit

    async def recall(self, query: str, limit: int = 3, max_chars: int = 2_000) -> Sequence[tuple[str, str]]:
        """Return (path, excerpt) of up to `limit` notes that fit the query, together at most `max_chars` characters.

        Instructions are left out: the prompt has them already, from the person.
        """
        if limit and query.strip():
            self.recalled = await asyncio.to_thread(self._recall, query, limit, max_chars)
        return [(note.path, note.excerpt) for note in self.recalled]

    def _commit(self, run: Run) -> Kept | None:
        heartbeat = run.occurrence.heartbeat
        subject = f"{heartbeat}: {', '.join(self._draft.paths)}"
        trailers = {_RUN: run.id, "Trimtab-Heartbeat": heartbeat, "Trimtab-Model": run.model}
        return self._draft.commit(subject, trailers, Author(*self._draft.agent, self._clock.now()))

    def _recall(self, query: str, limit: int, max_chars: int) -> Sequence[Recalled]:
        found, left = list[Recalled](), max_chars
        for hit in self._draft.search(query, limit, without_instructions=True):
            try:
                lines = self._draft.read(hit.path).splitlines()
            except (NoSuchNote, Refused):
                continue
            near = lines[max(0, hit.line - 1 - _AROUND) : hit.line + _AROUND]
            excerpt = "\n".join(near).strip()[:left]
            if excerpt:
                found.append(Recalled(hit.path, excerpt, f"matches {', '.join(hit.words)}"))
                left -= len(excerpt)
        return found
