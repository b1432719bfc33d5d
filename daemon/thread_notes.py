"""What a compaction leaves out of a thread's summary goes to a note of that thread, so that it can be found again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog

from vault import Draft, Refused
from vault.escape import one_line

log = structlog.get_logger()

FOLDER: Final = "agent/threads"
_MOST_PARTS: Final = 99
_LONGEST: Final = 400


@dataclass(frozen=True, slots=True)
class ThreadNotes:
    """Writes to the pending notes of one run; `draft` decides what may be written, secrets it refuses."""

    draft: Draft

    def add(self, thread: str, lines: Sequence[str], at: datetime) -> int:
        """Append these lines to the thread's note of the month; return how many of them were refused.

        A full note is followed by another one.  Blocks.
        """
        items = [f"- {one_line(line, _LONGEST)}" for line in lines if line.strip()]
        if not items:
            return 0
        if self._append(thread, f"## {at:%Y-%m-%d %H:%M}\n" + "\n".join(items) + "\n", at):
            return 0
        refused = [item for item in items if not self._append(thread, item, at)]
        if refused:
            log.warning("thread.unkept", thread=thread, lines=len(refused), why="the vault refuses them: history only")
        return len(refused)

    def _append(self, thread: str, text: str, at: datetime) -> bool:
        name = re.sub(r"[^a-z0-9-]+", "-", thread.lower()).strip("-") or "thread"
        start = f"---\ndescription: What the thread {name} named and left open where it was cut\n---\n\n"
        for part in range(1, _MOST_PARTS):
            more = f"-{part}" if part > 1 else ""
            try:
                self.draft.append(f"{FOLDER}/{name}-{at:%Y-%m}{more}.md", text, start=start)
            except Refused as why:
                if "bytes" not in str(why):
                    return False
                continue
            return True
        return False
