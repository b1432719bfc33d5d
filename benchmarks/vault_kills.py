"""`kill -9` at random moments of commits, exchanges with a remote and reviews, while people write at the same time.

Half of the kills hit an agent that commits, a quarter one that also syncs to a bare repository on disk, a quarter a
person's review (approve, take back, edit, decide on proposals) beside an agent at work.  All the while an editor saves
the same notes (in place, slowly, by a new file, at the end) and uses git, and somebody on a laptop pushes.  Half of the
kills come after a time; as that hardly ever hits what is done in a moment, the others are aimed: the process kills
itself between two calls somewhere inside one of `AIMED`.  Where each kill hit is read from memory that it shared.  All
promises are checked from outside (vault_promises.py).
After a kill of a sync its git processes are killed too in a third of the cases, as the end of a service does it; what a
git on the remote's side leaves locked then is the remote's, is removed here and counted.

Exits 1 if a promise is broken.  Usage: python benchmarks/vault_kills.py [KILLS [SEED]]
"""

from __future__ import annotations

import argparse
import mmap
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from vault_lives import ROBO, Chance, commits, reviews, syncs
from vault_people import edits, travels
from vault_processes import ACT_BYTES, FIRST, NOTES, STEP_BYTES, Aim, Place, Told, forked, git, heard
from vault_promises import at_the_remote, in_the_end, left_by_kill

from daemon.clock import SystemClock
from daemon.home import Home
from daemon.memory import open_vault
from daemon.syncing import Options, Syncing
from daemon.trajectories.database import Database
from vault import Vault
from vault.transport import SyncFailed

PATIENCE = {"commit": 0.4, "sync": 2.5, "review": 1.5}
"""The longest time that a process of each kind lives, in seconds."""
AIMED = (
    ("safekeeping.keep", "safekeeping.settle", "safekeeping.take_back"),
    ("git.advance", "branch."),
    ("landing.list_paths", "git_index.", "index_again.", "landing.index_held"),
    ("files.replace", "files._swap", "files.remove", "late."),
)
"""Functions of the short steps at which half of the kills are aimed."""
EVENTS = 250
"""The most events inside such a step before the kill: two or three commits have so many."""
STEPS = (
    ("waiting for an editor to end", (r"work\._look$",)),
    ("waiting for another process", ("locks.turn$",)),
    ("opening and recovering", ("arrival.recover", "arrival.prepare", "vault.open")),
    ("git fetch", ("transport.fetch",)),
    ("git push", ("transport.push",)),
    ("looking at what came", ("git_gate.", "sync._fetch")),
    ("packing the journal", ("safekeeping.empty", "safekeeping.tidy", "git.pack")),
    ("the journal", ("safekeeping.", "journal.")),
    ("the branch", ("git.advance", "branch.")),
    ("git's index", ("landing.list_paths", "git_index.", "landing.index_held")),
    ("the files", ("landing.", "late.")),
    ("commits done again", ("replay.", "taking.")),
    ("objects", ("work.commit", "git_writing.", "objects.")),
    ("reading and joining notes", ("work.", "draft.", "revert.", "proposals._joined")),
    ("the mark and approvals", ("review.",)),
    ("proposals", ("proposals.", "proposing.")),
    ("the database", ("feedback.", "database.", "trajectories.")),
    ("the editor", ("decisions._edited",)),
)
"""Names of steps, the innermost first, and what stands on the stack in them."""


