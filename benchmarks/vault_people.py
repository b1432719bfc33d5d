"""The people around one vault: an editor on the same files, and somebody on a laptop who pushes to the remote."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

from vault_lives import STATE
from vault_processes import NOTES, Place, Told, git, stopping, worked

from vault.swap import exchange

_LINE = re.compile(r"^- (agent|laptop|review) (\d+)\b(?! again)", re.MULTILINE)


def edits(place: Place, dice: random.Random, told: Told) -> None:
    """The person's editor: saves the agent's notes in five ways, and uses git now and then."""
    number, state = 0, dict.fromkeys(NOTES, -1)
    while not stopping.is_set():
        time.sleep(dice.uniform(0, 0.3))
        with place.quiet():
            name = dice.choice(NOTES)
            _save(place.root / name, dice, number, state, told, name)
            told("person", number)
            if dice.random() < 0.1:
                git(place.root, *dice.choice((("status",), ("add", "-A"), ("commit", "-qam", "by hand"))))
        number += 1


def _save(note: Path, dice: random.Random, number: int, state: dict[str, int], told: Told, name: str) -> None:
    """Put a numbered line to the top of a note, or to its end, and tell which lines of others that wrote over."""
    if dice.random() < 0.2:
        with note.open("ab") as file:
            file.write(f"- person {number}\n".encode())
        return
    before = note.read_text()
    mine = state[name]
    found = STATE.search(before)
    if mine >= 0 and (found is None or found[0] != f"state: person {mine}"):
        told("owed-state", mine)
    head, _, rest = before.partition("\n")
    after = f"{head}\n- person {number}\n{rest}"
    state[name] = -1
    if dice.random() < 0.3:
        after = STATE.sub(f"state: person {number}", after)
        state[name] = number
    time.sleep(dice.choice((0.0, 0.001, 0.02)))
    over = _renamed(note, after) if dice.random() < 0.4 else _in_place(note, after, dice.choice((0.0, 0.0, 0.008)))
    lost = set(_LINE.findall(over)) - set(_LINE.findall(after))
    for kind, which in lost:
        told(f"over-{kind}", int(which))


def _renamed(note: Path, text: str) -> str:
    """Save by a new file that takes the note's place; return what was there at that very moment."""
    fresh = note.with_name(f".{note.name}.swp")
    fresh.write_text(text)
    exchange(fresh, str(note), None)
    over = fresh.read_text()
    fresh.unlink()
    return over


def _in_place(note: Path, text: str, pause: float) -> str:
    """Save by writing over the note, slowly at times; return what was there."""
    with note.open("r+b") as file:
        over = file.read().decode()
        file.seek(0)
        file.truncate()
        data = text.encode()
        file.write(data[: len(data) // 2])
        file.flush()
        time.sleep(pause)
        file.write(data[len(data) // 2 :])
    return over


def travels(place: Place, dice: random.Random, told: Told) -> None:
    """Another person on a laptop: fetches, edits the same notes, pushes; what comes too late is given up."""
    number = 0
    while not stopping.is_set():
        time.sleep(dice.uniform(0.2, 0.8))
        git(place.laptop, "fetch", "-q", "origin")
        git(place.laptop, "reset", "-q", "--hard", "origin/main")
        note = place.laptop / dice.choice((*NOTES, f"laptop/{number % 9}.md"))
        note.parent.mkdir(exist_ok=True)
        head, _, rest = (note.read_text() if note.exists() else "# Lea\n").partition("\n")
        note.write_text(f"{head}\n- laptop {number}\n{rest}")
        git(place.laptop, "add", "-A")
        git(place.laptop, "commit", "-qm", f"laptop {number}")
        time.sleep(dice.uniform(0, 0.2))
        with place.quiet():
            if worked(place.laptop, "push", "-q", "origin", "main"):
                told("laptop", number)
        number += 1
