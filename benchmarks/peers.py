"""Trimtab's panel side by side with other systems' own detectors, on the same streams in one run.

Run it as `python benchmarks/peers.py --install [FOLDER...]` with Node and npm on the machine; without `--install` it
uses what is in the cache folder and downloads nothing.  Each system's real class runs in a process of its own, without
a network where `unshare` allows it.  "native" forgets at every new prompt, as the system itself does; "carried" never
forgets.  All systems see an output before any sees the next, in turning order, so that times are compared under the
same load: quote their ratios, with the size of the pieces that texts come in (a peer that starts over at headings,
lists or digits costs less in small ones), not the microseconds.  gemini-cli's second opinion by a model is not asked.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from bases import FOLDER
from peer_setup import cache
from peer_streams import Case, control, healthy, injected, real
from peer_systems import Bench, Trimtab

from guards.replay import Row

FAMILIES = {
    "control": "failing call twelve times in one prompt, which shows that each system is asked rightly",
    "real": "real collapses",
    "pasted": "pasted degenerate outputs",
    "loops": "loops in one output",
    "tools": "tool calls",
    "across": "across outputs",
}
Key: TypeAlias = tuple[str, str]
"""A system's name and scope."""
Times: TypeAlias = dict[Key, list[int]]
"""Nanoseconds, one number an output."""
HEALTHY = ("healthy", "healthy, pasted")
PANEL = (Trimtab.name, Trimtab.scope)
LENGTHS = ((0, 300), (300, 2_000), (2_000, 1_000_000_000))
COLUMNS = ("median", "95th", "mean", "to 300", "to 2,000", "longer")
"""Costs of all outputs, and the medians of those of these lengths in characters."""
LEAST_SAID = 200
"""Characters of an output from which a cost for 1,000 characters means something."""
PER_SECOND = 400
"""Characters that 100 tokens a second write, at 4 characters a token."""


@dataclass(slots=True)
class Score:
    """What one system found and what it flagged falsely."""

    found: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    delays: list[int] = field(default_factory=list)
    streams: int = 0
    trips: int = 0
    pasted: int = 0
    early: int = 0
    missed: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, flags: dict[str, set[int]], cases: Iterable[Case]) -> Score:
        """Count: what a system flags in the healthy stream as well is no detection in the collapsing one."""
        score = cls()
        for case in cases:
            flagged = flags.get(case.name, set())
            if case.family in HEALTHY:
                score.false += [case.name] if flagged else []
                score.pasted += bool(flagged) and case.family != "healthy"
                score.streams += bool(flagged) and case.family == "healthy"
                score.trips += len(flagged - {row + 1 for row in flagged}) if case.family == "healthy" else 0
                continue
            onset = case.onset or 0
            if case.family == "real":
                score.early += any(row < onset for row in flagged)
            hits = [row for row in flagged - flags.get(case.base, set()) if row >= onset]
            score.found[case.family] += bool(hits)
            score.missed += [] if hits else [case.name]
            if hits and case.family not in ("pasted", "control"):
                score.delays.append(min(hits) - onset + 1)
        return score


def report(bench: Bench, cases: Sequence[Case]) -> None:
    """Print what was found, when, and what was flagged falsely."""
    sizes = {family: sum(case.family == family for case in cases) for family in (*FAMILIES, *HEALTHY)}
    plain = [case for case in cases if case.family == "healthy"]
    print("\nfound, of")
    for family, name in FAMILIES.items():
        print(f"  {family + ':':<8} {sizes[family]} {name}")
    print("delay: median outputs from the onset to the detection, the control and pasted ones apart")
    print(
        f"false: of {sizes['healthy']} healthy streams, trips in their {sum(len(case.rows) for case in plain)} outputs,"
    )
    print(f"       of {sizes['healthy, pasted']} pasted normal outputs; before the onset, of {sizes['real']} real ones")
    form = "{:<20} {:<9}" + " {:>7}" * 6 + " {:>6}" + " {:>8}" * 4
    print(form.format("", "", *FAMILIES, "delay", "streams", "trips", "normal", "early"))
    for (name, scope), flags in bench.flags.items():
        score = Score.of(flags, cases)
        late = f"{statistics.median(score.delays):.0f}" if score.delays else "-"
        false = (score.streams, score.trips, score.pasted, score.early)
        print(form.format(name, scope, *(score.found[family] for family in FAMILIES), late, *false))
    ours = Score.of(bench.flags[PANEL], cases)
    print(f"trimtab did not find: {'; '.join(ours.missed) or 'nothing'}")
    print(f"trimtab tripped falsely on: {'; '.join(ours.false) or 'nothing'}")


def costs(passes: Sequence[Times], rows: Sequence[Row]) -> None:
    """Print microseconds for an output, the least of the passes of each, and the panel beside the slowest peer."""
    whole = [key for key in passes[0] if all(len(one.get(key, ())) == len(rows) for one in passes)]
    least = {key: [min(each) for each in zip(*(one[key] for one in passes), strict=True)] for key in whole}
    sizes = [len(row.output.text) for row in rows]
    print(f"\nmicroseconds for an output, {len(rows)} outputs, the least of {len(passes)} passes of each")
    form = "{:<20} {:<9}" + " {:>10}" * len(COLUMNS)
    print(form.format("", "", *COLUMNS))
    table = {key: _columns(ns, sizes) for key, ns in least.items()}
    for key, columns in table.items():
        print(form.format(*key, *(f"{value / 1e3:.1f}" for value in columns)))
    for scope in ("native", "carried"):
        peers = [key for key in whole if key[1] == scope]
        if peers:
            name, ratios = _over(least, peers, sizes)
            print(form.format("panel over slowest", scope, *ratios) + f"  ({name})")
            for number, one in enumerate(passes, 1):
                print(form.format("", f"pass {number}", *_over(one, peers, sizes)[1]))
    _panel(least[PANEL], rows)