@dataclass(slots=True)
class Trial:
    """One vault and everybody around it; `told` is all that was acknowledged."""

    place: Place
    dice: random.Random
    told: dict[str, set[int]] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    acts: Counter[tuple[str, str]] = field(default_factory=Counter)
    steps: Counter[tuple[str, str]] = field(default_factory=Counter)
    remarks: Counter[str] = field(default_factory=Counter)
    begun: Counter[str] = field(default_factory=Counter)
    remote_locks: int = 0

    def kill(self, kind: str) -> None:
        """Let a process of a kind live for a moment, kill it, start again and look."""
        shared, dice = mmap.mmap(-1, STEP_BYTES + ACT_BYTES), random.Random(self.dice.random())
        first, edited = self._next("agent"), self._next("review")
        lives: dict[str, Callable[[Told], None]] = {
            "commit": lambda told: commits(self.place, first, chance, told),
            "sync": lambda told: syncs(self.place, first, chance, told),
            "review": lambda told: reviews(self.place, edited, chance, told),
        }
        aimed = self.dice.random() < 0.5
        aim = Aim(self.dice.choice(AIMED), self.dice.randint(1, EVENTS)) if aimed else None
        chance = Chance(dice, shared, aim)
        beside = forked(lambda told: commits(self.place, first, dice, told)) if kind == "review" else None
        victim, told = forked(lives[kind])
        children = self._wait(victim, PATIENCE[kind] * 4 if aimed else self.dice.uniform(0.01, PATIENCE[kind]))
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
        _, status = os.waitpid(victim, 0)
        if not os.WIFSIGNALED(status):
            self.faults[f"a {kind} ended by itself"] = f"killed {sum(self.acts.values())} before"
        if children and self.dice.random() < 1 / 3:
            self._kill_gits(children)
        heard(told, self.told)
        os.close(told)
        if beside is not None:
            self.stop(*beside)
        self._count(kind, shared)
        self.look(kind)

    def _wait(self, victim: int, seconds: float) -> list[int]:
        """Wait until a process has killed itself, at most so long, and return what children it had at the end."""
        until, children = time.monotonic() + seconds, list[int]()
        while time.monotonic() < until and os.waitid(os.P_PID, victim, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            time.sleep(min(0.01, max(0.0, until - time.monotonic())))
            children = _children(victim) or children
        return children

    def look(self, kind: str) -> None:
        """Start as the next process does, and look at what is there."""
        with Vault.open(self.place.root) as opened:
            self.remarks.update(" ".join(notice.split()[:4]) for notice in opened.notices)
        with self.place.quiet():
            found = left_by_kill(self.place, self.told) + (
                at_the_remote(self.place, self.told) if kind == "sync" else []
            )
        for line in found:
            self.faults.setdefault(line, f"first after {sum(self.acts.values())} kills, the last of a {kind}")

    def stop(self, process: int, told: int) -> None:
        """Ask a process to end and hear its last words."""
        os.kill(process, signal.SIGTERM)
        _, status = os.waitpid(process, 0)
        if status:
            self.faults[f"a process beside ended with {status}"] = f"after {sum(self.acts.values())} kills"
        heard(told, self.told)
        os.close(told)

    def sync(self) -> None:
        """Do a last exchange, again where a git of a killed process still holds the remote."""
        with open_vault(self.place.root) as vault:
            for _ in range(40):
                with suppress(SyncFailed):
                    Syncing(vault, Options(url=str(self.place.remote)), self.place.home.path, SystemClock()).exchange()
                    return
                time.sleep(0.2)
        self.faults["the last exchange did not come about"] = "in the end"

    def _next(self, word: str) -> int:
        newest = max(self.told.get(word, set()), default=0)
        self.begun[word] = max(newest, self.begun[word]) + 2  # the one after the last may have been begun
        return self.begun[word]

    def _kill_gits(self, children: list[int]) -> None:
        for child in children:
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
        time.sleep(0.05)
        with self.place.quiet():
            for lock in list(self.place.remote.rglob("*.lock")):
                lock.unlink()
                self.remote_locks += 1

    def _count(self, kind: str, shared: mmap.mmap) -> None:
        stack = shared[:STEP_BYTES].rstrip(b"\0").decode()
        act = shared[STEP_BYTES:].rstrip(b"\0").decode() or "starting"
        innermost = stack.rpartition(">")[2] or "between"
        step = next((name for name, marks in STEPS if any(re.search(mark, stack) for mark in marks)), innermost)
        self.acts[kind, act] += 1
        self.steps[kind, step if stack else "between or starting"] += 1


def _children(process: int) -> list[int]:
    found = list[int]()
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def made(folder: Path) -> Place:
    """Make an agent's directory with a vault, a bare repository for it, and a laptop's clone."""
    place = Place(Home(folder / "agent"), folder / "remote.git", folder / "laptop")
    git(folder, "init", "-q", "--bare", "-b", "main", str(place.remote))
    git(place.remote, "config", "core.logAllRefUpdates", "true")
    with Vault.create(place.root, *ROBO) as vault:
        git(place.root, "config", "user.name", "Ann")
        git(place.root, "config", "user.email", "ann@example.org")
        vault.plant(dict.fromkeys(NOTES, FIRST) | {"AGENTS.md": "# Rules\n"}, "Begin")
        Syncing(vault, Options(url=str(place.remote)), place.home.path, SystemClock()).exchange()
    Database.open(place.home.database).close()
    git(folder, "clone", "-q", str(place.remote), str(place.laptop))
    git(place.laptop, "config", "user.name", "Lea")
    git(place.laptop, "config", "user.email", "lea@example.org")
    return place


def report(trial: Trial, seconds: float) -> None:
    """Print where the kills hit, and what was acknowledged."""
    for kind in PATIENCE:
        for what, counted in (("in hand", trial.acts), ("step", trial.steps)):
            row = sorted(((n, name) for (of, name), n in counted.items() if of == kind), reverse=True)
            print(f"  {kind}, {what}: " + ", ".join(f"{name} {n}" for n, name in row))
    numbers = {word: len(trial.told[word]) for word in sorted(trial.told) if word.split(":")[0] not in _BEFORE}
    print("  acknowledged: " + ", ".join(f"{word} {n}" for word, n in numbers.items()))
    print("  said when starting again: " + (", ".join(f"{n} x {what} ..." for what, n in trial.remarks.items()) or "-"))
    total = sum(trial.acts.values())
    print(f"{total} kills in {seconds:.0f} s; {trial.remote_locks} locks left by gits of the remote's side")


_BEFORE = {"approving", "reverting", "accepting", "rejecting"}


def main() -> int:
    """Kill, look, go on; then look at everything once more."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("kills", nargs="?", type=int, default=300, help="how many (300)")
    parser.add_argument("seed", nargs="?", type=int, default=1)
    given = parser.parse_args()
    dice = random.Random(given.seed)
    kinds = [("commit", "sync", "commit", "review")[number % 4] for number in range(given.kills)]
    dice.shuffle(kinds)
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(made(Path(folder)), dice)
        people = [
            forked(lambda told: edits(trial.place, random.Random(dice.random()), told)),
            forked(lambda told: travels(trial.place, random.Random(dice.random()), told)),
        ]
        began = time.monotonic()
        for number, kind in enumerate(kinds, 1):
            trial.kill(kind)
            for _, told in people:
                heard(told, trial.told)
            if number % 25 == 0:
                print(
                    f"  {number} kills, {len(trial.told.get('agent', ()))} runs, {len(trial.faults)} faults", flush=True
                )
        for person in people:
            trial.stop(*person)
        trial.sync()
        trial.look("sync")
        trial.faults |= dict.fromkeys(in_the_end(trial.place, trial.told), "in the end")
        report(trial, time.monotonic() - began)
        if trial.faults and os.environ.get("KEEP"):
            Path(folder).rename(os.environ["KEEP"])
            Path(folder).mkdir()
    print(
        "\n".join(f"BROKEN ({when}): {line}" for line, when in list(trial.faults.items())[:30]) or "no promise broken"
    )
    return 1 if trial.faults else 0


if __name__ == "__main__":
    sys.exit(main())
