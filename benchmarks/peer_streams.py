"""The streams of the side-by-side run: real ones with their labels, and collapses put into healthy ones."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bases import FOLDER, read_folder
from collapse_calls import CALLS
from collapses import KINDS

from daemon.cli.transcript import Reading
from guards.base import Call, CallResult, Output
from guards.replay import Row

ONSET, AT_LEAST = 40, 60
"""The row where a collapse is put in, and the outputs after it that are shown at least."""
ONE_RUN = "agents/mini_swe_"
"""Streams with this in front are the steps of one prompt; elsewhere each output answers a prompt of its own."""
FOREIGN = ("_es", "_de", "_zh")
"""Kinds that are told from another only by their language are left out: no peer reads any language."""


@dataclass(frozen=True, slots=True)
class Case:
    """A stream: what it shows, where its collapse begins (None if healthy), and the healthy stream it was made of."""

    name: str
    family: str
    rows: Sequence[Row]
    onset: int | None = None
    base: str = ""

    def prompts(self) -> Iterator[tuple[Row, bool]]:
        """Yield each row and whether a new prompt comes before it."""
        last: str | None = None
        for number, row in enumerate(self.rows):
            turn = row.output.turn
            same = self.name.startswith(ONE_RUN) or (turn is not None and turn == last)
            yield row, number == 0 or not same
            last = turn


def control() -> Case:
    """Return what every system sees when it is asked in the right way: one failing call twelve times in one prompt."""
    output = Output("I will look again.", (Call("read_file", {"path": "notes.md"}),), turn="1")
    return Case("control", "control", [Row(output, (CallResult(False, "Error: no such file"),))] * 12, 0)


def real(most: int) -> Iterator[Case]:
    """Yield the labelled streams that count, `most` rows of each healthy one, and the pasted outputs one by one."""
    for stream in read_folder(FOLDER):
        label = stream.label
        if label is None:
            yield Case(stream.name, "healthy", stream.rows[:most])
        elif label.counts:
            yield Case(stream.name, "real", stream.rows, label.onset)
    for name, family, onset in (("positives", "pasted", 0), ("negatives", "healthy, pasted", None)):
        path = FOLDER / "pasted" / f"{name}.jsonl"
        for number, row in enumerate(Reading(str(path)).rows() if path.is_file() else ()):
            yield Case(f"{name} {number}", family, [row], onset)


def healthy(folder: Path, streams: int, most: int, seed: int) -> list[Case]:
    """Return some healthy streams of a folder."""
    paths = sorted(folder.rglob("*.jsonl.gz"))
    chosen = sorted(random.Random(seed).sample(paths, min(streams, len(paths))))
    return [
        Case(
            f"{path.parent.name}/{path.name.removesuffix('.jsonl.gz')}",
            "healthy",
            list(Reading(str(path)).rows())[:most],
        )
        for path in chosen
    ]


def injected(hosts: Sequence[Case], bases: int, seed: int, words: Sequence[str] = ()) -> Iterator[Case]:
    """Yield each kind of collapse in a few hosts that are long enough for it to be found."""
    for name, kind in KINDS.items():
        if name.endswith(FOREIGN) or (words and not any(word in name for word in words)):
            continue
        fit = [host for host in hosts if len(host.rows) >= ONSET + kind.within]
        rng = random.Random(f"{seed} {name}")
        for host in rng.sample(fit, min(bases, len(fit))):
            shown = host.rows[: ONSET + max(AT_LEAST, kind.within)]
            rows = kind.inject(shown, ONSET, rng)
            yield Case(f"{name} in {host.name}", _family(name), rows, ONSET, host.name)


def _family(kind: str) -> str:
    if kind.startswith("loop_"):
        return "loops"
    return "tools" if kind in CALLS else "across"