def _over(times: Times, peers: Sequence[Key], sizes: Sequence[int]) -> tuple[str, list[str]]:
    """Return the peer with the greatest mean, and the panel's columns over that peer's."""
    slowest = max(peers, key=lambda key: sum(times[key]))
    pairs = zip(_columns(times[PANEL], sizes), _columns(times[slowest], sizes), strict=True)
    return slowest[0], [f"{ours / theirs:.2f}" if theirs else "-" for ours, theirs in pairs]


def _columns(ns: Sequence[int], sizes: Sequence[int]) -> list[float]:
    """Return median, 95th percentile and mean of all, and medians by length."""
    by_length = [[took for took, size in zip(ns, sizes, strict=True) if low <= size < high] for low, high in LENGTHS]
    return [_middle(ns), _high(ns), statistics.fmean(ns), *(_middle(some) if some else 0.0 for some in by_length)]


def _panel(ns: Sequence[int], rows: Sequence[Row]) -> None:
    """Print the panel's cost by length, and beside the time in which the output is written."""
    said = [len(row.output.text) + sum(len(json.dumps(dict(c.args))) for c in row.output.calls) for row in rows]
    size = [n + sum(len(result.text) for result in row.results) for n, row in zip(said, rows, strict=True)]
    thousand = [took / n / 1e3 for took, n in zip(ns, size, strict=True) if n >= LEAST_SAID]
    shares = [took * 1e-9 * PER_SECOND / n for took, n in zip(ns, said, strict=True) if n]
    if thousand and shares:
        print(
            f"panel: {_middle(thousand):.2f} ms for 1,000 characters at the median, {_high(thousand):.2f} at the 95th"
        )
        long = [n for took, n in zip(ns, said, strict=True) if n and took * 1e-9 * PER_SECOND > 0.01 * n]
        print(
            f"  share of the time in which 100 tokens a second write the output: median {100 * _middle(shares):.3f} %,"
            f" 95th {100 * _high(shares):.3f} %, most {100 * max(shares):.3f} %;"
            f" over 1 %: {len(long)} of {len(shares)} outputs, of at most {max(long, default=0)} characters"
        )


def _middle(values: Sequence[float]) -> float:
    return float(statistics.median(values))


def _high(values: Sequence[float]) -> float:
    return float(sorted(values)[int(0.95 * (len(values) - 1))])


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    asked.add_argument("folders", nargs="*", type=Path, help="more folders of healthy streams (.jsonl.gz)")
    asked.add_argument("--install", action="store_true", help="get what is not in the cache folder from the registries")
    asked.add_argument("--cache", type=Path, default=cache(), help="the folder of the packages (%(default)s)")
    asked.add_argument("--streams", type=int, default=20, help="streams of each further folder, at most (20)")
    asked.add_argument("--rows", type=int, default=300, help="rows of a healthy stream, at most (300)")
    asked.add_argument("--bases", type=int, default=2, help="hosts for each injected kind (2)")
    asked.add_argument(
        "--kinds", default="", metavar="WORD[,WORD]", help="injected kinds whose names hold a word (all)"
    )
    asked.add_argument("--passes", type=int, default=2, help="times that the labelled streams are shown (2)")
    asked.add_argument("--piece", type=int, default=200, help="characters of a streamed text at a time (200)")
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args(arguments)
    if not FOLDER.is_dir():
        print("the labelled streams (shared/streams beside the checkout) are not there: skipped")
        return
    begun = time.perf_counter()
    labelled = list(real(given.rows))
    more = [case for folder in given.folders for case in healthy(folder, given.streams, given.rows, given.seed)]
    hosts = [case for case in (*labelled, *more) if case.family == "healthy"]
    sick = list(injected(hosts, given.bases, given.seed, [word for word in given.kinds.split(",") if word]))
    with Bench(given.cache.resolve(), given.install, given.piece) as bench:
        if len(bench.systems) == 1:
            print("none of the other systems is there: nothing to compare, skipped")
            return
        timed = [case for case in labelled if case.family in ("healthy", "real")]
        passes = [_timed(bench, timed) for _ in range(max(1, given.passes))]
        pasted = [case for case in labelled if "pasted" in case.family]
        for case in (control(), *pasted, *more, *sick):
            bench.show(case)
        report(bench, [control(), *labelled, *more, *sick])
        costs(passes, [row for case in timed for row in case.rows])
    print(f"\n{time.perf_counter() - begun:.0f} s, seed {given.seed}, pieces of {given.piece} characters")


def _timed(bench: Bench, cases: Sequence[Case]) -> Times:
    took: Times = defaultdict(list)
    for case in cases:
        for key, ns in bench.show(case).items():
            took[key] += ns
    return took


if __name__ == "__main__":
    main()
