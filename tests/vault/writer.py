"""A process that commits for as long as it lives: for each line on standard input it forks a writer and prints its id.

A writer appends numbered lines to three notes and prints `done N` after each acknowledged commit.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from vault import Author, Vault


def write_for_ever(root: Path) -> None:
    """Commit until killed; a number is printed only when its commit has been acknowledged."""
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
        os.write(1, f"done {number}\n".encode())


def main() -> None:
    """Fork a writer for every line that comes in, and wait until somebody has killed it."""
    root = Path(sys.argv[1])
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            os.write(1, f"pid {os.getpid()}\n".encode())
            write_for_ever(root)
        os.waitpid(child, 0)
        os.write(1, b"dead\n")


if __name__ == "__main__":
    main()
