"""The processes that are killed: an agent that commits, one that also syncs, and a person's review beside it."""

from __future__ import annotations

import contextlib
import mmap
import os
import random
import re
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from vault_processes import NOTES, Aim, Place, Told, doing, stopping, watched

from daemon.cli.decisions import Decisions
from daemon.clock import SystemClock
from daemon.errors import TrimtabError
from daemon.memory import open_vault
from daemon.syncing import Options, Syncing
from vault import Author, Draft, Vault, VaultError
from vault.review import Item

ROBO = ("robo", "robo@localhost")
STATE = re.compile(r"^state: (\w+) (\d+)$", re.MULTILINE)
"""A line of each note that the agent and the person both change."""
_EDITOR = 'sh -c \'for file; do printf -- "- review {}\\n" >> "$file"; done\' sh'


@dataclass(slots=True)
class Agent:
    """The agent's runs: numbered lines at the end of shared notes, a line in a note of its own, at times a rule."""

    vault: Vault
    dice: random.Random
    number: int
    told: Told

    def run(self) -> None:
        """Write as one run does, and tell of it when its commit is acknowledged."""
        number, draft = self.number, self.vault.draft()
        note, proposed = self.dice.choice(NOTES), False
        stated = self.dice.random() < 0.25 and self._state(draft, self.dice.choice(NOTES), number)
        draft.append(note, f"- agent {number} {'x' * self.dice.randint(0, 60)}")
        draft.append(f"days/day-{number % 40}.md", f"- agent {number} again")
        if self.dice.random() < 0.15:
            with contextlib.suppress(VaultError):  # forty wait already
                draft.append("AGENTS.md", f"- rule {number}")
                proposed = True
        try:
            kept = draft.commit(f"agent {number}", {"Trimtab-Run": str(number)}, Author(*ROBO, datetime.now(UTC)))
        except VaultError as error:
            os.write(2, f"  {error}\n".encode())
            self.number += 1  # it may be half done
            return
        self.told("agent", number)
        if stated:
            self.told("agent-state", number)
        if proposed and kept and kept.proposals:
            self.told("rule", number)
        self.number += 1

    @staticmethod
    def _state(draft: Draft, note: str, number: int) -> bool:
        try:
            text = draft.read(note)
            draft.write(note, STATE.sub(f"state: agent {number}", text))
        except VaultError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Chance:
    """What a process that is to be killed is given: its dice, where it leaves what it does, where it kills itself."""

    dice: random.Random
    shared: mmap.mmap
    aim: Aim | None = None


def commits(place: Place, first: int, chance: Chance | random.Random, told: Told) -> None:
    """The agent at work, until it is killed or asked to stop."""
    dice, shared = (chance.dice, chance.shared) if isinstance(chance, Chance) else (chance, None)
    if isinstance(chance, Chance):
        watched(chance.shared, chance.aim)
        doing(chance.shared, "open")
    with Vault.open(place.root) as vault:
        agent = Agent(vault, dice, first, told)
        while not stopping.is_set():
            if shared is not None:
                doing(shared, "commit")
            agent.run()
            time.sleep(dice.choice((0.0, 0.005)) if shared else dice.uniform(0, 0.05))


def syncs(place: Place, first: int, chance: Chance, told: Told) -> None:
    """Exchange with the remote again and again, while another thread of this process commits."""
    dice, shared = chance.dice, chance.shared
    options = Options(url=str(place.remote), seconds=30)
    with open_vault(place.root) as vault:
        agent = Agent(vault, dice, first, told)

        def write() -> None:
            while True:
                agent.run()
                time.sleep(dice.uniform(0, 0.05))

        threading.Thread(target=write, daemon=True).start()
        watched(shared, chance.aim)
        while True:
            doing(shared, "sync")
            newest = agent.number - 1
            try:
                Syncing(vault, options, place.home.path, SystemClock()).exchange()
            except TrimtabError as failed:
                told("sync failed", 0)
                os.write(2, f"  {failed}\n".encode())
            except VaultError as failed:
                told(f"not synced: {getattr(failed, 'reason', failed)}", 0)
                os.write(2, f"  not synced: {failed}\n".encode())
            else:
                told("synced", *([newest] if newest >= first else []))
            doing(shared, "between")


class Person:
    """The person at a review: approves, takes back, edits, and decides on proposals, as the screen does."""

    def __init__(self, desk: Decisions, dice: random.Random, number: int, told: Told) -> None:
        self._desk, self._dice, self._number, self._told = desk, dice, number, told

    def act(self, shared: mmap.mmap) -> None:
        """Do one thing, whichever; nothing where there is nothing to do it to."""
        does = {"approve": self._approve, "revert": self._revert, "edit": self._edit, "proposal": self._decide}
        doing(shared, "look")
        self._desk.settle()
        items = [item for item in self._desk.review.items() if item.open]
        name = self._dice.choice(list(does))
        doing(shared, name)
        does[name](items)

    def _approve(self, items: list[Item]) -> None:
        chosen = [item.commit for item in items if self._dice.random() < 0.8]
        numbers = [number_of(commit.message) for commit in chosen]
        self._told("approving", *numbers)
        self._desk.review.approve([commit.id for commit in chosen])
        self._told("approved", *numbers)

    def _revert(self, items: list[Item]) -> None:
        if items:
            commit = self._dice.choice(items[-5:]).commit
            number = number_of(commit.message)
            self._told("reverting", number)
            done = self._desk.take_back(commit, f"not {number}")
            if any(path.startswith("days/") for path in done.paths):
                self._told("reverted", number)

    def _edit(self, items: list[Item]) -> None:
        if items:
            self._number += 1
            os.environ["VISUAL"] = _EDITOR.format(self._number)
            changes = list(self._desk.vault.git.changes(items[-1].commit))
            if any(change.regular for change in changes):
                self._desk.edit(changes)
                self._told("review", self._number)

    def _decide(self, _: list[Item]) -> None:
        for proposal in self._desk.proposals.waiting():
            number = number_of(proposal.made.message)
            if self._dice.random() < 0.7:
                self._told("accepting", number)
                self._desk.approve(proposal)
                self._told("accepted", number)
            else:
                self._told("rejecting", number)
                self._desk.reject(proposal, f"not {number}")
                self._told("rejected", number)


def reviews(place: Place, first: int, chance: Chance, told: Told) -> None:
    """Review again and again, as a process of its own beside the agent's."""
    dice, shared = chance.dice, chance.shared
    watched(shared, chance.aim)
    doing(shared, "open")
    with open_vault(place.root) as vault:
        person = Person(Decisions(place.home, vault), dice, first, told)
        while True:
            try:
                person.act(shared)
            except (VaultError, TrimtabError) as wrong:
                told(f"not decided: {type(wrong).__name__}", 0)


def number_of(message: str) -> int:
    """Return the number of the agent's run that a commit names, -1 for none."""
    found = re.search(r"^Trimtab-Run: (\d+)$", message, re.MULTILINE)
    return int(found[1]) if found else -1
