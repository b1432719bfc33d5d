"""False alarms: the whole panel on simulated years of healthy outputs, 96 a day.

Run it as `python benchmarks/false_alarms.py [FOLDER...] [--years N] [--jobs N] [--seed N] [--into FILE]`.  The outputs
are short pieces of real healthy text (`../shared/streams/healthy`, or the .jsonl.gz files of FOLDERs), drawn again and
again in six ways, so that a year is stationary and yet as dependent as real streams are:

iid     any piece of any text, independently
kept    texts in random order, each from its first piece to its last, so that neighbours share their topic
ar      the next piece is from the same text or one near it nine times in ten: topics that last for days
bursty  spells of tool calls without words, 10 outputs on average, in a stream that speaks otherwise
weekly  five days of one source, two days of another
daily   long outputs by day, short ones by night, and the pieces of `kept`

No piece comes back within a week.  A year needs more outputs than there are pieces, so that each does come back then,
word for word, which is harder on the guards than fresh text would be.
The guards' memory goes through JSON once a week on average, as it does when a daemon starts again.  In every second
year outputs come in named turns of two, the first of which calls a tool.  In every fourth year the model changes once,
at a random moment: from there on the stream bears another name, and its two sources change places.
A false alarm is a trip with no trip of the same guard in the day before.  The table gives alarms for each agent-year
with an exact Poisson interval of 95 %.  Nothing here is a collapse, so every alarm is false.  With --into, each year
that is done becomes a line of FILE; years that stand there are not simulated again, and the table is of all of them.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import random
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

from daemon.cli.transcript import Reading
from guards import Call, CallResult, Level, Output, Panel
from guards.promise import YEAR
from guards.reading import read

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "streams" / "healthy"
DAY = 96
WEEK = 7 * DAY
APART = ("runner_images_bot", "rustc_perf_triage")
"""Files that are tables and one template: pieces of them are not what a healthy agent says."""
FEWEST = 400
"""Pieces of a source, at least: those of fewer would come back too often."""
WAYS = ("iid", "kept", "ar", "bursty", "weekly", "daily")
TOOLS = ("calendar", "weather", "mail", "queue", "archive")

Texts = list[list[str]]


@dataclass(frozen=True)
class Year:
    """One year: its number decides the way, whether turns are named and the model changes; `seed` all the rest."""

    number: int
    seed: int
    sources: tuple[Path, ...]

    @property
    def way(self) -> str:
        """How pieces are drawn."""
        return WAYS[self.number % len(WAYS)]

    @property
    def turns(self) -> bool:
        """Whether outputs come in named turns of two."""
        return self.number // len(WAYS) % 2 == 1

    @property
    def models(self) -> bool:
        """Whether the model changes once."""
        return (self.number // len(WAYS) + self.number % len(WAYS)) % 4 == 3

    def line(self, alarms: Counter[str]) -> dict[str, object]:
        """Return what a file keeps of it."""
        said = {"way": self.way, "turns": self.turns, "models": self.models, "alarms": alarms}
        return {"seed": self.seed, "year": self.number, **said}


def main() -> None:
    """Print a line for each way and one for all."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    asked.add_argument("folders", nargs="*", type=Path, default=[FOLDER])
    asked.add_argument("--years", type=int, default=12, help="agent-years in all")
    asked.add_argument("--jobs", type=int, default=1)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--into", type=Path, help="a file of JSON lines to go on with")
    given = asked.parse_args()
    missing = [folder for folder in given.folders if not folder.is_dir()]
    if missing:
        print(f"{missing[0]} is not there: nothing to measure, skipped")
        return
    names = [path for folder in given.folders for path in sorted(folder.glob("*.jsonl.gz"))]
    sources = tuple(path for path in names if not path.name.startswith(APART) and _rich(path))
    done = [json.loads(line) for line in given.into.read_text().splitlines()] if _there(given.into) else []
    known = {(line["seed"], line["year"]) for line in done}
    years = [Year(number, given.seed, sources) for number in range(given.years)]
    work = [year for year in years if (year.seed, year.number) not in known]
    with multiprocessing.Pool(given.jobs) as pool:
        for line in pool.imap_unordered(simulate, work):
            done.append(line)
            print(f"  {len(done)} years: {line['way']} {line['alarms'] or 'none'}", flush=True)
            if given.into:
                with given.into.open("a") as file:
                    file.write(json.dumps(line) + "\n")
    report(done)


