"""A ledger in memory, with the same promises as the one in the database except that it dies with the process.

For tests and dry runs.  `end` and the rows stand in for what a recorder and a query are to the real one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from daemon.types import Occurrence


@dataclass(slots=True)
class Row:
    """One line of the book.  `state` is claimed, ended or missed; `text` is the outcome or the reason."""

    occurrence: Occurrence
    state: str
    text: str = ""


class MemoryLedger:
    """The book of occurrences as two dictionaries."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, datetime], Row] = {}
        self._planned: dict[str, datetime | None] = {}

    async def claim(
        self, heartbeat: str, scheduled_for: datetime, *, next_due: datetime | None, manual: bool = False
    ) -> Occurrence | None:
        """Claim a due time and write down the next one; None, and nothing is written, if it has a row already."""
        if (heartbeat, scheduled_for) in self.rows:
            return None
        occurrence = self._add(heartbeat, scheduled_for, manual, "claimed", "")
        if not manual:
            self._planned[heartbeat] = next_due
        return occurrence

    async def miss(self, heartbeat: str, times: Sequence[datetime], reason: str) -> int:
        """Give each of these times that has no row yet a row with the reason; return how many."""
        new = [time for time in dict.fromkeys(times) if (heartbeat, time) not in self.rows]
        for time in new:
            self._add(heartbeat, time, False, "missed", reason)
        return len(new)

    async def plan(self, heartbeat: str, next_due: datetime | None) -> None:
        """Write down when a heartbeat is due next."""
        self._planned[heartbeat] = next_due

    async def planned(self, heartbeat: str) -> datetime | None:
        """Return what `plan` or the last `claim` wrote."""
        return self._planned.get(heartbeat)

    async def recover(self) -> Sequence[Occurrence]:
        """End every open claim as interrupted and return those."""
        open_claims = [row for row in self.rows.values() if row.state == "claimed"]
        for row in open_claims:
            row.state, row.text = "ended", "interrupted"
        return [row.occurrence for row in open_claims]

    def end(self, occurrence: Occurrence, outcome: str) -> None:
        """Write down how a claimed occurrence ended."""
        row = self.rows[occurrence.heartbeat, occurrence.scheduled_for]
        row.state, row.text = "ended", outcome

    def _add(self, heartbeat: str, time: datetime, manual: bool, state: str, text: str) -> Occurrence:
        occurrence = Occurrence(len(self.rows) + 1, heartbeat, time, manual)
        self.rows[heartbeat, time] = Row(occurrence, state, text)
        return occurrence
