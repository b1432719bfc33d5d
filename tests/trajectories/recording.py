"""A process that records steps and says so, for tests that kill it or take its disk away.

`python recording.py FILE kill` bears children that say each step once it is acknowledged, until they are killed.
`python recording.py FILE full BYTES` records until files may not grow beyond BYTES, then frees the disk and goes on.
"""

from __future__ import annotations

import asyncio
import resource
import sys
from datetime import timedelta
from pathlib import Path

from daemon.errors import StorageError
from tests.nursery import Say, rear
from tests.trajectories.scenes import NOON, SqlKept, begun, calling, ended


async def until_killed(kept: SqlKept, say: Say) -> None:
    """Record one run after another, each of three steps, and say what was acknowledged."""
    await kept.ledger.recover()
    first = len(await kept.database.read(lambda c: c.execute("SELECT id FROM occurrence").fetchall()))
    for number in range(first + 1, first + 10_000):
        run = await begun(kept, number)
        for step in (1, 2, 3):
            await kept.recorder.step(run, calling(step, tuple(range(number + 10 * step))))
            say(f"{run.id}/{step}")
        await kept.recorder.finish(ended(run), (calling().sent[1],))
        say(f"{run.id}/end")


async def until_full(kept: SqlKept, most: int) -> None:
    """Record until the disk is full, print the failure, then free the disk and record once more."""
    run = await begun(kept)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    written = 0
    try:
        for number in range(1, 100_000):
            await kept.recorder.step(run, calling(number, tuple(range(number, number + 2000))))
            written = number
    except StorageError as failed:
        print(f"kept {written}")
        print(f"failed {failed}")
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    await kept.recorder.step(run, calling(written + 1))
    await kept.recorder.finish(ended(run), ())
    assert await kept.ledger.claim("after", NOON + timedelta(days=1), next_due=None)


def main() -> None:
    """Do what the command line asks for."""
    path = Path(sys.argv[1])
    if sys.argv[2] == "kill":
        rear(lambda _, say: asyncio.run(until_killed(SqlKept(path), say)))
        return
    kept = SqlKept(path)
    asyncio.run(until_full(kept, int(sys.argv[3])))
    kept.close()


if __name__ == "__main__":
    main()
