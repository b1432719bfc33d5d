"""`trimtab threads compact`, `fork` and `rewind`: a person's acts on a thread, each of them recorded, none deleting."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

import typer

from daemon.cli.place import home
from daemon.errors import UsageError
from daemon.heartbeat import fields
from daemon.home import Home

_Thread = Annotated[str, typer.Argument(help="The thread's name.")]
_Why = Annotated[str, typer.Option(help="Why; it is recorded.")]


def compact(thread: _Thread, why: _Why = "") -> None:
    """Make a thread short now: all but its last runs become an extract, and no model is asked.

    Names and open loops that find no room in it go to a note in agent/threads/ first; the history keeps everything.
    """
    typer.echo(asyncio.run(_compact(home(), thread, why)))


def fork(
    thread: _Thread,
    new: Annotated[str, typer.Argument(help="The new thread's name, for a heartbeat's `thread:`.")],
    at: Annotated[
        str | None, typer.Option(help="The run that the copy ends with; without it the whole thread.")
    ] = None,
    why: _Why = "",
) -> None:
    """Copy a thread to a new one, whole or up to a run; the guards know nothing of the new one yet."""
    try:
        if fields.thread(new) is None:
            raise ValueError("'none' is no thread")
    except ValueError as wrong:
        raise UsageError(str(wrong)) from None
    moved = asyncio.run(_moved(home(), "fork", thread, why, new=new, run=at))
    typer.echo(f"{new} goes on from {moved or 'the start'}, as {thread} did")


def rewind(
    thread: _Thread,
    to: Annotated[str | None, typer.Option(help="The run that the thread is to end with.")] = None,
    back: Annotated[int | None, typer.Option("-n", "--runs", min=1, help="Take back so many runs instead.")] = None,
    why: _Why = "",
) -> None:
    """Take back the last runs of a thread: the model no longer sees them, the history keeps them with a mark.

    What they wrote to the vault stays there; `trimtab vault revert` takes that back.
    """
    if (to is None) == (back is None):
        raise UsageError("rewind needs one of --to RUN and -n RUNS: `trimtab threads show THREAD` names the runs")
    moved = asyncio.run(_moved(home(), "rewind", thread, why, run=to, back=back or 0))
    typer.echo(f"{thread} ends with {moved} again" if moved else f"{thread} begins anew")


async def _moved(
    place: Home, what: str, thread: str, why: str, *, new: str = "", run: str | None = None, back: int = 0
) -> str | None:
    from daemon.clock import SystemClock
    from daemon.trajectories.acts import SqlActs
    from daemon.trajectories.database import Database
    from daemon.trajectories.thread_acts import SqlThreadActs

    if not place.database.exists():
        raise UsageError(f"no thread {thread!r}: the agent never ran")
    database = Database.open(place.database)
    try:
        acts = SqlThreadActs(database)
        done = await (acts.fork(thread, new, at=run) if new else acts.rewind(thread, to=run, back=back))
        told = f"to {new or done.run or 'its start'}, {done.runs} runs left out. {why}".strip()
        await SqlActs(database).record(SystemClock().now(), _person(), what, thread, None, told)
        return done.run
    finally:
        database.close()


async def _compact(place: Home, thread: str, why: str) -> str:
    from daemon.app import opened
    from daemon.context.compaction import shortened
    from daemon.context.fit import CHARS_PER_TOKEN, SUMMARY_SHARE
    from daemon.thread_notes import ThreadNotes
    from daemon.trajectories.acts import SqlActs
    from daemon.trajectories.thread_acts import SqlThreadActs
    from vault import Author

    async with opened(place) as agent:
        await SqlThreadActs(agent.database).at_rest(thread)
        live, settings = await agent.threads.live(thread), agent.settings.context
        if not await agent.threads.fresh(thread):
            raise UsageError(f"nothing was said in {thread} since it was last compacted")
        windows = (getattr(model, "context_tokens", settings.tokens) for model in agent.models.values())
        made = shortened(live, settings.keep_runs, int(min(windows) * SUMMARY_SHARE * CHARS_PER_TOKEN))
        before, after = (
            sum(len(m.text) for m in some) for some in (live, (made.summary, *live[len(live) - made.keep :]))
        )
        if made.keep == len(live) or after >= before:
            raise UsageError(f"{thread} would not become shorter: it has {before:,} characters; nothing was changed")
        draft, now = agent.vault.draft(), agent.clock.now()
        ThreadNotes(draft).add(thread, made.evicted, now)
        if draft.paths or draft.held:
            draft.commit(f"{thread}: {', '.join(draft.paths)}", {}, Author(*draft.agent, now))
        await agent.threads.compact(thread, made.summary, made.keep)
        await SqlActs(agent.database).record(now, _person(), "compact", thread, None, why)
        return f"{thread} has {after:,} characters now, {before:,} before; the history keeps everything"


def _person() -> str:
    return os.environ.get("SUDO_USER") or os.environ.get("USER") or f"uid {os.getuid()}"
