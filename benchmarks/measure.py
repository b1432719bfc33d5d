"""The tables of the guards' measurement; `python benchmarks/guards.py` prints them."""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from bases import FOLDER, Stream, read_folder, variants
from collapses import KINDS
from judging import ONSETS, Case, Host, Judged, alone, judge, panel
from machine_text import machine_streams

from daemon.cli.transcript import Reading

T = TypeVar("T")
R = TypeVar("R")
PASTED = {"positives": (52, 49), "negatives": (34, 1)}
"""Outputs in a file, and how many should trip at least, or at most."""
LONGEST_KIND = 300
LABELLED = "{:<62} {:>5} {:>5} {:>5}  {}"
INJECTED = "{:<24} {:>7} {:>8} {:>4} {:>7} {:>5} {:>7}  {}"


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/guards.py", description="Measure the guards on real and made streams."
    )
    parser.add_argument("folders", nargs="*", type=Path, help="more folders of healthy streams (.jsonl.gz)")
    parser.add_argument("--guards", default="", metavar="NAME[,NAME]", help="only these (or module:Class)")
    parser.add_argument("--parts", default="abcd", help="tables: a labelled, b variants, c machine, d injected")
    parser.add_argument("--kinds", default="", metavar="WORD[,WORD]", help="only kinds whose names hold a word")
    parser.add_argument("--bases", type=int, default=4, help="hosts for each injected kind (4)")
    parser.add_argument("--hosts", type=int, default=16, help="hosts to choose from (16)")
    parser.add_argument("--rows", type=int, default=240, help="rows of a healthy stream in tables b and c (240)")
    parser.add_argument(
        "--streams", type=int, default=40, help="healthy streams of the folders in table b, at most (40)"
    )
    parser.add_argument("--machine", type=int, default=5, help="streams of each sort of text from this machine (5)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--held-out", action="store_true", help="the half of the words that no guard was written on")
    parser.add_argument("--explain", action="store_true", help="the reason of each trip (quotes third-party text)")
    given = parser.parse_args(arguments)
    given.guards = tuple(name for name in given.guards.split(",") if name)
    return given


