"""The heartbeat that a new agent begins with, word for word, over machines with none, one and several disks."""

from __future__ import annotations

from collections import Counter

from training.corpus import host_watch
from training.corpus.conversation import Conversation
from training.corpus.draw import Draw
from training.corpus.host_phrases import DEFAULT_TOPICS
from training.corpus.world import World
from training.marks import holds, invented, judged, spoken
from training.player import Player, Sampling

INSTRUCTION = (
    "Look at this machine with the host tool. File one short note in the journal: load, memory, the fullest disk, "
    "failed units, errors. End with one sentence."
)


def script(world: World) -> Conversation:
    """One beat with the tools `host` and `vault` only."""
    beat = [world.wake(INSTRUCTION), *host_watch.check(world), *host_watch.filed(world, DEFAULT_TOPICS)]
    messages = (world.system(), *beat, host_watch.sums_up(world, DEFAULT_TOPICS))
    return Conversation("main", messages, ("host", "vault"))


def report(player: Player, sampling: Sampling, first: int, count: int) -> str:
    """One row for each number of disks: right / tried."""
    seen: dict[str, Counter[str]] = {}
    for index in range(first, first + count):
        world = World(Draw(f"main heartbeat {index}", held_out=True), long=True)
        label = ("no disk", "one disk", "several disks")[min(len(world.host.disks), 2)]
        marks = seen.setdefault(label, Counter())
        marks["beats"] += 1
        replies = list(player.play(script(world), sampling, seed=index))
        if len(replies) != 3:
            continue
        _, note, last = replies
        marks["calls"] += 1
        marks["complete"] += all(holds(spoken(note), part) for part in note.expected.required)
        marks["clean"] += not invented(note) and not invented(last)
        marks["judged"] += judged(last)
        marks["named"] += all(holds(spoken(last), part) for part in last.expected.required)
    columns = ("calls", "complete", "clean", "judged", "named")
    lines = ["| machines | both calls made | note complete | nothing invented | right judgement | all trouble named |"]
    lines.append("|---" * 6 + "|")
    for label, marks in sorted(seen.items()):
        lines.append(f"| {label} | " + " | ".join(f"{marks[name]}/{marks['beats']}" for name in columns) + " |")
    return "\n".join(lines)
