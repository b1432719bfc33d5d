"""The agents of `recovery.py` that are going to collapse: a wording, a beginning and facts of its own for each."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from daemon.tools.host_facts import Disk, StillMachine

START = datetime(2026, 11, 2, 6, tzinfo=UTC)
GIB = 1024**3
LOGS = (
    "Continue the watch log.",
    "Write the next entry of the watch log.",
    "Go on with the log.",
    "Keep the log going.",
    "Continue the night log.",
    "What happened since the last entry?",
    "Add an entry to the watch log.",
    "Write on.",
)
ABOUT = ("", "", "", " Write about {}.", " Begin with {}.")
SUBJECTS = ("the fog", "the tide", "the old crane", "the lamp", "the ferry", "the generator", "the rain", "the radio")
HOSTS = (
    "Look at this machine with the host tool. End with one sentence.",
    "Check the host: load, memory, disks. Say in one sentence how the machine is.",
    "Look at the load and say how it is in one sentence.",
    "Check this machine and tell in one sentence whether something needs attention.",
)
NAMES = ("keel", "harbour", "north-2", "lantern", "mole", "beacon", "quay", "tern")


@dataclass(frozen=True)
class Case:
    """One agent that is going to collapse; `machine` is None where there are no tools."""

    number: int
    name: str
    instruction: str
    start: datetime
    machine: StillMachine | None


def cases(count: int) -> Iterator[Case]:
    """Yield cases that differ in wording, name, hour and facts; two of three write a log."""
    chance = random.Random(20261102)
    for number in range(count):
        name, start = chance.choice(NAMES), START + timedelta(minutes=chance.randrange(60 * 24 * 30))
        subject, log, about = chance.choice(SUBJECTS), chance.choice(LOGS), chance.choice(ABOUT)
        machine = StillMachine(
            averages=(round(chance.uniform(0.05, 3.0), 2), 0.3, 0.2),
            cores=chance.choice((1, 2, 4, 8)),
            used=(round(chance.uniform(20, 90), 1), round(chance.uniform(2, 64) * GIB)),
            mounted=(Disk("/", "/dev/vda", float(chance.randrange(20, 95)), 100 * GIB, chance.randrange(5, 80) * GIB),),
            since=start.timestamp() - chance.randrange(3_600, 10_000_000),
        )
        host = chance.choice(HOSTS)
        writes = number % 3 != 2
        yield Case(number, name, log + about.format(subject) if writes else host, start, None if writes else machine)
