"""False alarms: the whole panel on simulated years of healthy outputs, 96 a day.

Run it as `python benchmarks/false_alarms.py [FOLDER] [--years N] [--jobs N] [--seed N]`.  The outputs are short pieces
of real healthy text (`../shared/streams/healthy`, or FOLDER of .jsonl.gz files), drawn again and again in six ways, so
that a year is stationary and yet as dependent as real streams are:

iid     any piece of any text, independently
kept    texts in random order, each from its first piece to its last, so that neighbours share their topic
ar      the next piece is from the same text or one near it nine times in ten: topics that last for days
bursty  spells of tool calls without words, 10 outputs on average, in a stream that speaks otherwise
weekly  five days of one source, two days of another
daily   long outputs by day, short ones by night, and the pieces of `kept`

No piece comes back within a week.  A year needs more outputs than there are pieces, so that each does come back then,
word for word, which is harder on the guards than fresh text would be.
A false alarm is a trip with no trip of the same guard in the day before.  The table gives alarms for each agent-year
with an exact Poisson interval of 95 %.  Nothing here is a collapse, so every alarm is false.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import random
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path

from daemon.cli.transcript import Reading
from guards import Call, CallResult, Level, Output, Panel
from guards.promise import YEAR
from guards.reading import read

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "streams" / "healthy"
DAY = 96
APART = ("runner_images_bot", "rustc_perf_triage")
"""Files that are tables and one template: pieces of them are not what a healthy agent says."""
WAYS = ("iid", "kept", "ar", "bursty", "weekly", "daily")
TOOLS = ("calendar", "weather", "mail", "queue", "archive")

Texts = list[list[str]]


def main() -> None:
    """Print a line for each way and one for all."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    asked.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    asked.add_argument("--years", type=int, default=12, help="agent-years in all")
    asked.add_argument("--jobs", type=int, default=1)
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    if not given.folder.is_dir():
        print(f"{given.folder} is not there: nothing to measure, skipped")
        return
    names = [path for path in sorted(given.folder.glob("*.jsonl.gz")) if not path.name.startswith(APART)]
    work = [(WAYS[i % len(WAYS)], names, given.seed * 1000 + i) for i in range(given.years)]
    found: dict[str, list[Counter[str]]] = {way: [] for way in WAYS}
    with multiprocessing.Pool(given.jobs) as pool:
        for way, alarms in pool.imap_unordered(_year, work):
            found[way].append(alarms)
            print(f"  {sum(map(len, found.values()))} years: {way} {dict(alarms) or 'none'}", flush=True)
    print(f"{'way':<8} {'years':>5} {'alarms':>6}  alarms a year (95 % interval)  by guard")
    for way in WAYS:
        _tell(way, found[way])
    _tell("all", [alarms for every in found.values() for alarms in every])


def _tell(way: str, years: list[Counter[str]]) -> None:
    if not years:
        return
    total: Counter[str] = sum(years, Counter())
    alarms, n = total.total(), len(years)
    low, high = _interval(alarms)
    by = ", ".join(f"{guard} {count}" for guard, count in total.most_common()) or "-"
    print(f"{way:<8} {n:>5} {alarms:>6}  {alarms / n:.3f} ({low / n:.3f} to {high / n:.3f})  {by}")


def _year(work: tuple[str, list[Path], int]) -> tuple[str, Counter[str]]:
    way, names, seed = work
    chance = random.Random(seed)
    own, other = chance.sample(names, 2)
    panel, last, alarms = Panel.standard(), dict[str, int](), Counter[str]()
    for number, output in enumerate(_outputs(way, _texts(own), _texts(other), chance)):
        verdicts = panel.update(output)
        if output.calls:
            verdicts += panel.observe([CallResult(True, f"entry {chance.randrange(10_000)}") for _ in output.calls])
        for verdict in verdicts:
            if verdict.level is Level.TRIP:
                alarms[verdict.guard] += number - last.get(verdict.guard, -DAY) >= DAY
                last[verdict.guard] = number
    return way, +alarms


def _outputs(way: str, texts: Texts, others: Texts, chance: random.Random) -> Iterator[Output]:
    """Give a year of outputs."""
    streams = {False: _stream(way, texts, chance), True: _stream(way, others, chance)}
    silent = False
    for number in range(YEAR):
        weekend = way == "weekly" and number // DAY % 7 > 4
        text = next(streams[weekend])
        silent = way == "bursty" and (chance.random() > 1 / 10 if silent else chance.random() < 1 / 40)
        if way == "daily" and not 24 < number % DAY < 72:
            text = text[: max(40, len(text) // 4)]
        calls = (Call(chance.choice(TOOLS), {"n": chance.randrange(1000)}),) if silent or way == "bursty" else ()
        yield Output("" if silent else text, calls, ts=1.7e9 + 900.0 * number)


def _stream(way: str, texts: Texts, chance: random.Random) -> Iterator[str]:
    """Give pieces without end, none that was given within a week (or half of all, where there are fewer)."""
    lately: deque[str] = deque(maxlen=min(7 * DAY, sum(map(len, texts)) // 2))
    known: set[str] = set()
    for piece in _drawn(way, texts, chance):
        if piece not in known:
            if len(lately) == lately.maxlen:
                known.discard(lately[0])
            lately.append(piece)
            known.add(piece)
            yield piece


def _drawn(way: str, texts: Texts, chance: random.Random) -> Iterator[str]:
    here = chance.randrange(len(texts))
    while True:
        if way == "iid":
            yield chance.choice(chance.choice(texts))
        elif way == "ar":
            here = (here + chance.choice((-2, -1, 0, 1, 2))) if chance.random() < 0.98 else chance.randrange(len(texts))
            here = min(max(here, 0), len(texts) - 1)
            yield chance.choice(texts[here])
        else:
            yield from chance.choice(texts)


def _texts(path: Path) -> Texts:
    """Return each text's pieces of one or two sentences."""
    chance = random.Random(path.name)
    found = []
    for row in Reading(str(path)).rows():
        sentences = [part.strip() for part in read(row.output.text).prose.replace(". ", ".\n").split("\n")]
        sentences = [part for part in sentences if part.count(" ") > 3]
        pieces, at = [], 0
        while at < len(sentences):
            size = chance.randint(1, 2)
            pieces.append(" ".join(sentences[at : at + size])[:300])
            at += size
        if pieces:
            found.append(pieces)
    return found


def _interval(count: int) -> tuple[float, float]:
    """Return the exact 95 % interval of a Poisson mean (Garwood 1936), by bisection of its distribution."""

    def below(mean: float, most: int) -> float:
        return math.fsum(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(most + 1))

    def solve(most: int, share: float) -> float:
        low, high = 1e-9, 10.0 * (count + 5)
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if below(middle, most) > share else (low, middle)
        return high

    return (solve(count - 1, 0.975) if count else 0.0), solve(count, 0.025)


if __name__ == "__main__":
    main()
