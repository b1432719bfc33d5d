"""`kill -9` at random moments of commits, while a person's editor saves the same notes; then the history is audited.

The editor saves in place, or by a new file and a rename, and uses git now and then.  Prints what was
found and exits 1 if a promise is broken: `git fsck` clean after each kill, no acknowledged note lost, no human edit
lost or credited to the agent, no lock left.  Usage: python benchmarks/vault_kills.py [KILLS [SEED]]
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from vault import Author, Vault, VaultError

NOTES = ("journal.md", "people/ann.md", "projects/boat/plan.md")
AGENT = ("robo", "robo@localhost")


def git(root: Path, *arguments: str) -> str:
    """Run plain git and return what it says, errors among it."""
    done = subprocess.run(["git", "-C", root, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout


def write_for_ever(root: Path, seed: int, first: int, done: int) -> None:
    """The agent: append numbered lines to a note and write another one whole; tell of each acknowledged commit."""
    dice, number = random.Random(seed), first
    vault = Vault.open(root)
    while True:
        draft = vault.draft()
        draft.append(dice.choice(NOTES), f"- agent {number} {'x' * dice.randint(0, 200)}")
        draft.append(f"days/day-{number % 40}.md", f"- agent {number} again")
        try:
            draft.commit(f"agent {number}", {"Trimtab-Run": str(number)}, Author(*AGENT, datetime.now(UTC)))
        except VaultError as error:
            os.write(2, f"  {error}\n".encode())
            continue
        os.write(done, f"{number}\n".encode())
        number += 1


@contextlib.contextmanager
def quiet(pause: Path) -> Iterator[None]:
    """Keep the person from doing anything while the vault is looked at, or the other way round."""
    with pause.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def edit_for_ever(root: Path, seed: int, done: int) -> None:
    """The person: save notes and use git, except while the vault is looked at."""
    dice, number = random.Random(seed), 0
    while True:
        time.sleep(dice.uniform(0, 0.2))
        with quiet(root.with_name("pause")):
            edit(root, dice, number)
            os.write(done, f"{number}\n".encode())
            if dice.random() < 0.1:
                git(root, *dice.choice((("status",), ("add", "-A"), ("commit", "-qam", "by hand"))))
        number += 1


def edit(root: Path, dice: random.Random, number: int) -> None:
    """Put a numbered line to the top of one of the agent's notes."""
    note = root / dice.choice(NOTES)
    head, _, rest = note.read_text().partition("\n")
    time.sleep(dice.choice((0.0, 0.001, 0.02)))
    text = f"{head}\n- person {number}\n{rest}"
    if dice.random() < 0.5:
        note.write_text(text)
    else:
        fresh = note.with_name(f".{note.name}.swp")
        fresh.write_text(text)
        fresh.replace(note)


def forked(act: Callable[[int], None]) -> tuple[int, int]:
    """Start a process that acts, and return its id and where it tells what it has done."""
    told, done = os.pipe()
    os.set_blocking(told, False)
    child = os.fork()
    if child == 0:
        os.close(told)
        try:
            act(done)
        finally:
            os._exit(1)
    os.close(done)
    return child, told


def heard(told: int) -> list[int]:
    """What a process has told since."""
    text = b""
    try:
        while part := os.read(told, 65536):
            text += part
    except BlockingIOError:
        pass
    return [int(line) for line in text.split()]


def audit(root: Path, agent: set[int], person: set[int]) -> list[str]:
    """Return every broken promise of the whole history and the files."""
    wrong, author, added = list[str](), "", dict[tuple[str, str], set[int]]()
    log = git(root, "log", "--reverse", "-p", "--text", "--format=author %an", "main")
    for line in log.splitlines():
        if line.startswith("author "):
            author = line[7:]
        elif found := re.match(r"\+- (agent|person) (\d+)(?: x*)?$", line):
            added.setdefault((author, found[1]), set()).add(int(found[2]))
    files = "\n".join(path.read_text() for path in root.rglob("*.md"))
    there = {int(found) for found in re.findall(r"^- person (\d+)$", files, re.MULTILINE)}
    if lost := agent - added.get(("robo", "agent"), set()):
        wrong.append(f"acknowledged lines of the agent that no commit of its has: {sorted(lost)[:9]}")
    if lost := person - there - added.get(("Ann", "person"), set()):
        wrong.append(f"lines of the person that are neither in a commit of theirs nor in a file: {sorted(lost)[:9]}")
    if stolen := added.get(("robo", "person"), set()) - added.get(("Ann", "person"), set()):
        wrong.append(f"lines of the person that a commit of the agent brought: {sorted(stolen)[:9]}")
    undone = agent - {int(found) for found in re.findall(r"^- agent (\d+) again$", files, re.MULTILINE)}
    if undone:
        wrong.append(f"lines in notes that only the agent writes are gone: {sorted(undone)[:9]}")
    shown = {int(found) for found in re.findall(r"^- agent (\d+) x*$", files, re.MULTILINE)}
    saved_over = len(agent - shown)
    print(f"  agent: {len(agent)} acknowledged, {saved_over} of them saved over by the editor; person: {len(person)}")
    return wrong


def look(root: Path) -> list[str]:
    """Return what is wrong right after a kill and the next opening."""
    wrong = [f"a lock is left: {lock}" for lock in (root / ".git").rglob("*.lock")]
    said = [line for line in git(root, "fsck", "--full", "--strict").splitlines() if not line.startswith("dangling")]
    return wrong + [f"fsck: {line}" for line in said]


def main() -> int:
    """Kill, look, go on; then audit."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    dice = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    wrong, agent, person = list[str](), set[int](), set[int]()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "vault")
        made = Vault.create(root, *AGENT)
        git(root, "config", "user.name", "Ann")
        git(root, "config", "user.email", "ann@example.org")
        made.plant(dict.fromkeys(NOTES, "# Note\n"), "Begin")
        made.close()
        editor, saved = forked(lambda done: edit_for_ever(root, dice.randrange(2**32), done))
        began, remarks = time.monotonic(), 0
        for number in range(kills):
            first, seed = max(agent, default=-1) + 1, dice.randrange(2**32)
            writer, told = forked(lambda done, first=first, seed=seed: write_for_ever(root, seed, first, done))  # type: ignore[misc]
            time.sleep(dice.uniform(0.0, 0.25))
            os.kill(writer, signal.SIGKILL)
            os.waitpid(writer, 0)
            agent |= set(heard(told))
            os.close(told)
            opened = Vault.open(root)
            remarks += len(opened.notices)
            opened.close()
            with quiet(root.with_name("pause")):
                wrong += look(root)
            person |= set(heard(saved))
            if (number + 1) % 50 == 0:
                print(f"  {number + 1} kills, {len(agent)} commits, {len(wrong)} faults", flush=True)
        with quiet(root.with_name("pause")):
            os.kill(editor, signal.SIGKILL)
        Vault.open(root).close()
        os.waitpid(editor, 0)
        person |= set(heard(saved))
        wrong += audit(root, agent, person)
        print(f"{kills} kills in {time.monotonic() - began:.0f} s, {remarks} remarks when opening")
    print("\n".join(f"BROKEN: {line}" for line in wrong[:30]) or "no promise broken")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
