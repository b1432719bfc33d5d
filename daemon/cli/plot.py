"""A picture of a replay: each guard's score over the stream, its limit, and its trips.

A transcript of any length is drawn from a bounded number of points: of each stretch the highest score.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from daemon.errors import UsageError
from guards import Level, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 2_000
"""Points of each guard, at most twice as many while they are gathered."""
TOP = 1.5
"""Scores above are drawn here: beyond its limit a score says little."""


class Scores:
    """The highest score of each guard in each stretch of rows; stretches grow as the transcript does."""

    def __init__(self) -> None:
        self.stretch = 1
        self.rows = 0
        self.by_guard: dict[str, list[float]] = {}
        self.trips: dict[str, list[float]] = {}

    def add(self, verdicts: Sequence[Verdict]) -> None:
        """Take the verdicts of the next row."""
        place = self.rows // self.stretch
        for verdict in verdicts:
            _raise(self.by_guard.setdefault(verdict.guard, []), place, verdict.score)
            _raise(self.trips.setdefault(verdict.guard, []), place, float(verdict.level is Level.TRIP))
        self.rows += 1
        if self.rows >= 2 * POINTS * self.stretch:
            self.stretch *= 2
            self.by_guard = {name: _halved(line) for name, line in self.by_guard.items()}
            self.trips = {name: _halved(line) for name, line in self.trips.items()}


def check(path: Path) -> None:
    """Refuse before the work what could not be drawn after it.  Raises UsageError."""
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise UsageError("--plot needs matplotlib: install trimtab with its extra `plot`") from None
    known = FigureCanvasBase.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in known:
        raise UsageError(f"--plot: {path} should end with one of {', '.join(sorted(known))}")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"--plot: {path} cannot be written: there is no folder {path.parent}")


def draw(scores: Scores, path: Path, title: str) -> None:
    """Write the picture, in the format that the file's name ends with.  Raises UsageError."""
    from matplotlib.figure import Figure

    names = [name for name, line in scores.by_guard.items() if max(line) > 0] or list(scores.by_guard)[:1]
    figure = Figure(figsize=(12, 1 + 1.1 * len(names)), layout="constrained")
    panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)
    for name, (axes,) in zip(names, panels, strict=True):
        _one(axes, name, scores)
    panels[-1][0].set_xlabel("row")
    panels[-1][0].set_xlim(-0.5, max(1, scores.rows) - 0.5)
    panels[-1][0].xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    shown = "".join(c if c.isprintable() and c != "$" else "?" for c in title)
    what = f"each guard's score (up to {TOP:g}), its limit (dashed) and its trips (dots)"
    figure.suptitle(f"{shown}: {what}", fontsize=10)
    try:
        figure.savefig(path, dpi=110)
    except (OSError, ValueError) as wrong:
        why = getattr(wrong, "strerror", None) or str(wrong).split("(")[0].strip()
        raise UsageError(f"--plot: {path} cannot be written: {why}") from None


def _one(axes: Axes, name: str, scores: Scores) -> None:
    line = [min(score, TOP) for score in scores.by_guard[name]]
    rows = [place * scores.stretch for place in range(len(line))]
    trips = [row for row, tripped in zip(rows, scores.trips[name], strict=True) if tripped]
    axes.plot(rows, line, "." if len(rows) == 1 else "-", linewidth=0.9, color="tab:blue")
    axes.axhline(1.0, linestyle="--", linewidth=0.8, color="tab:red")
    axes.plot(trips, [min(TOP, 1.25)] * len(trips), ".", color="tab:red", markersize=4)
    axes.set_ylim(0, TOP + 0.1)
    axes.set_ylabel(name, rotation=0, horizontalalignment="right", verticalalignment="center")


def _raise(line: list[float], place: int, value: float) -> None:
    line.extend([0.0] * (place + 1 - len(line)))
    line[place] = max(line[place], value)


def _halved(line: Sequence[float]) -> list[float]:
    """Return the higher of each two neighbours."""
    return [max(line[i : i + 2]) for i in range(0, len(line), 2)]