def _there(path: Path | None) -> bool:
    return path is not None and path.exists()


def report(lines: Sequence[Mapping[str, Any]]) -> None:
    """Print the table of the years."""
    print(f"{'years':<14} {'years':>5} {'alarms':>6}  alarms a year (95 % interval)  by guard")
    for way in WAYS:
        _tell(way, [line for line in lines if line["way"] == way])
    _tell("named turns", [line for line in lines if line["turns"]])
    _tell("two models", [line for line in lines if line["models"]])
    _tell("all", lines)


def _tell(title: str, lines: Sequence[Mapping[str, Any]]) -> None:
    if not lines:
        return
    total: Counter[str] = Counter()
    for line in lines:
        total.update(line["alarms"])
    alarms, n = total.total(), len(lines)
    low, high = interval(alarms)
    by = ", ".join(f"{guard} {count}" for guard, count in total.most_common()) or "-"
    print(f"{title:<14} {n:>5} {alarms:>6}  {alarms / n:.3f} ({low / n:.3f} to {high / n:.3f})  {by}")


def simulate(year: Year, outputs: int = YEAR) -> dict[str, object]:
    """Show a year, or its first outputs, to a panel; return its line."""
    chance = random.Random(f"{year.seed} {year.number}")
    own, other = chance.sample(year.sources, 2)
    panel, last, alarms = Panel.standard(), dict[str, int](), Counter[str]()
    for number, output in enumerate(_outputs(year, _texts(own), _texts(other), chance)):
        if number == outputs:
            break
        if chance.random() < 1 / WEEK:
            panel = _started_again(panel)
        verdicts = panel.update(output)
        if output.calls:
            verdicts += panel.observe([CallResult(True, f"entry {chance.randrange(10_000)}") for _ in output.calls])
        for verdict in verdicts:
            if verdict.level is Level.TRIP:
                alarms[verdict.guard] += number - last.get(verdict.guard, -DAY) >= DAY
                last[verdict.guard] = number
    return year.line(+alarms)


def _started_again(panel: Panel) -> Panel:
    """Return a new panel with the memory of this one, which went through JSON."""
    memory, again = json.dumps(panel.state()), Panel.standard()
    again.load(json.loads(memory))
    if json.dumps(again.state()) != memory:
        raise SystemExit("a panel that was saved and loaded is not the same")
    return again


def _outputs(year: Year, texts: Texts, others: Texts, chance: random.Random) -> Iterator[Output]:
    """Give outputs without end, a year of them with its change of model."""
    way, silent = year.way, False
    streams = {False: _stream(way, texts, chance), True: _stream(way, others, chance)}
    change = chance.randrange(YEAR // 4, YEAR * 3 // 4) if year.models else YEAR
    for number in count():
        after = number >= change
        weekend = way == "weekly" and number // DAY % 7 > 4
        text = next(streams[weekend is not after])
        silent = way == "bursty" and (chance.random() > 1 / 10 if silent else chance.random() < 1 / 40)
        if way == "daily" and not 24 < number % DAY < 72:
            text = text[: max(40, len(text) // 4)]
        works = silent or way == "bursty" or (year.turns and number % 2 == 0)
        calls = (Call(chance.choice(TOOLS), {"n": chance.randrange(1000)}),) if works else ()
        turn, model = f"run-{number // 2}" if year.turns else None, ("first", "second")[after] if year.models else ""
        yield Output("" if silent else text, calls, turn, ts=1.7e9 + 900.0 * number, model=model)


def _stream(way: str, texts: Texts, chance: random.Random) -> Iterator[str]:
    """Give pieces without end, none that was given within a week (or half of all, where there are fewer)."""
    lately: deque[str] = deque(maxlen=min(WEEK, sum(map(len, texts)) // 2))
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


def _rich(path: Path) -> bool:
    return sum(map(len, _texts(path))) >= FEWEST


@lru_cache(maxsize=4)
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


def interval(count: int) -> tuple[float, float]:
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
