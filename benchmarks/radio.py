"""Four radio stations for 184 simulated days, 240 outputs a day: how soon reported pathologies trip, how seldom health.

Run it as `python benchmarks/radio.py [--days N] [--seeds N] [--guards NAME,NAME] [--only WORD]`; the whole takes long.
A station talks healthily until a stated day; from there on, a pathology goes its own way from the same memory
of the guards and ends with its first trip.  One healthy host talks for all days.  Where nothing tripped after a change
of model, the warning by the start of the model before stands in brackets.
Trips of a healthy host that follow each other within twenty outputs count as one.
"""

from __future__ import annotations

import argparse
import copy
import random
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

from judging import panel
from radio_pathologies import PATHOLOGIES, Pathology
from radio_talk import A_DAY, WORD, Host

from guards.base import Level
from guards.panel import Panel
from guards.replay import Row

DAYS = 184
EPISODE = 20
PATHOLOGY = "{:<44} {:>8} {:>6} {:>4} {:>7} {:>6}  {}"
HEALTH = "{:<14} {:>5} {:>5} {:>6} {:>24}  {}"
DIVERSITY = 1_500
"""Running words in which distinct ones are counted for the diversity: the mean over the stream."""
HEALTHY = "Meadow One"


@dataclass(frozen=True, slots=True)
class Heard:
    """What the panel said: outputs until the first trip, the guard, and its reason; None when there was none."""

    delay: int | None
    guard: str = ""
    reason: str = ""


def trips(rows: Iterator[Row], watched: Panel) -> Iterator[tuple[int, str, str]]:
    """Yield (row, guard, reason) of each first trip of an episode."""
    last = -EPISODE
    for number, row in enumerate(rows):
        said_now = [*watched.update(row.output), *(watched.observe(row.results) if row.results else ())]
        worst = max((v for v in said_now if v.level is Level.TRIP), key=lambda v: v.score, default=None)
        if worst is not None:
            if number - last >= EPISODE:
                yield number, worst.guard, worst.reason
            last = number


class Station:
    """One station with its host and its guards, healthy up to the days of its pathologies."""

    def __init__(self, name: str, seed: int, guards: Sequence[str]) -> None:
        self.name, self.seed, self.guards = name, seed, guards
        self.host = Host(name, seed)
        self.panel = panel(guards)
        self.heard: list[tuple[int, str, str]] = []
        self.at = 0
        self.words: list[str] = []
        self.diversity: list[float] = []

    def talk(self, until: int) -> None:
        """Go on healthily until an output."""
        start = self.at
        for number, guard, reason in trips(self._rows(until), self.panel):
            self.heard.append((start + number, guard, reason))

    def _rows(self, until: int) -> Iterator[Row]:
        while self.at < until:
            row = self.host.row(self.at)
            self.at += 1
            self._count(row)
            yield row

    def _count(self, row: Row) -> None:
        self.words += WORD.findall(row.output.text.lower())
        if len(self.words) >= DIVERSITY:
            self.diversity.append(len(set(self.words[:DIVERSITY])) / DIVERSITY)
            self.words = []

    def suffer(self, pathology: Pathology) -> Heard:
        """Let a pathology begin now, beside the stream, with a copy of the guards' memory."""
        rng = random.Random(f"{self.seed} {pathology.name}")
        sick, twin, watched = pathology.make(rng), copy.deepcopy(self.host), panel(self.guards)
        watched.load(self.panel.state())
        rows = [sick(k, twin.row(self.at + k)) for k in range(pathology.outputs)]
        number, guard, reason = next(trips(iter(rows), watched), (None, "", ""))
        if number is None and (told := self._told(rows)):
            guard, reason = told
        return Heard(None if number is None else number + 1, guard, reason)

    def _told(self, rows: Sequence[Row]) -> tuple[str, str] | None:
        """Return what the guards would have said by the start of the model before, and so only warned of."""
        watched = panel(self.guards)
        watched.load(self.panel.state())
        for number, row in enumerate(rows):
            for verdict in watched.update(row.output):
                if verdict.level is Level.WARN and verdict.reason.startswith("against"):
                    return f"(warning after {number + 1} by {verdict.guard})", verdict.reason
        return None


