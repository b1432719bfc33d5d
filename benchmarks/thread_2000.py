"""A conversation of 2,000 turns on one thread: what was named and left open, and is it still to be found at the end?

A model that plays its part says a few sentences each turn, names things in every second turn, leaves a loop open in
every tenth and closes a third of those.  Twice: with an extract at each compaction, and with a summary by the model,
which notes little and forgets half of what it should name.  Printed: how many names and open loops are in the summary
(or still in the thread), in the vault, or only in the history.

With `--local`, the shipped model looks at this machine instead, and what it had to read again is compared with what was
new to it, outside compactions.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import re
import sqlite3
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog
from pydantic import BaseModel

from daemon.app import opened
from daemon.beating import beat_in
from daemon.home import Home, create, plant
from daemon.trajectories.thread_search import search
from daemon.types import Message, Prompt, Reply, Stop, ToolCall, ToolSpec, Usage

SETTINGS = """name = "bench"
[models.local]
{model}
[context]
recall_notes = 0
summary = "{summary}"
[guards.tools]
enabled = false
"""
TALK = "---\nevery: 1d\ntools: [vault]\nthread: talk\n---\nGo on with the work.\n"
WATCH = "---\nevery: 1d\ntools: [host, vault]\nexpect: [host, vault.append]\nthread: talk\n---\n{}\n"
COMPARING = ("repeat", "template", "opener", "sign_off", "catchphrase", "vocabulary", "fixation", "spiral", "claims")
WHO = ("the harbour office", "Ann", "the night shift", "the supplier", "our landlord", "the choir", "a visitor")
DID = ("called about", "wrote a letter on", "moved", "measured", "painted", "postponed", "explained", "counted")
WHAT = ("the crane", "two ledgers", "the blue boat", "an old invoice", "the east gate", "some lamps", "the minutes")


def named(turn: int) -> str:
    """Return the name that a turn plants; every kind comes in its turn."""
    key = hashlib.sha256(f"name {turn}".encode()).hexdigest()
    kinds = (
        f"build {key[:9]}1f",
        f"/srv/files/{key[:6]}/report-{turn}.pdf",
        f"https://example.org/ticket/{key[:8]}?page={turn}",
        f"user{turn}@example.net",
        f"PROJ-{10_000 + turn}",
        f"host-{turn}-{key[:4]}",
        f"@person{turn}",
        f"release 3.{turn}.{int(key[:2], 16)}",
    )
    return kinds[turn // 2 % len(kinds)]


@dataclass
class Play:
    """What is said in each turn, and what of it must not be lost."""

    names: list[str] = field(default_factory=list)
    loops: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)

    def say(self, turn: int) -> str:
        """Return the words of a turn and remember what they plant."""
        dice = random.Random(turn)
        said = [f"{dice.choice(WHO)} {dice.choice(DID)} {dice.choice(WHAT)}.".capitalize() for _ in range(4)]
        if turn % 2 == 0:
            self.names.append(named(turn).split()[-1])
            said.insert(2, f"It belongs to {named(turn)} now.")
        if turn % 10 == 5:
            self.loops.append(f"send paper {turn} to office {turn * 7}")
            said.append(f"TODO: {self.loops[-1]}.")
        if turn % 30 == 25:
            self.closed.append(self.loops[-2])
            said.append(f"Done: {self.loops[-2]}.")
        return " ".join(said)

    @property
    def still_open(self) -> list[str]:
        """The loops that nobody closed."""
        return [loop for loop in self.loops if loop not in self.closed]


class Talker:
    """A model that plays: it talks in runs, and sums up badly when it is asked to.  Words count as tokens."""

    local = True

    class Options(BaseModel):
        """`context` is in words."""

        context: int = 8_192

    def __init__(self, name: str, options: Options, home: Path) -> None:
        self.name, self.context_tokens = name, options.context
        self.play, self._turn = Play(), 0

    async def window(self) -> int:
        """Return the context."""
        return self.context_tokens

    async def count(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        """Count words."""
        return sum(len(message.text.split()) for message in messages) + len(tools)

    async def reply(self, prompt: Prompt, *, stop: Stop, seconds: float) -> Reply:
        """Say the next words, or take a note and then sum up."""
        asked = next((at for at, message in enumerate(prompt.messages) if "five headings" in message.text), None)
        calls: tuple[ToolCall, ...] = ()
        if asked is None:
            self._turn += 1
            text = self.play.say(self._turn)
        elif asked == len(prompt.messages) - 1:
            note = {"action": "append", "path": "projects/harbour.md", "text": f"After turn {self._turn}: all goes on."}
            text, calls = "", (ToolCall(f"note{self._turn}", "vault", note),)
        else:
            text = self._summary(prompt.messages[asked].text)
        return Reply(text, calls, usage=Usage(await self.count(prompt.messages), 0, len(text.split())), model=self.name)

    def _summary(self, question: str) -> str:
        found = re.search(r"at most ([\d,]+) characters", question)
        room = int(found[1].replace(",", "")) // 2 if found else 500
        half, left = list[str](), room
        for name in self.play.names[-2::-2]:
            left -= len(name) + 3
            if left < 0:
                break
            half.append(f"- {name}")
        loops = "\n".join(f"- {loop}" for loop in self.play.still_open[-4:]) or "- none"
        parts = ("Goal\n- Keep the harbour going.", f"State\n- Turn {self._turn} is over.", "Decisions\n- none")
        return "\n".join(
            f"## {part}" for part in (*parts, f"Open loops\n{loops}", "Names and numbers\n" + "\n".join(half))
        )

    async def check(self) -> str:
        """Say that it is ready."""
        return "ready"

    async def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True, slots=True)
class Kept:
    """How many of so many planted things are in the summary or the thread, else in the vault, else in the history."""

    planted: int
    summary: int
    vault: int
    history: int

    @property
    def found(self) -> float:
        """The share that is anywhere."""
        return (self.summary + self.vault + self.history) / self.planted if self.planted else 1.0


def looked_up(planted: Sequence[str], live: str, notes: str, view: sqlite3.Connection) -> Kept:
    """Look for each planted text, as a whole word, in the live thread, the notes and the history."""
    places = [0, 0, 0]
    for one in planted:
        whole = re.compile(rf"(?<!\w){re.escape(one)}(?!\w)")
        if whole.search(live):
            places[0] += 1
        elif whole.search(notes):
            places[1] += 1
        elif search(view, one, "talk", 1):
            places[2] += 1
    return Kept(len(planted), *places)


def agent_in(folder: Path, settings: str, heartbeat: str) -> Home:
    """Make an agent with one heartbeat."""
    home, notes = create(folder / "agent", "UTC")
    plant(home, {"AGENTS.md": notes["AGENTS.md"], "heartbeats/talk.md": heartbeat})
    home.settings.write_text(settings, encoding="utf-8")
    return home


async def converse(folder: Path, turns: int, summary: str, context: int = 8_192) -> dict[str, Any]:
    """Hold the whole conversation and return what became of it."""
    backend = f'backend = "{Talker.__module__}:Talker"\ncontext = {context}'
    off = "".join(f"[guards.{name}]\nenabled = false\n" for name in COMPARING)
    home = agent_in(folder, SETTINGS.format(model=backend, summary=summary) + off, TALK)
    with home.held():
        async with opened(home) as agent:
            outcomes = [str((await beat_in(agent, "talk")).outcome) for _ in range(turns)]
            model = agent.models["local"]
            assert isinstance(model, Talker)
            live = "\n".join(message.text for message in await agent.threads.live("talk"))
            draft = agent.vault.draft()
            notes = "\n".join(draft.read(path) for path in draft.list())

            def look(view: sqlite3.Connection) -> dict[str, Any]:
                count = "SELECT count(*) FROM thread_entry WHERE summary"
                return {
                    "turns": turns,
                    "joined": outcomes.count("nothing_to_do") + outcomes.count("ok"),
                    "compactions": view.execute(count).fetchone()[0],
                    "names": looked_up(model.play.names, live, notes, view),
                    "loops": looked_up(model.play.still_open, live, notes, view),
                    "closed_in_summary": sum(f"- TODO: {loop}." in live for loop in model.play.closed),
                    "closed": len(model.play.closed),
                    "note_bytes": len(notes.encode()),
                }

            return await agent.database.read(look)


STEPS = """
    SELECT run.id, run.outcome, number, step.prompt_tokens AS prompt, step.reused_tokens AS reused,
           step.completion_tokens AS said, withheld, anew FROM step JOIN run ON run.key = run_key ORDER BY step.id"""


def reread(rows: Sequence[sqlite3.Row]) -> dict[str, Any]:
    """Compare the tokens that were evaluated with those that were new, outside compactions and quarantines."""
    joined = base = read = new = rewritten = 0
    for at, row in enumerate(rows):
        fresh = row["prompt"] - base
        if fresh <= 0 or row["anew"]:
            rewritten += 1
        elif base:
            read, new = read + row["prompt"] - row["reused"], new + fresh
        base = row["prompt"] + (0 if row["withheld"] else row["said"])
        if at + 1 == len(rows) or rows[at + 1]["id"] != row["id"]:
            joined = base = base if row["outcome"] in ("ok", "nothing_to_do") else joined
    return {"steps": len(rows), "rewritten": rewritten, "read": read, "new": new, "ratio": read / new if new else 1.0}


async def watch(folder: Path, turns: int) -> dict[str, Any]:
    """Let the shipped model look at this machine so many times and return what it had to read."""
    task = (
        "Look at this machine with the host tool. File one short note in the journal: load, memory, the fullest disk, "
        "failed units, errors. End with one sentence."
    )
    settings = SETTINGS.format(model='backend = "llama_cpp"\npath = "shipped"\nthreads = 1', summary="auto")
    home = agent_in(folder, settings, WATCH.format(task))
    with home.held():
        async with opened(home) as agent:
            outcomes = [str((await beat_in(agent, "talk")).outcome) for _ in range(turns)]
            rows = await agent.database.read(lambda connection: connection.execute(STEPS).fetchall())
            count = "SELECT count(*) FROM thread_entry WHERE summary"
            summaries = await agent.database.read(lambda connection: connection.execute(count).fetchone()[0])
    ended = {outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))}
    return {"turns": turns, "outcomes": ended, "compactions": summaries, **reread(rows)}


def main() -> int:
    """Run it and print the lines."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--turns", type=int, default=2_000)
    options.add_argument("--local", type=int, metavar="TURNS", help="measure the shipped model over so many turns")
    given = options.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    if given.local:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(asyncio.run(watch(Path(folder), given.local))))
        return 0
    worst = 1.0
    for summary in ("extract", "model"):
        with tempfile.TemporaryDirectory() as folder:
            done = asyncio.run(converse(Path(folder), given.turns, summary))
        print(f"{summary}: {done['turns']} turns, {done['joined']} joined, {done['compactions']} compactions")
        for what in ("names", "loops"):
            kept: Kept = done[what]
            worst = min(worst, kept.found)
            print(f"  {kept.planted} {what}: {kept.summary} in the summary or live, {kept.vault} in the vault, "
                  f"{kept.history} in the history only: {kept.found:.2%}")  # fmt: skip
        print(f"  closed loops still told: {done['closed_in_summary']} of {done['closed']}")
        print(f"  the notes have {done['note_bytes']:,} bytes")
    return 0 if worst >= 0.99 else 1


if __name__ == "__main__":
    sys.exit(main())
