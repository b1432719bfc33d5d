"""The guards of the threads that spoke last, kept in memory between runs, so that a run need not read what it wrote.

The database stays the truth: a panel from here is used only while it stands at the thread's last save.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from guards import Panel

KEPT = 8
"""Panels that rest in memory, of the threads that ran last; each takes about a megabyte."""


@dataclass(frozen=True, slots=True)
class Lent:
    """A panel for one run, which has it alone.

    `stamp` is that of the save at which it stands, "" for one that must be loaded.  Only a run whose save succeeded
    gives it back; otherwise it is dropped, and the next run loads what is on the disk.
    """

    panel: Panel
    stamp: str = ""
    back: Callable[[Panel, str], None] | None = None

    def give_back(self, stamp: str) -> None:
        """Return the panel as it was saved under this stamp."""
        if self.back is not None and stamp:
            self.back(self.panel, stamp)


@dataclass(slots=True)
class Panels:
    """The panels that no run has, the one that ran last at the end."""

    most: int = KEPT
    _resting: dict[str, tuple[Any, Panel, str]] = field(default_factory=dict)

    def lend(self, thread: str, options: Any, make: Callable[[], Panel]) -> Lent:
        """Return the panel of a thread, a new one where none with equal `options` rests here."""
        known, panel, stamp = self._resting.pop(thread, (None, None, ""))
        if panel is None or known != options:
            panel, stamp = make(), ""

        def back(panel: Panel, stamp: str) -> None:
            self._resting.pop(thread, None)
            self._resting[thread] = options, panel, stamp
            if len(self._resting) > self.most:
                del self._resting[next(iter(self._resting))]

        return Lent(panel, stamp, back)
