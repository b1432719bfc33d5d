"""The guards on real outputs: replays the files of `../shared/streams`, when that is there, into a table.

Run it as `python benchmarks/streams.py [FOLDER]`.  A row of the table is one file: its rows, the first trip, which
guards tripped how often, the seconds it took and the milliseconds for 1,000 characters.  Pasted outputs are judged
one by one. It knows no labels: the folder's own README says which files are healthy.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

from daemon.cli.transcript import Reading
from guards.replay import Row, replay, standard

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "streams"
FORM = "{:<58} {:>5} {:>6}  {:<44} {:>7} {:>7}"


def main(folder: Path) -> None:
    """Print the tables."""
    if not folder.is_dir():
        print(f"{folder} is not there: nothing to measure, skipped")
        return
    print(FORM.format("file", "rows", "first", "guards that tripped", "seconds", "ms/1k"))
    costs = [_one(path, folder) for path in sorted(folder.glob("*/*.jsonl.gz"))]
    if costs:
        print(f"median over files: {statistics.median(costs):.2f} ms for 1,000 characters")
    for path in sorted(folder.glob("pasted/*.jsonl")):
        _pasted(path)


def _one(path: Path, folder: Path) -> float:
    rows = list(Reading(str(path)).rows())
    panel = standard()
    begun = time.perf_counter()
    done = replay(rows, panel)
    seconds = time.perf_counter() - begun
    tripped = Counter(verdict.guard for _, verdict in done.trips)
    first = "-" if done.first_trip is None else str(done.first_trip)
    names = ", ".join(f"{guard} {count}" for guard, count in tripped.items()) or "-"
    cost = 1e6 * seconds / max(1, sum(_size(row) for row in rows))
    name = str(path.relative_to(folder)).removesuffix(".jsonl.gz")
    print(FORM.format(name[:58], done.rows, first, names, f"{seconds:.2f}", f"{cost:.2f}"))
    size = len(json.dumps(panel.state()))
    if size > 1_000_000:
        print(f"  the guards' memory is too large: {size} bytes")
    return cost


def _size(row: Row) -> int:
    return (
        len(row.output.text)
        + sum(len(str(call.args)) for call in row.output.calls)
        + sum(len(result.text) for result in row.results)
    )


def _pasted(path: Path) -> None:
    tripped: Counter[str] = Counter()
    total = caught = warned = 0
    for row in Reading(str(path)).rows():
        done = replay([row], standard())
        total += 1
        caught += bool(done.trips)
        warned += bool(done.warnings and not done.trips)
        tripped.update({verdict.guard for _, verdict in done.trips})
    by = ", ".join(f"{guard} {count}" for guard, count in tripped.items()) or "no guard"
    print(f"{path.name}: {total} outputs judged alone, {caught} tripped, {warned} warned only (by {by})")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
