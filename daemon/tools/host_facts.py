"""What can be said of a machine, and the exact lines in which the `host` tool says it.

The shipped model was trained on these very lines: a change here is a change of its language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from vault.escape import one_line

MOST_DISKS, MOST_ERRORS, WIDEST_ERROR = 4, 3, 120
_GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Disk:
    """One mounted file system; `percent` used, sizes in bytes."""

    mount: str
    device: str
    percent: float
    total: int
    free: int


@dataclass(frozen=True, slots=True)
class Errors:
    """Messages of level error or worse in the last hour: how many (`more`: at least so many) and the newest."""

    count: int
    newest: tuple[tuple[str, str], ...] = ()
    more: bool = False


class Machine(Protocol):
    """Where facts come from.  Calls may block for a few seconds; None means that it cannot be known here."""

    def load(self) -> tuple[tuple[float, float, float], int]:
        """Return the load averages and the number of cores."""

    def memory(self) -> tuple[float, int]:
        """Return the percentage in use and the total in bytes."""

    def disks(self) -> Sequence[Disk]:
        """Return every file system on a real disk, and the root in any case."""

    def booted(self) -> float:
        """Return when the machine started, in seconds since the epoch."""

    def failed_units(self) -> Sequence[str] | None:
        """Return the names of the systemd units that have failed."""

    def errors(self) -> Errors | None:
        """Return what the journal holds."""


@dataclass(frozen=True, slots=True)
class StillMachine:
    """A machine on which nothing moves, for tests and demonstrations."""

    averages: tuple[float, float, float] = (0.31, 0.2, 0.11)
    cores: int = 2
    used: tuple[float, int] = (41.2, round(23.4 * _GIB))
    mounted: tuple[Disk, ...] = (Disk("/", "/dev/vda", 55.0, 252 * _GIB, round(80.1 * _GIB)),)
    since: float = 0.0
    failed: tuple[str, ...] | None = ()
    logged: Errors | None = Errors(0)

    def load(self) -> tuple[tuple[float, float, float], int]:
        """Return the fixed load."""
        return self.averages, self.cores

    def memory(self) -> tuple[float, int]:
        """Return the fixed memory."""
        return self.used

    def disks(self) -> Sequence[Disk]:
        """Return the fixed disks."""
        return self.mounted

    def booted(self) -> float:
        """Return the fixed start."""
        return self.since

    def failed_units(self) -> Sequence[str] | None:
        """Return the fixed units."""
        return self.failed

    def errors(self) -> Errors | None:
        """Return the fixed errors."""
        return self.logged


def load_lines(averages: tuple[float, float, float], cores: int) -> list[str]:
    """Such as `load 0.31 0.20 0.11 on 2 cores`."""
    return [f"load {' '.join(f'{value:.2f}' for value in averages)} on {cores} cores"]


def memory_lines(percent: float, total: int) -> list[str]:
    """Such as `memory 41 % of 23.4 GiB used`."""
    return [f"memory {percent:.0f} % of {size(total)} used"]


def disk_lines(disks: Sequence[Disk]) -> list[str]:
    """Such as `disk / 55 % of 252 GiB used, 80.1 GiB free`: the root, then the fullest, each device once."""
    ranked = sorted(disks, key=lambda disk: (disk.mount != "/", -disk.percent, len(disk.mount), disk.mount))
    once: dict[str, Disk] = {}
    for disk in ranked:
        once.setdefault(disk.device, disk)
    return [
        f"disk {one_line(disk.mount, 60)} {disk.percent:.0f} % of {size(disk.total)} used, {size(disk.free)} free"
        for disk in list(once.values())[:MOST_DISKS]
    ] or ["no disks"]


def uptime_lines(up: timedelta) -> list[str]:
    """Such as `uptime 12 min`, `uptime 4 h 10 min` or `uptime 3 d 4 h`."""
    minutes = max(0, int(up.total_seconds()) // 60)
    if minutes < 60:
        return [f"uptime {minutes} min"]
    if minutes < 24 * 60:
        return [f"uptime {minutes // 60} h {minutes % 60} min"]
    return [f"uptime {minutes // 1440} d {minutes % 1440 // 60} h"]


def unit_lines(failed: Sequence[str] | None) -> list[str]:
    """Such as `failed units: nginx.service, backup.timer`."""
    if failed is None:
        return ["failed units: unknown (no systemd)"]
    return [f"failed units: {', '.join(one_line(name, 60) for name in failed) or 'none'}"]


def error_lines(errors: Errors | None) -> list[str]:
    """Such as `errors in the last hour: 3`, and a line for each of the newest."""
    if errors is None:
        return ["errors in the last hour: unknown (journal not readable)"]
    count = f"{errors.count}{' or more' if errors.more else ''}" if errors.count else "none"
    newest = (one_line(f"error {unit}: {text}", WIDEST_ERROR) for unit, text in errors.newest[:MOST_ERRORS])
    return [f"errors in the last hour: {count}", *newest]


def size(count: int) -> str:
    """Return a number of bytes with three significant digits.

    >>> size(252 * 1024**3), size(1999 * 1024**3), size(500 * 1024**2)
    ('252 GiB', '1.95 TiB', '500 MiB')
    """
    gib = count / _GIB
    if gib >= 999.5:
        return f"{gib / 1024:.3g} TiB"
    return f"{gib:.3g} GiB" if gib >= 1 else f"{gib * 1024:.0f} MiB"
