"""The notes of one run, kept in one commit (implements stages.Memory), and what is recalled from them before a run.

It binds the vault to the daemon's words: which run wrote, for which heartbeat, with which model.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Final, Literal, TypeAlias

import structlog

from daemon.errors import ConfigError, StorageError
from daemon.stages import Clock, Observer
from daemon.types import Feedback, Message, Run, ToolSpec
from vault import Author, Commit, Draft, Kept, NoSuchNote, NotAVault, NotReady, Refused, Vault, VaultError
from vault.proposals import Proposals
from vault.proposing import APPROVES
from vault.revert import REVERTS
from vault.review import REVIEWED, Review

__all__ = [
    "PROPOSED_IN",
    "REVIEWED",
    "Recalled",
    "VaultMemory",
    "decided",
    "open_vault",
    "proposed",
    "review_of",
    "run_of",
    "trailers_of",
    "unreviewed",
    "written_runs",
]

log = structlog.get_logger()

_RUN = "Trimtab-Run"
PROPOSED_IN = "Trimtab-Proposed-In"
"""The trailer of an approval that names the run whose proposal it was."""

_REVERTED = re.compile(r"^This reverts commit ([0-9a-f]{40})", re.MULTILINE)
_AROUND = 6
"""How many lines before and after the best line are shown of a long note."""


_LEAST_SHARE = 0.1
"""The share of the best note's score below which a note has only words such as "the" in common with the task."""

_CUT_SHORTER = 0.9
"""How much of the room that is left a note is cut to, because no two pieces of a text have equally many tokens."""

_BYTES_PER_TOKEN = 4

RECALL_PART: Final = 16
"""The part of a window that recalled notes may fill: one of so many."""

Count: TypeAlias = Callable[[Sequence[Message], Sequence[ToolSpec]], Awaitable[int]]
"""How many tokens a prompt takes."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """A note for the prompt: untrusted text from `path`, and why it was chosen."""

    path: str
    excerpt: str
    reason: str

    @property
    def told(self) -> str:
        """How the prompt names it."""
        return f"{self.path} ({self.reason})"

    @property
    def shown(self) -> tuple[Message, ...]:
        """Return it as what is counted."""
        return (Message("user", f"- {self.told}: {self.excerpt}"),)

    def cut(self, share: float) -> Recalled:
        """Return it with about this share of its excerpt, whole lines where there are any."""
        short = self.excerpt[: int(len(self.excerpt) * share)]
        whole, _, _ = short.rpartition("\n")
        return replace(self, excerpt=whole or short)


def open_vault(path: Path, *, patient: bool = False) -> Vault:
    """Open an agent's vault; `patient` as `Vault.open` has it.

    Raises ConfigError for what a person must mend, StorageError for the disk.
    """
    try:
        vault = Vault.open(path, patient=patient)
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

    Those that a person approved although one before them was skipped are not counted.  Raises StorageError.  Blocks,
    for longer the more commits came after the mark (20,000 take a quarter of a second).
    """
    approved = review_of(vault).approved()
    found = (commit for _, commit in _by_agent(vault, vault.git.resolve(REVIEWED), None) if commit not in approved)
    return sum(1 for _ in islice(found, most))


def proposed(vault: Vault) -> list[datetime]:
    """Return since when proposals wait for a person's approval, the longest first.  Raises StorageError.  Blocks."""
    try:
        return Proposals(vault).since()
    except VaultError as wrong:
        raise StorageError(str(wrong)) from None


def review_of(vault: Vault) -> Review:
    """Return the review of a vault: what the agent wrote is a commit that names its run, or bears its name."""
    name, email = vault.agent

    def by_agent(commit: Commit) -> bool:
        return run_of(commit) is not None or (commit.author.name, commit.author.email) == (name, email)

    return Review(vault, by_agent)


def _by_agent(vault: Vault, stop: str | None, limit: int | None) -> Iterator[tuple[str, str]]:
    """Give (run id, commit id) of the agent's commits since `stop` among the newest `limit`, the newest first."""
    try:
        for commit in islice(vault.git.history(vault.head, stop), limit):
            if run := run_of(commit):
                yield run, commit.id
    except VaultError as wrong:
        raise StorageError(str(wrong)) from None


def run_of(commit: Commit) -> str | None:
    """Return the run that a commit's trailers name, None for a person's."""
    return trailers_of(commit).get(_RUN)


def trailers_of(commit: Commit) -> dict[str, str]:
    """Return the trailers of a commit: its last lines, which no text from outside can reach."""
    subject, _, last = commit.message.rstrip("\n").rpartition("\n\n")
    return dict(line.split(": ", 1) for line in last.split("\n") if ": " in line) if subject else {}


def decided(vault: Vault, known: Collection[str] = (), newest: int = 200) -> Iterator[Feedback]:
    """Give what people took back or approved in the newest commits, as the history tells it, the newest first.

    What they did to a commit in `known` is left out; a revert with plain git counts.  Raises StorageError.  Blocks.
    """
    by_agent = review_of(vault).by_agent
    try:
        for commit in islice(vault.git.history(vault.head), newest):
            if not by_agent(commit) and (said := _decision(vault, commit, known)):
                yield said
    except VaultError as wrong:
        raise StorageError(str(wrong)) from None