@dataclass(frozen=True, slots=True)
class Story:
    """What became of one station: its healthy days, the false trips in them, its diversity, and its pathologies."""

    station: str
    seed: int
    days: float
    false: tuple[tuple[int, str, str], ...]
    diversity: float
    heard: tuple[tuple[str, Heard], ...]


def live(job: tuple[str, int], days: int, guards: Sequence[str], only: str) -> Story:
    """Let a station live: healthily between the days of its pathologies, all days where it has none."""
    name, seed = job
    station = Station(name, seed, guards)
    mine = [p for p in PATHOLOGIES if p.station == name and only in p.name]
    heard = []
    for pathology in sorted(mine, key=lambda p: p.day):
        station.talk(_day(pathology, days) * A_DAY)
        heard.append((pathology.name, station.suffer(pathology)))
    if name == HEALTHY:
        station.talk(days * A_DAY)
    diversity = statistics.fmean(station.diversity) if station.diversity else 0.0
    return Story(name, seed, station.at / A_DAY, tuple(station.heard), diversity, tuple(heard))


def _day(pathology: Pathology, days: int) -> int:
    """Return the day of the onset: its own in the whole half year, in proportion in a shorter run."""
    return max(1, round(pathology.day * days / DAYS))


def report(stories: Sequence[Story], days: int, explain: bool) -> None:
    """Print both tables."""
    print(PATHOLOGY.format("pathology", "from day", "found", "of", "median", "max", "guard that tripped first"))
    for pathology in PATHOLOGIES:
        heard = [one for story in stories for name, one in story.heard if name == pathology.name]
        delays = [one.delay for one in heard if one.delay is not None]
        by = ", ".join(f"{guard} {n}" for guard, n in Counter(one.guard for one in heard if one.guard).most_common())
        middle = f"{statistics.median(delays):.0f}" if delays else "-"
        name = pathology.name + (" (should not trip)" if pathology.healthy else "")
        print(
            PATHOLOGY.format(name, _day(pathology, days), len(delays), len(heard), middle, max(delays, default="-"), by)
        )
        for one in heard if explain else ():
            print(f"      {one.delay} {one.guard}: {one.reason}")
    print("\n" + HEALTH.format("healthy host", "seed", "days", "trips", f"distinct of {DIVERSITY} words", "guards"))
    for story in stories:
        by = ", ".join(f"{guard} {n}" for guard, n in Counter(guard for _, guard, _ in story.false).most_common())
        share = f"{100 * story.diversity:.0f} %"
        print(HEALTH.format(story.station, story.seed, f"{story.days:.0f}", len(story.false), share, by or "-"))
        for row, guard, reason in story.false if explain else ():
            print(f"      day {row // A_DAY}, output {row}: {guard}: {reason}")


def main() -> None:
    """Run the stations and print the tables."""
    parser = argparse.ArgumentParser(prog="benchmarks/radio.py", description="Watch simulated stations for months.")
    parser.add_argument("--days", type=int, default=DAYS, help="fewer days bring the onsets forward too")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--guards", default="", metavar="NAME[,NAME]", help="only these guards (all)")
    parser.add_argument("--only", default="", metavar="WORD", help="only pathologies whose names hold this")
    parser.add_argument("--station", default="", metavar="NAME", help="only this station")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--explain", action="store_true", help="the reason of each trip")
    given = parser.parse_args()
    begun = time.perf_counter()
    stations = dict.fromkeys([HEALTHY, *(p.station for p in PATHOLOGIES)])
    jobs = [(name, seed) for name in stations if given.station in name for seed in range(1, given.seeds + 1)]
    guards = tuple(name for name in given.guards.split(",") if name)
    work = partial(live, days=given.days, guards=guards, only=given.only)
    if given.jobs > 1:
        with get_context("fork").Pool(given.jobs) as pool:
            stories = pool.map(work, jobs, chunksize=1)
    else:
        stories = [work(job) for job in jobs]
    report(stories, given.days, given.explain)
    print(f"\n{time.perf_counter() - begun:.0f} s, {given.days} days of {A_DAY} outputs, {given.seeds} seeds")


if __name__ == "__main__":
    main()
