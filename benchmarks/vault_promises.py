"""What may never be so after a kill, looked for from outside: in one vault, its history and its remote."""

from __future__ import annotations

import fcntl
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from vault_lives import ROBO, number_of
from vault_processes import Place, git, worked

from daemon.memory import open_vault, review_of
from vault import Vault
from vault.proposals import Proposals

Told = Mapping[str, set[int]]
_ADDED = re.compile(r"([+-])(?:- (agent|person|laptop|review) (\d+)( again)?(?: x*)?|state: (\w+) (\d+))$")
_HUMAN = ("person", "laptop", "review")


def left_by_kill(place: Place, told: Told) -> list[str]:
    """Return what is wrong right after a kill and the next start, which has been."""
    gitdir = place.root / ".git"
    left = list[Path]()
    for _ in range(600):  # a `git gc` that a person's commit started may take a minute
        locks = [lock for lock in gitdir.rglob("*.lock") if "trimtab" not in lock.relative_to(gitdir).parts]
        if not locks or (left == locks and not _git_works_on(place.root)):
            break
        left = locks
        time.sleep(0.1)  # a git that works here keeps every lock from being taken for a crashed one's
        Vault.open(place.root).close()
    wrong = [f"a lock is left: {lock}" for lock in locks]
    wrong += [f"nobody gives back {lock}" for lock in (gitdir / "trimtab").glob("*lock") if not _is_free(str(lock))]
    wrong += [f"fsck: {line}" for line in _fsck(place)]
    if not worked(place.root, "status", "--porcelain"):
        wrong.append(f"git status: {git(place.root, 'status')}")
    return wrong + _undecided(place, told)


def at_the_remote(place: Place, told: Told) -> list[str]:
    """Return what an acknowledged exchange has not brought to the remote."""
    there = {
        int(line[6:]) for line in git(place.remote, "log", "--format=%s", "main").splitlines() if line[:6] == "agent "
    }
    return _named("commits of an acknowledged exchange that the remote has not", told.get("synced", set()) - there)


def in_the_end(place: Place, told: Told) -> list[str]:
    """Return every broken promise of the whole history, the files and the remote, after a last exchange."""
    history, files = History.of(place), "\n".join(path.read_text() for path in place.root.rglob("*.md"))
    return history.faults + _history(history, files, told) + _files(files, told) + _rules(place, told) + _remote(place)


def _git_works_on(root: Path) -> bool:
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "comm").read_text().startswith("git") and (process / "cwd").readlink().is_relative_to(root):
                return True
    return False


def _is_free(lock: str) -> bool:
    with open(lock, "rb") as file:  # noqa: PTH123
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _fsck(place: Place, *arguments: str) -> list[str]:
    said = git(place.root, "fsck", "--full", "--strict", "--no-progress", *arguments).splitlines()
    return [line for line in said if not line.startswith("dangling")]


def _undecided(place: Place, told: Told) -> list[str]:
    """Approvals that are gone, and commits that count as reviewed though nobody looked at them."""
    decided = told.get("approved", set()) | told.get("reverted", set())
    begun = decided | told.get("approving", set()) | told.get("reverting", set())
    with open_vault(place.root) as vault:
        items = review_of(vault).items()
        shown = {item.commit.id for item in items}
        mine = {
            each.id: number_of(each.message) for each in vault.git.history(vault.head) if each.author.name == "robo"
        }
    still_open = {number_of(item.commit.message) for item in items if item.open}
    passed = {n for each, n in mine.items() if each not in shown} | {
        mine.get(i.commit.id, -1) for i in items if i.approved
    }
    return _named("approved, and open again", decided & still_open) + _named(
        "counted as reviewed, and nobody looked at it", passed - begun - {-1}
    )


