"""What is on the disk after the worst: `kill -9` at any moment, and a disk that is full."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from daemon.trajectories.reading import integrity, reading
from daemon.trajectories.records import Records

ROOT = Path(__file__).parent.parent.parent
KILLS = 30


def recording(path: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start the recording process."""
    command = [sys.executable, "-m", "tests.trajectories.recording", str(path), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True)


def told(process: subprocess.Popen[str]) -> str:
    """Return the next line that is not a log line; the process must be alive to say it."""
    assert process.stdout is not None
    while not (line := process.stdout.readline()).startswith(("child", "run-", "dead")):
        assert line, "the recording process ended by itself"
    return line.strip()


def killed_after(process: subprocess.Popen[str], lines: int, pause: float) -> list[str]:
    """Let a child acknowledge so many steps, wait a moment, kill it, and return all that it acknowledged."""
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    child = int(told(process).removeprefix("child "))
    seen = [told(process) for _ in range(lines)]
    time.sleep(pause)
    os.kill(child, signal.SIGKILL)
    return [*seen, *iter(lambda: told(process), "dead")]


def test_no_acknowledged_step_is_lost_by_kill_9(tmp_path: Path) -> None:
    """30 kills at random moments: each step that was acknowledged is there, whole, and so is the database."""
    path, dice, acknowledged = tmp_path / "trimtab.db", random.Random(7), list[str]()
    with recording(path, "kill") as process:
        for _ in range(KILLS):
            acknowledged += killed_after(process, dice.randint(1, 8), dice.uniform(0, 0.02))
            assert [] == integrity(path)
        assert process.stdin is not None
        process.stdin.close()
    with reading(path) as view:
        runs = {record.run.id: record for record in Records(view).all()}

    assert len(acknowledged) >= KILLS
    for line in acknowledged:
        run_id, _, step = line.partition("/")
        record = runs[run_id]
        if step == "end":
            assert record.run.outcome is not None
        else:
            found = record.steps[int(step) - 1]
            assert found.reply.sample is not None
            assert found.reply.sample.prompt_ids == tuple(range(int(run_id.removeprefix("run-")) + 10 * int(step)))
            assert len(found.verdicts) == 2
            assert found.results[0].ok


def test_a_full_disk_is_one_line_and_no_torn_row(tmp_path: Path) -> None:
    """The step that did not fit is not there at all, the ones before are, and once there is space writing goes on."""
    path = tmp_path / "trimtab.db"
    process = recording(path, "full", "1500000")
    told, _ = process.communicate(timeout=60)
    kept, failed = [line for line in told.splitlines() if line.startswith(("kept", "failed"))]
    with reading(path) as view:
        (record,) = Records(view).all()

    assert 0 == process.returncode
    assert f"failed {path}: the disk " in failed
    assert "nothing of this write was kept" in failed
    assert [] == integrity(path)
    written = int(kept.removeprefix("kept "))
    assert list(range(1, written + 2)) == [step.number for step in record.steps]
    assert all(step.reply.sample and len(step.verdicts) == 2 and step.results for step in record.steps)
    assert record.run.outcome is not None
