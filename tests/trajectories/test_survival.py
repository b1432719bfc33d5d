"""What is on the disk after the worst: `kill -9` at any moment, and a disk that is full."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from daemon.trajectories.reading import integrity, reading
from daemon.trajectories.records import Records
from tests.nursery import ROOT, Nursery

KILLS = 30
RECORDING = "tests.trajectories.recording"


def test_no_acknowledged_step_is_lost_by_kill_9(tmp_path: Path) -> None:
    """30 kills at random moments: each step that was acknowledged is there, whole, and so is the database."""
    path, dice, acknowledged = tmp_path / "trimtab.db", random.Random(7), list[str]()
    with Nursery(RECORDING, str(path), "kill") as nursery:
        for _ in range(KILLS):
            nursery.bear()
            acknowledged += [nursery.said() for _ in range(dice.randint(1, 8))]
            time.sleep(dice.uniform(0, 0.02))
            nursery.kill()
            acknowledged += nursery.last_words()
            assert [] == integrity(path)
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
    command = [sys.executable, "-m", RECORDING, str(path), "full", "1500000"]
    process = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    kept, failed = [line for line in process.stdout.splitlines() if line.startswith(("kept", "failed"))]
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