def _decision(vault: Vault, commit: Commit, known: Collection[str]) -> Feedback | None:
    trailers = trailers_of(commit)
    plain = _REVERTED.search(commit.message)
    about = trailers.get(REVERTS) or trailers.get(APPROVES) or (plain[1] if plain else "")
    if not about or about in known:
        return None
    written = vault.git.find(about)
    run = trailers.get(PROPOSED_IN) or (_run_behind(written) if written else None)
    if run is None:
        return None
    middle = commit.message.rstrip("\n").split("\n\n")[1:-1] if trailers.get(REVERTS) else []
    what: Literal["taken_back", "approved"] = "approved" if APPROVES in trailers else "taken_back"
    changes = list(vault.git.changes(commit))
    patch = "".join(change.patch for change in (vault.git.changes(written) if written else ()))
    paths = tuple(change.path for change in changes)
    return Feedback(commit.author.when, commit.author.name, what, run, about, paths, " ".join(middle), patch)


def _run_behind(commit: Commit) -> str | None:
    """Return the run that wrote a commit, or proposed what it approves."""
    return run_of(commit) or trailers_of(commit).get(PROPOSED_IN)


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
        return len(self._draft.paths) + len(self._draft.held)

    async def keep(self, run: Run) -> str | None:
        """Commit what the run wrote and return the commit id, None if it wrote nothing.  Raises StorageError.

        What needs approval becomes proposals, which have no part in that commit.
        """
        if not self._draft.paths and not self._draft.held:
            return None
        try:
            self.kept = await asyncio.to_thread(self._commit, run)
        except VaultError as wrong:
            raise StorageError(f"the notes of run {run.id} could not be kept: {wrong}") from None
        if self.kept is None:
            return None
        self._tell(run, self.kept)
        return self.kept.commit or None

    async def recall(
        self, query: str, limit: int = 3, tokens: int = 500, count: Count | None = None
    ) -> Sequence[tuple[str, str]]:
        """Return (path and why, excerpt) of up to `limit` notes that fit the query, together at most `tokens` long.

        Without `count`, four bytes are a token.  Instructions are left out: the prompt has them already, from the
        person.  What is returned stands in the prompt, so that the trajectory shows why each was chosen.
        """
        self.recalled = await self._fitting(query, limit, tokens, count or _estimate) if limit and query.strip() else ()
        if self.recalled:
            await asyncio.to_thread(self._draft.was_read, *(note.path for note in self.recalled))
        return [(note.told, note.excerpt) for note in self.recalled]

    async def _fitting(self, query: str, limit: int, tokens: int, count: Count) -> Sequence[Recalled]:
        chosen, left = list[Recalled](), tokens
        for note in await asyncio.to_thread(self._recall, query, limit):
            fitting, takes = note, await count(note.shown, ())
            if takes > left:
                fitting = note.cut(left / takes * _CUT_SHORTER)
                takes = await count(fitting.shown, ())
            if not fitting.excerpt or takes > left:
                break
            chosen.append(fitting)
            left -= takes
        return tuple(chosen)

    def _tell(self, run: Run, kept: Kept) -> None:
        kinds = ["proposal"] * len(kept.proposals) + ["run"] * bool(kept.commit) + ["person"] * bool(kept.person)
        if self._observer is not None:
            for kind in kinds:
                self._observer.vault_committed(kind)
        for remark in kept.remarks:
            log.warning("vault.remarked", run=run.id, what=remark)
        if kept.proposals:
            log.info("vault.proposed", run=run.id, proposals=list(kept.proposals))
        if kept.commit:
            log.info("vault.committed", run=run.id, commit=kept.commit, notes=len(kept.paths))

    def _commit(self, run: Run) -> Kept | None:
        heartbeat = run.occurrence.heartbeat
        subject = f"{heartbeat}: {', '.join(self._draft.paths)}"
        trailers = {_RUN: run.id, "Trimtab-Heartbeat": heartbeat, "Trimtab-Model": run.model}
        return self._draft.commit(subject, trailers, Author(*self._draft.agent, self._clock.now()))

    def _recall(self, query: str, limit: int) -> Sequence[Recalled]:
        hits, found = self._draft.search(query, limit, without_instructions=True), list[Recalled]()
        best = max((hit.score for hit in hits if not hit.named), default=0.0)
        for hit in hits:
            if hit.score < best * _LEAST_SHARE:
                continue
            try:
                lines = self._draft.read(hit.path).splitlines()
            except (NoSuchNote, Refused):
                continue
            near = lines[max(0, hit.line - 1 - _AROUND) : hit.line + _AROUND]
            reason = "named in the task" if hit.named else f"has {', '.join(hit.words)}"
            if excerpt := "\n".join(near).strip():
                found.append(Recalled(hit.path, excerpt, reason))
        return found


async def _estimate(messages: Sequence[Message], _: Sequence[ToolSpec]) -> int:
    return sum(len(message.text.encode("utf-8", "replace")) for message in messages) // _BYTES_PER_TOKEN