class Measure:
    """One run: its options, and the counts for the breakdown by guard."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.false: Counter[tuple[str, str]] = Counter()
        self.tally: Counter[str] = Counter()
        self.found: Counter[str] = Counter()

    def run(self) -> None:
        """Print the tables that were asked for."""
        begun = time.perf_counter()
        healthy = self._labelled()
        extra = [stream for folder in self.options.folders for stream in read_folder(folder)]
        machine = list(machine_streams(self.options.machine, 2 * self.options.rows, self.options.seed))
        if "b" in self.options.parts:
            for name, streams in (("variants of the labelled healthy", healthy), ("extra folders", extra)):
                self._variants(name, self._some(streams))
        if "c" in self.options.parts:
            self._variants("this machine's text", machine)
        if "d" in self.options.parts:
            self._injected([*healthy, *extra, *machine])
        self._breakdown()
        print(f"\n{time.perf_counter() - begun:.0f} s, seed {self.options.seed}")

    def _some(self, streams: Sequence[Stream]) -> list[Stream]:
        most = self.options.streams
        chosen = random.Random(self.options.seed).sample(range(len(streams)), min(most, len(streams)))
        return [streams[i] for i in sorted(chosen)]

    def _each(self, function: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        if self.options.jobs < 2:
            yield from map(function, items)
            return
        with get_context("fork").Pool(self.options.jobs) as pool:
            yield from pool.imap(function, items)

    def _labelled(self) -> list[Stream]:
        if not FOLDER.is_dir():
            print("the labelled streams (shared/streams beside the checkout) are not there: skipped")
            return []
        streams = list(read_folder(FOLDER))
        if "a" in self.options.parts:
            print("(a) labelled streams\n" + LABELLED.format("stream", "rows", "onset", "first", "verdict"))
            for stream, done in zip(streams, self._each(partial(_judged, self.options.guards), streams), strict=True):
                self._label(stream, done)
            self._summary(streams)
            self._pasted()
        return [stream for stream in streams if stream.label is None]

    def _label(self, stream: Stream, done: Judged) -> None:
        label = stream.label
        onset = len(stream.rows) if label is None else label.onset
        early = {guard for guard, (row, _) in done.first.items() if row < onset}
        after = min(((row, guard) for guard, (row, _) in done.first.items() if row >= onset), default=None)
        said = f"FALSE: {', '.join(sorted(early))}; " if early else ""
        if label is not None:
            timely = after is not None and after[0] - onset <= label.within
            said += "MISSED" if after is None else f"{after[1]} {after[0] - onset} after the onset"
            said += ("" if timely or after is None else " (LATE)") + ("" if label.counts else " (counts apart)")
            self.tally["in time"] += timely and label.counts
        if label is None or label.counts:
            self.tally["false"] += bool(early)
        self.false.update({(guard, "labelled"): 1 for guard in early})
        when = ["-" if label is None else onset, "-" if done.earliest is None else done.earliest[0]]
        print(LABELLED.format(stream.name[-62:], len(stream.rows), *when, said or "quiet"), flush=True)
        self._reasons(done)

    def _summary(self, streams: Sequence[Stream]) -> None:
        sick = sum(stream.label is not None and stream.label.counts for stream in streams)
        counted = sick + sum(stream.label is None for stream in streams)
        print(
            f"of {counted} streams {self.tally['false']} trip while healthy; "
            f"of {sick} collapses {self.tally['in time']} are found in time"
        )

    def _reasons(self, done: Judged) -> None:
        if self.options.explain:
            for guard, (row, reason) in sorted(done.first.items(), key=lambda item: item[1][0]):
                print(f"      {row} {guard}: {reason}")

    def _pasted(self) -> None:
        for name, (total, wanted) in PASTED.items():
            path = FOLDER / "pasted" / f"{name}.jsonl"
            if not path.is_file():
                continue
            done = [alone(row, self.options.guards) for row in Reading(str(path)).rows()]
            tripped = [one for one in done if one.first]
            by = ", ".join(f"{g} {n}" for g, n in Counter(g for one in tripped for g in one.first).most_common())
            limit = f"wanted {'at least' if name == 'positives' else 'at most'} {wanted} of {total}"
            print(f"pasted {name}: {len(tripped)} of {len(done)} trip ({by or 'none'}); {limit}")

    def _variants(self, title: str, streams: Sequence[Stream]) -> None:
        if not streams:
            print(f"\n{title}: nothing there, skipped")
            return
        made = [v for s in streams for v in (s, *variants(s, self.options.rows, self.options.seed))]
        tripped: dict[str, list[str]] = defaultdict(list)
        rows = bad = 0
        reasons: list[tuple[str, Judged]] = []
        for stream, done in zip(made, self._each(partial(_judged, self.options.guards), made), strict=True):
            rows += done.rows
            if done.first:
                bad += "[" in stream.name
                base, _, variant = stream.name.partition(" [")
                tripped[base].append(f"{variant.rstrip(']') or 'whole'}: {', '.join(sorted(done.first))}")
                reasons.append((stream.name, done))
            for guard in done.first:
                self.false[guard, title] += 1
        total = sum("[" in stream.name for stream in made)
        whole = sum(any(one.startswith("whole") for one in said) for said in tripped.values())
        print(
            f"\n{title}: {whole} of {len(streams)} streams trip as they are; of {total} variants {bad} trip"
            f" ({100 * bad / max(1, total):.1f} %), {rows} outputs"
        )
        for base, said in tripped.items():
            print(f"  {base[-60:]}: {'; '.join(said)}")
        for name, done in reasons if self.options.explain else ():
            print(f"    {name}")
            self._reasons(done)

    def _injected(self, streams: Sequence[Stream]) -> None:
        """Print how many injected collapses are found, how late, and by which guard."""
        begun = partial(Host.of, names=self.options.guards, seed=self.options.seed, most=LONGEST_KIND)
        hosts = list(self._each(begun, self._bases(streams)))
        words = [word for word in self.options.kinds.split(",") if word]
        kinds = [name for name in KINDS if not words or any(word in name for word in words)]
        words_from = "held-out" if self.options.held_out else "open"
        print(f"\n(d) injected collapses, {words_from} half of the words, {len(hosts)} hosts")
        print(INJECTED.format("kind", "found", "in time", "of", "median", "max", "before", "by (first); others"))
        totals: Counter[str] = Counter()
        for name in kinds:
            cases = list(self._each(partial(_suffered, name, self.options), self._hosts(name, hosts)))
            self._row(name, cases, totals)
        found, timely = f"{totals['found']} of {totals['cases']} found", f"{totals['in time']} in time"
        print(f"all: {found}, {timely}, {totals['before']} on hosts that had tripped before")

    def _bases(self, streams: Sequence[Stream]) -> list[Stream]:
        """Return streams to inject into: half of them long enough for the slowest kinds, the others of any length."""
        long = [stream for stream in streams if len(stream.rows) >= LONGEST_KIND + min(ONSETS)]
        short = [stream for stream in streams if stream not in long and len(stream.rows) >= 2 * min(ONSETS)]
        dice, half = random.Random(self.options.seed), self.options.hosts // 2
        return [stream for some in (long, short) for stream in dice.sample(some, min(half, len(some)))]

    def _hosts(self, name: str, hosts: Sequence[Host]) -> list[Host]:
        fit = [host for host in hosts if host.room() >= KINDS[name].within]
        return random.Random(f"{self.options.seed} {name}").sample(fit, min(self.options.bases, len(fit)))

    def _row(self, name: str, cases: Sequence[Case], totals: Counter[str]) -> None:
        delays = [case.delay for case in cases if case.delay is not None]
        timely = sum(delay <= KINDS[name].within for delay in delays)
        before = sum(bool(case.before) for case in cases)
        by = Counter(case.guard for case in cases if case.guard)
        others = Counter(guard for case in cases for guard in case.others)
        self.found.update(by)
        totals.update({"cases": len(cases), "found": len(delays), "in time": timely, "before": before})
        middle = f"{statistics.median(delays):.0f}" if delays else "-"
        said = _counted(by) + (f"; others: {_counted(others)}" if others else "")
        latest = max(delays, default=0) or "-"
        print(INJECTED.format(name, len(delays), timely, len(cases), middle, latest, before, said), flush=True)
        for case in cases if self.options.explain else ():
            print(f"      {case.base}: {case.delay} {case.reason}")

    def _breakdown(self) -> None:
        titles = dict.fromkeys(title for _, title in self.false)
        print(f"\n(e) by guard: {'guard':<14} {'detections':>10}  streams and variants tripped falsely")
        for guard in (one.name for one in panel(self.options.guards).guards):
            false = ", ".join(f"{title} {self.false[guard, title]}" for title in titles if self.false[guard, title])
            print(f"              {guard:<14} {self.found[guard]:>10}  {false or 'none'}")


def _counted(counts: Iterable[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in Counter(counts).most_common())


def _judged(names: Sequence[str], stream: Stream) -> Judged:
    return judge(stream.rows, panel(names))


def _suffered(name: str, options: argparse.Namespace, host: Host) -> Case:
    return host.suffer(name, options.seed, options.held_out)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    Measure(_options(arguments)).run()
