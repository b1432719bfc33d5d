"""Writers to kill: each commits for as long as it lives.

A writer appends numbered lines to three notes and says `done N` after each acknowledged commit.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from tests.nursery import Say, rear
from vault import Author, Vault


def write_for_ever(root: Path, say: Say) -> None:
    """Commit until killed; a number is said only when its commit has been acknowledged."""
    vault = Vault.open(root)
    author = Author(*vault.agent, datetime(2026, 11, 20, 21, 17, tzinfo=UTC))
    numbers = [int(line[2:]) for line in (root / "journal.md").read_text().splitlines() if line.startswith("- ")]
    number = max(numbers, default=0)
    while True:
        number += 1
        draft = vault.draft()
        draft.append("journal.md", f"- {number}")
        draft.append(f"deep/er/note-{number % 5}.md", f"- {number}")
        draft.write("whole.md", f"The number is {number}. " + "x" * 200 + "\n")
        draft.commit(f"number {number}", {"Trimtab-Run": str(number)}, author)
        say(f"done {number}")


if __name__ == "__main__":
    rear(lambda _, say: write_for_ever(Path(sys.argv[1]), say))
