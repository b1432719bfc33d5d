"""100 kills with `kill -9` at random moments while a heartbeat is due every second; then the books are audited.

Prints what was found and exits 1 if any promise is broken: no occurrence runs twice, none is without a row, the
database and the vault are whole, every commit of a run is named by that run's row, and the daemon is ready again by
itself each time.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from agent_process import AgentProcess, make_agent

SETTINGS = """name = "kill"
[models.local]
backend = "scripted"
loop = true
delay = 0.05
replies = [
  {calls = [{name = "host", args = {what = "load"}}]},
  {calls = [{name = "vault", args = {action = "append", path = "journal", text = "looked at the load"}}]},
  "The load was looked at and noted.",
]
[guards.repeat]
enabled = false
[guards.tools]
enabled = false
"""
HEARTBEAT = """---
every: 1s
misfire: all
grace: 10m
tools: [host, vault]
thread: none
---
Look at the load and note it.
"""


def audit(home: Path) -> list[str]:
    """Return every broken promise."""
    wrong: list[str] = []
    book = sqlite3.connect(home / "trimtab.db")
    if (answer := book.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
        wrong.append(f"database: {answer}")
    rows = book.execute(
        "SELECT scheduled_for, status, id FROM occurrence WHERE heartbeat = 'tick' AND manual = 0"
    ).fetchall()
    times = sorted(int(_moment(row[0]).timestamp()) for row in rows)
    if doubled := [t for t, n in Counter(times).items() if n > 1]:
        wrong.append(f"occurrences twice: {doubled[:5]}")
    if gaps := sorted(set(range(times[0], times[-1])) - set(times)):
        wrong.append(f"{len(gaps)} due times without a row, the first {gaps[0]}")
    per_occurrence = book.execute("SELECT occurrence_id, count(*) FROM run GROUP BY 1 HAVING count(*) > 1").fetchall()
    if per_occurrence:
        wrong.append(f"occurrences with more than one run: {per_occurrence[:5]}")
    open_ones = book.execute("SELECT count(*) FROM run WHERE outcome IS NULL").fetchone()[0]
    if open_ones:
        wrong.append(f"{open_ones} runs without an outcome after the last start")
    print(
        f"  due seconds {times[-1] - times[0] + 1}, rows {len(rows)}, by status {dict(Counter(row[1] for row in rows))}"
    )
    fsck = subprocess.run(["git", "-C", home / "vault", "fsck", "--full", "--strict"], capture_output=True, text=True)
    if fsck.returncode:
        wrong.append(f"git fsck: {fsck.stderr.strip()}")
    status = subprocess.run(["git", "-C", home / "vault", "status", "--porcelain"], capture_output=True, text=True)
    if status.stdout.strip():
        wrong.append(f"the work tree differs from the last commit: {status.stdout.strip()[:200]}")
    return wrong + audit_commits(home, book)


def audit_commits(home: Path, book: sqlite3.Connection) -> list[str]:
    """Return where the vault and the database disagree about which run wrote which commit."""
    wrong: list[str] = []
    log = subprocess.run(
        ["git", "-C", home / "vault", "log", "--format=%H %(trailers:key=Trimtab-Run,valueonly,separator=%x20)"],
        capture_output=True,
        text=True,
        check=True,
    )
    known = {commit: run for commit, run in (line.split(" ", 1) for line in log.stdout.splitlines())}
    written = [(commit, run) for commit, run in known.items() if run]
    if doubled := [run for run, n in Counter(run for _, run in written).items() if n > 1]:
        wrong.append(f"runs with two commits: {doubled[:5]}")
    kept = dict(book.execute("SELECT id, commit_id FROM run").fetchall())
    if lost := [run for run, commit in kept.items() if commit is not None and known.get(commit) != run]:
        wrong.append(f"{len(lost)} runs name a commit that is not in the vault or not theirs, the first {lost[0]}")
    if unnamed := [run for commit, run in written if kept.get(run) != commit]:
        wrong.append(f"{len(unnamed)} commits that their run does not name, the first of run {unnamed[0]}")
    named = sum(commit is not None for commit in kept.values())
    print(f"  vault commits of runs {len(written)}, runs that name one {named}")
    return wrong


def _moment(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=100)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    dice = random.Random(chosen.seed)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "agent"
        make_agent(home, SETTINGS, {"tick": HEARTBEAT})
        ready = []
        for number in range(chosen.kills):
            agent = AgentProcess(home)
            ready.append(agent.wait_ready())
            time.sleep(dice.uniform(0.0, 2.0))
            agent.kill()
            if (number + 1) % 20 == 0:
                print(f"  {number + 1} kills", flush=True)
        last = AgentProcess(home)
        last.wait_ready()
        time.sleep(3)
        code = last.stop()
        wrong = audit(home) + ([f"exit code {code} after SIGTERM"] if code else [])
        middle = sorted(ready)[len(ready) // 2]
        print(f"kill -9: {chosen.kills} times, ready again each time (median {middle:.2f} s, most {max(ready):.2f} s)")
        print("\n".join(f"BROKEN: {line}" for line in wrong) or "no promise broken")
        return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
