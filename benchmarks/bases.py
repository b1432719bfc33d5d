"""The streams that the guards are measured on: labelled ones, and variants of healthy ones.

A label is the row of the onset, read from the folder's own README; None is a healthy stream.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from daemon.cli.transcript import Reading
from guards.replay import Row

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "streams"
CUTS = (16, 40, 80, 200)


@dataclass(frozen=True, slots=True)
class Label:
    """Where a collapse begins, the most outputs to its detection, and whether the stream counts at all."""

    onset: int
    within: int = 40
    counts: bool = True


LABELS = {
    "agents/village_the-universe__Claude_Opus_4.5": Label(63),
    "agents/village_the-universe__Claude_Opus_4.7": Label(118),
    "agents/basecamp_rex": Label(22, 9, counts=False),
    "dialogues/cca_old_or_nonstandard_runs_workspace_20260115_203321": Label(10, 10),
    "dialogues/cca_old_or_nonstandard_runs_workspace_20260115_191446_too_short": Label(9, 10),
    "dialogues/backrooms_gpt4o_gpt4o_cli_20241018_225604": Label(38, 10),
    "healthy/runner_images_bot": Label(0, 300, counts=False),
}
"""The collapses of the folder; those that do not count are a bot with one template and a block of junk."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Outputs in their order, where they are from, and the label if there is a collapse in them."""

    name: str
    rows: Sequence[Row]
    label: Label | None = None

    @property
    def group(self) -> str:
        """The folder, or the kind in front of the first dash."""
        return self.name.split("/")[0] if "/" in self.name else self.name.split("-")[0]


def read_folder(folder: Path) -> Iterator[Stream]:
    """Yield every `.jsonl.gz` under a folder, by name; a file with nothing in it is left out by its reader's error."""
    for path in sorted(folder.rglob("*.jsonl.gz")):
        name = str(path.relative_to(folder)).removesuffix(".jsonl.gz")
        yield Stream(name, tuple(Reading(str(path)).rows()), LABELS.get(name))


def variants(stream: Stream, most: int, seed: int) -> Iterator[Stream]:
    """Yield a healthy stream, its first `most` rows, cut, halved, thinned, reversed and shuffled."""
    rows = stream.rows[:most]
    made: list[tuple[str, Sequence[Row]]] = []
    for size in CUTS:
        if len(rows) > size:
            start = _rng(seed, stream.name, size).randrange(len(rows) - size)
            made.append((f"{size} from {start}", rows[start : start + size]))
    middle = len(rows) // 2
    made += [("first half", rows[:middle]), ("second half", rows[middle:]), ("every second", rows[::2])]
    made += [("tail", stream.rows[-max(30, len(rows) // 3) :]), ("reversed", rows[::-1])]
    made.append(("shuffled", _rng(seed, stream.name, 0).sample(list(rows), len(rows))))
    for name, some in made:
        if len(some) >= CUTS[0]:
            yield Stream(f"{stream.name} [{name}]", tuple(some))


def _rng(seed: int, name: str, part: int) -> random.Random:
    return random.Random(f"{seed} {name} {part}")