@dataclass(slots=True)
class History:
    """Which numbered lines each author brought first, and what is wrong with the order of that."""

    brought: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    known: dict[tuple[str, int], str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, place: Place) -> History:
        """Read the whole history, the oldest first."""
        made, author, lines = cls(), "", list[tuple[str, str, int]]()
        format_ = ["--reverse", "--topo-order", "-p", "--text", "-U0", "--no-renames", "--format=author %an"]
        for line in [*git(place.root, "log", *format_, "main").splitlines(), "author "]:
            if line.startswith("author "):
                made._take(author, lines)
                author, lines = line[7:], []
            elif found := _ADDED.match(line):
                sign, kind, number, again, state, which = found.groups()
                lines.append((sign, kind + (again or "") if kind else f"state {state}", int(number or which)))
        return made

    def _take(self, author: str, lines: Iterable[tuple[str, str, int]]) -> None:
        added = {(kind, number) for sign, kind, number in lines if sign == "+"}
        gone = {(kind, number) for sign, kind, number in lines if sign == "-"} - added
        self.brought.setdefault(author, set()).update(added)
        for kind, number in added - self.known.keys():
            self.known[kind, number] = author
            by_agent = kind.split()[0] == "agent" or kind == "state agent"
            if kind != "state none" and by_agent != (author == ROBO[0]):
                self.faults.append(f"{kind} {number} was brought by a commit of {author}")
        if author == ROBO[0]:
            lost = sorted(each for each in gone if each[0] in _HUMAN or each[0].startswith("agent"))
            self.faults += [f"a commit of the agent's took away {kind} {number}" for kind, number in lost]

    def by(self, kind: str, *authors: str) -> set[int]:
        """The numbers of a kind of line that these authors' commits hold."""
        return {n for author in authors for each, n in self.brought.get(author, ()) if each == kind}


def _history(history: History, files: str, told: Told) -> list[str]:
    agent, state = told.get("agent", set()), set(map(int, re.findall(r"^state: person (\d+)$", files, re.MULTILINE)))
    missing = {
        "acknowledged lines of the agent that no commit of its has": agent - history.by("agent", "robo"),
        "acknowledged second lines that no commit of its has": agent - history.by("agent again", "robo"),
        "acknowledged changes of a line": told.get("agent-state", set()) - history.by("state agent", "robo"),
        "a person's changes of a line": told.get("owed-state", set()) - history.by("state person", "Ann") - state,
        "pushed lines that no commit of the laptop's has": told.get("laptop", set()) - history.by("laptop", "Lea"),
    }
    return [line for what, numbers in missing.items() for line in _named(what, numbers)]


def _files(files: str, told: Told) -> list[str]:
    """Lines that are gone from the notes though nobody took them away: no editor saved over them, no review did."""
    again = set(map(int, re.findall(r"^- agent (\d+) again$", files, re.MULTILINE)))
    wrong = _named(
        "lines of notes that only the agent writes are gone", told["agent"] - again - told.get("reverting", set())
    )
    wrong += _named("taken back, and there again", told.get("reverted", set()) & again)
    for kind in ("agent", *_HUMAN):
        there = set(map(int, re.findall(rf"^- {kind} (\d+)(?: x*)?$", files, re.MULTILINE)))
        over = told.get(f"over-{kind}", set()) | (told.get("reverting", set()) if kind == "agent" else set())
        wrong += _named(f"lines of {kind} that nobody took away are gone", told.get(kind, set()) - there - over)
    return wrong


def _rules(place: Place, told: Told) -> list[str]:
    said = Counter(map(int, re.findall(r"^- rule (\d+)$", (place.root / "AGENTS.md").read_text(), re.MULTILINE)))
    with open_vault(place.root) as vault:
        texts = [change.patch for each in Proposals(vault).waiting() for change in each.changes]
    waiting = {int(n) for text in texts for n in re.findall(r"^\+- rule (\d+)$", text, re.MULTILINE)}
    accepted, rejected = told.get("accepted", set()), told.get("rejected", set())
    begun = told.get("rejecting", set())
    return [
        *_named("proposals that are gone", told.get("rule", set()) - set(said) - waiting - begun),
        *_named("approved rules that are not in force once", {n for n in accepted if said[n] != 1}),
        *_named("rejected rules in force", rejected & set(said)),
        *_named("rules in force that nobody approved", set(said) - told.get("accepting", set())),
    ]


def _remote(place: Place) -> list[str]:
    ours, theirs = (git(each, "rev-parse", "main").strip() for each in (place.root, place.remote))
    wrong = [] if ours == theirs else [f"the remote has {theirs[:10]}, the vault {ours[:10]}"]
    said = git(place.remote, "fsck", "--full", "--strict", "--no-progress").splitlines()
    wrong += [f"fsck of the remote: {line}" for line in said if not line.startswith("dangling")]
    moves = [line.split()[:2] for line in (place.remote / "logs/refs/heads/main").read_text().splitlines()]
    forced = [
        new
        for old, new in moves
        if set(old) != {"0"} and not worked(place.remote, "merge-base", "--is-ancestor", old, new)
    ]
    return wrong + [f"the remote was forced to {new[:10]}" for new in forced]


def _named(what: str, numbers: set[int]) -> list[str]:
    return [f"{what}: {sorted(numbers)[:9]}{' ...' if len(numbers) > 9 else ''}"] if numbers else []
