"""What one commit to a vault costs, beside `git add -A && git commit` through a subprocess, in one run.

Both add a line to one note of a vault with as many notes as asked: in turn one that git's index has near its
beginning, in its middle and at its end.  Both have everything synced to the disk.  CPU time includes child processes;
ours includes packing what has become old, which git would do in a `gc` that is switched off here.
Usage: python benchmarks/vault_commit.py [NOTES [COMMITS]]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from vault import Author, Vault

ENVIRONMENT = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


def git(root: Path, *arguments: str) -> str:
    """Run plain git with fsync on."""
    command = [
        "git",
        "-c",
        "core.fsync=all",
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "-c",
        "gc.auto=0",
        *arguments,
    ]
    return subprocess.run(command, cwd=root, env=ENVIRONMENT, check=True, capture_output=True, text=True).stdout


def filled(root: Path, notes: int) -> Path:
    """A repository of so many notes in folders of a hundred, in one pack."""
    git(Path.cwd(), "init", "-q", "-b", "main", str(root))
    lines = ["commit refs/heads/main", "committer a <a@b> 1795000000 +0000", "data 5", "begin"]
    for number in range(notes):
        text = f"# Note {number}\n\nThe number of this note is {number}, and it is one of {notes}.\n"
        lines += [f"M 100644 inline folder-{number // 100}/note-{number}.md", f"data {len(text)}", text]
    stream = "\n".join([*lines, ""]).encode()
    subprocess.run(["git", "-C", root, "fast-import", "--quiet"], input=stream, env=ENVIRONMENT, check=True)
    git(root, "-c", "core.fsync=none", "reset", "-q", "--hard")
    git(root, "status")  # so that the index knows the files' times, as it does in a vault that is in use
    return root


def touched(notes: int) -> list[str]:
    """Return the notes that are changed in turn."""
    folders = sorted(f"folder-{number}" for number in range(notes // 100))
    middle = folders[len(folders) // 2]
    return ["agent.md", f"{middle}/note-{middle.removeprefix('folder-')}05.md", "journal.md"]


def cost(act: Callable[[int], None], times: int) -> tuple[float, float]:
    """CPU and wall time of one act, in milliseconds, after a few to warm up."""
    for number in range(-9, 0):
        act(number)
    cpu, wall = _cpu(), time.perf_counter()
    for number in range(times):
        act(number)
    return (_cpu() - cpu) / times * 1e3, (time.perf_counter() - wall) / times * 1e3


def _cpu() -> float:
    return sum(
        use.ru_utime + use.ru_stime for use in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def main() -> None:
    """Measure both ways and print the ratio."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("notes", nargs="?", type=int, default=1_000, help="notes in the vault (1000)")
    parser.add_argument("commits", nargs="?", type=int, default=60, help="commits each way (60)")
    given = parser.parse_args()
    notes, times = given.notes, given.commits
    with tempfile.TemporaryDirectory() as place:
        plain, ours = filled(Path(place, "plain"), notes), filled(Path(place, "ours"), notes)
        vault, paths = Vault.open(ours), touched(notes)

        def plainly(number: int) -> None:
            with (plain / paths[number % 3]).open("a") as note:
                note.write(f"- {number}\n")
            git(plain, "add", "-A")
            git(plain, "commit", "-q", "-m", f"note {number}")

        def by_vault(number: int) -> None:
            draft = vault.draft()
            draft.append(paths[number % 3], f"- {number}")
            draft.commit(f"note {number}", {"Trimtab-Run": str(number)}, Author("a", "a@b", datetime.now(UTC)))

        (plain_cpu, plain_wall), (vault_cpu, vault_wall) = cost(plainly, times), cost(by_vault, times)
        clean = git(ours, "status", "--porcelain") == "" and git(ours, "fsck", "--full") == ""
    print(f"{notes:,} notes, {times} commits of one changed note, synced to the disk; milliseconds a commit")
    print(f"  git add -A && git commit   CPU {plain_cpu:8.2f}   wall {plain_wall:8.2f}")
    print(f"  vault                      CPU {vault_cpu:8.2f}   wall {vault_wall:8.2f}")
    print(f"  ratio                      CPU {plain_cpu / vault_cpu:8.1f}   wall {plain_wall / vault_wall:8.1f}")
    print(f"  afterwards `git status` and `git fsck` are {'clean' if clean else 'NOT CLEAN'}")


if __name__ == "__main__":
    main()
