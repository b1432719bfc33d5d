"""What a model really sampled in a step, written as links (see `prompt_ids`) and read back for the next link.

Runs inside the caller's transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from daemon.trajectories.packing import pack_logprobs
from daemon.trajectories.prompt_ids import Link, Tail, link, restored
from daemon.types import Sample

_LINK = """
    SELECT prompt_base, prompt_keep, prompt_depth, prompt_rest, completion_ids FROM step
    WHERE id = ? AND prompt_rest IS NOT NULL"""
_LAST = """
    SELECT step.id FROM run JOIN step ON step.run_key = run.key
    WHERE run.thread = ? AND prompt_rest IS NOT NULL AND step.id <> ?
    ORDER BY run.key DESC, step.number DESC LIMIT 1"""
_WRITE = """
    UPDATE step SET prompt_base = ?, prompt_keep = ?, prompt_depth = ?, prompt_rest = ?,
                    completion_ids = ?, logprobs = ?
    WHERE id = ?"""
_SAME = "UPDATE step SET logprobs = ? WHERE id = ? AND completion_ids = ?"
_WRITE_OUT = "UPDATE step SET prompt_base = NULL, prompt_keep = 0, prompt_depth = 0, prompt_rest = ? WHERE id = ?"


def fetching(connection: sqlite3.Connection) -> Callable[[int], Link]:
    """Return what finds the link of a step; KeyError when it has none."""

    def fetch(step: int) -> Link:
        row = connection.execute(_LINK, (step,)).fetchone()
        if row is None:
            raise KeyError(step)
        return Link(*row)

    return fetch


def tail(connection: sqlite3.Connection, thread: str, but: int) -> Tail | None:
    """Return the last step of a thread that shows its ids, other than `but`."""
    row = connection.execute(_LAST, (thread, but)).fetchone()
    return None if row is None else _tail_of(connection, row[0])


def add(connection: sqlite3.Connection, step: int, sample: Sample, before: Tail | None) -> Tail:
    """Write the sample of a new step as a link to `before`; return the thread's new tail."""
    made, ids = link(sample.prompt_ids, sample.completion_ids, before)
    _write(connection, step, made, sample)
    return Tail(step, made.depth, ids)


def replace(connection: sqlite3.Connection, step: int, sample: Sample | None, before: Tail | None) -> Tail | None:
    """Write the sample of a step that is recorded again; return the new tail, None when it shows no ids.

    Mostly the ids are the same as before and stay.  Where they are not, the steps that stand on them are first
    written out in full, and so is this one.
    """
    old = before if before is not None and before.step == step else _tail_of(connection, step)
    made, ids = (None, b"") if sample is None else link(sample.prompt_ids, sample.completion_ids, None)
    if old is not None and made is not None and sample is not None and old.ids == ids:
        logprobs = pack_logprobs(sample.logprobs)
        kept = connection.execute(_SAME, (logprobs, step, made.completion)).rowcount
        if kept:
            return old
    _release(connection, step)
    _write(connection, step, made, sample)
    return None if made is None else Tail(step, 0, ids)


def _tail_of(connection: sqlite3.Connection, step: int) -> Tail | None:
    fetch = fetching(connection)
    try:
        found = fetch(step)
    except KeyError:
        return None
    return Tail(step, found.depth, restored(found, fetch) + found.completion)


def _release(connection: sqlite3.Connection, step: int) -> None:
    fetch = fetching(connection)
    standing = [row[0] for row in connection.execute("SELECT id FROM step WHERE prompt_base = ?", (step,))]
    for other in standing:
        connection.execute(_WRITE_OUT, (restored(fetch(other), fetch), other))


def _write(connection: sqlite3.Connection, step: int, made: Link | None, sample: Sample | None) -> None:
    columns: tuple[object, ...] = (None, 0, 0, None, None, None)
    if made is not None and sample is not None:
        columns = (made.base, made.keep, made.depth, made.rest, made.completion, pack_logprobs(sample.logprobs))
    connection.execute(_WRITE, (*columns, step))
