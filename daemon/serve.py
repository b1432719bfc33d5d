"""The process: one agent opened, its side tasks under one task group, signals, readiness, and an end in order.

A side task that dies takes the daemon with it, loudly, because systemd can only restart what exits.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import structlog

from daemon import __version__, telemetry
from daemon.app import Agent, opened
from daemon.beating import shown
from daemon.context.checked import Checked
from daemon.control import answering
from daemon.errors import StorageError, TrimtabError, UsageError
from daemon.feedback import settle
from daemon.heartbeat.alarms import ApschedulerAlarms
from daemon.heartbeat.fields import NAME
from daemon.heartbeat.misfire import Reason
from daemon.heartbeat.rules import Rules
from daemon.heartbeat.scheduler import Scheduler
from daemon.home import Home
from daemon.memory import proposed, unreviewed, written_runs
from daemon.observe.notify import Notify, Watchdog
from daemon.observe.prometheus import Metrics, Names
from daemon.observe.server import Page, Server, healthz
from daemon.plugging import panel
from daemon.recovery import breakers
from daemon.settings import Settings
from daemon.settings import load as load_settings
from daemon.stages import Observer
from daemon.syncing import Syncing, options_of
from daemon.tools import TOOLS
from daemon.trajectories import queries
from daemon.types import Run
from vault.oddities import oddities

log = structlog.get_logger()

_COUNT_SECONDS = 60.0
_LEFT_ALONE_SECONDS = 3.0  # a stop at the very start waits for it
_STALE_SECONDS = 60.0  # a scheduler that has looked at nothing for so long is not alive


async def serve(home: Home, first: Sequence[str], observers: Sequence[Observer], told: bool) -> None:
    """Run the agent until SIGTERM or SIGINT; a second signal ends the runs in hand at once.

    `told` keeps the log quiet, because a story is being told.  Raises TrimtabError when it cannot start, and what ended
    a side task: alone if it is one, as a group if they are several.
    """
    try:
        await _serve(home, first, observers, told)
    except BaseExceptionGroup as group:
        ends = group
        while len(ends.exceptions) == 1 and isinstance(ends.exceptions[0], BaseExceptionGroup):
            ends = ends.exceptions[0]
        raise ends.exceptions[0] if len(ends.exceptions) == 1 else ends from None


async def _serve(home: Home, first: Sequence[str], observers: Sequence[Observer], told: bool) -> None:
    notify = Notify.from_environment()
    settings = load_settings(home.path)
    _log(settings, told)
    options_of(settings.sync)
    with home.held():
        metrics = Metrics(_names(home, settings), version=__version__)
        async with opened(home, [metrics, *observers], settings=settings, patient=True) as agent:
            await _take_over(agent, metrics)
            stop = asyncio.Event()
            async with _running(agent, metrics, notify, stop) as (address, scheduler):
                notify.ready(f"{len(agent.folder.heartbeats)} heartbeats, metrics at {address}")
                log.info(
                    "daemon.started", version=__version__, agent=settings.name, home=str(home.path), metrics=address
                )
                if told:
                    sys.stderr.write(f"{settings.name} is awake; metrics at {address}/metrics; Ctrl-C stops it\n")
                gc.collect()
                gc.freeze()  # what stands here stays: no collection looks through it again
                await _until_stopped(stop, scheduler, first)
                notify.stopping("ending the runs in hand")
        log.info("daemon.stopped")


async def _take_over(agent: Agent, metrics: Metrics) -> None:
    """End what a former process left open; show the last successes and the breakers that survived it."""
    for lost in await agent.ledger.recover():
        log.warning("run.interrupted", heartbeat=lost.heartbeat, scheduled_for=lost.scheduled_for.isoformat())
    if await agent.database.read(queries.runs_without_commit):
        await agent.ledger.commits_found(await asyncio.to_thread(written_runs, agent.vault))
    for heartbeat, ended in (await agent.database.read(queries.last_successes)).items():
        metrics.succeeded(heartbeat, datetime.fromisoformat(ended))
    for thread, name, state in await agent.states.all():
        for guard, breaker in breakers({name: state}, agent.settings.breaker.cooldown_seconds).items():
            metrics.breaker_changed(thread, guard, breaker.code)


@contextlib.asynccontextmanager
async def _running(
    agent: Agent, metrics: Metrics, notify: Notify, stop: asyncio.Event
) -> AsyncIterator[tuple[str, Scheduler]]:
    """Start everything that runs beside the runs; stop it in reverse order, hearing signals until the last ends."""
    scheduler = Scheduler(
        agent.ledger,
        agent.runner(),
        agent.folder,
        agent.clock,
        ApschedulerAlarms(),
        [agent.observer],
        Rules(
            concurrency=agent.settings.concurrency,
            drain_seconds=agent.settings.drain_seconds,
            switch=agent.halted,
            resting=agent.resting,
        ),
    )

    def ill() -> str | None:
        age = scheduler.tick_age()
        return f"the scheduler has looked at nothing for {age:.0f} s" if age > _STALE_SECONDS else None

    pages = {"/metrics": lambda: Page(metrics.render(), metrics.content_type), "/healthz": healthz(ill)}
    section = agent.settings.metrics
    server = Server(pages)
    async with (
        server.listening(section.host, section.port, file=agent.home.settings) as address,
        answering(agent.home.socket, partial(_answer, agent, scheduler)),
        asyncio.TaskGroup() as side,
    ):
        tasks = [
            side.create_task(scheduler.run(), name="scheduler"),
            side.create_task(_count_unreviewed(agent, metrics), name="review count"),
            side.create_task(_tell_left_alone(agent), name="what is left alone"),
            *_syncing(agent, metrics, side),
            side.create_task(Watchdog(notify, agent.clock, lambda: ill() is None).run(), name="watchdog"),
        ]

        def signalled() -> None:
            if stop.is_set():
                log.warning("daemon.hurried")
                tasks[0].cancel()
            stop.set()

        try:
            with _signals(signalled):
                await scheduler.awake()
                yield address, scheduler
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
        finally:
            for task in tasks:
                task.cancel()


def _syncing(agent: Agent, metrics: Metrics, side: asyncio.TaskGroup) -> Iterator[asyncio.Task[None]]:
    """Start the exchanges with the vault's remote, where there is one."""
    if options := options_of(agent.settings.sync):
        syncing = Syncing(agent.vault, options, agent.home.path, agent.clock)
        yield side.create_task(syncing.run(metrics, agent.halted), name="sync")


@contextlib.contextmanager
def _signals(heard: Callable[[], None]) -> Iterator[None]:
    """Call `heard` at each SIGTERM and SIGINT."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, heard)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


async def _until_stopped(stop: asyncio.Event, scheduler: Scheduler, first: Sequence[str]) -> None:
    """Run the `first` heartbeats, then wait for a signal."""
    beats = asyncio.ensure_future(_beat_first(scheduler, first))
    waiting = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({beats, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not stop.is_set():
            await beats
            await waiting
    finally:
        beats.cancel()
        waiting.cancel()


async def _beat_first(scheduler: Scheduler, names: Sequence[str]) -> None:
    for name in names:
        try:
            started = await scheduler.beat(name)
            await asyncio.shield(started.run)
        except TrimtabError as refused:
            log.error("beat.refused", heartbeat=name, reason=str(refused))


async def _answer(agent: Agent, scheduler: Scheduler, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer one request of the control socket.  Raises TrimtabError."""
    match request["do"]:
        case "beat":
            name = str(request.get("name"))
            found = agent.folder.heartbeats.get(name)
            if found is not None and (reason := await agent.refusal(found)):
                raise UsageError(f"{name} may not run now: {reason}")
            started = await scheduler.beat(name)
            run: Run = await asyncio.shield(started.run)
            return shown(run)
        case "explain":
            return dict(scheduler.explain(str(request.get("name"))).facts())
        case "status":
            due = {name: at.isoformat() if at else None for name, at in scheduler.next_due().items()}
            return {"version": __version__, "next_due": due, "tick_age_seconds": round(scheduler.tick_age(), 1)}
        case other:
            raise UsageError(f"there is no request {other!r}")


async def _count_unreviewed(agent: Agent, metrics: Metrics) -> None:
    """Keep the numbers of what waits for a person, and take in what a person has decided with plain git."""
    while True:
        try:
            await settle(agent.vault, agent.database)
            metrics.vault_unreviewed(await asyncio.to_thread(unreviewed, agent.vault))
            metrics.approvals_pending(await asyncio.to_thread(proposed, agent.vault))
        except StorageError as wrong:
            log.warning("vault.uncounted", reason=str(wrong))
        await agent.clock.sleep(_COUNT_SECONDS)


async def _tell_left_alone(agent: Agent) -> None:
    """Say once what in the vault the agent goes on without, such as names that are not UTF-8."""
    for line in await asyncio.to_thread(oddities, agent.vault.root, _LEFT_ALONE_SECONDS):
        log.warning("vault.left_alone", what=line)


def _names(home: Home, settings: Settings) -> Names:
    return Names(
        heartbeats=[path.stem for path in sorted(home.heartbeats.glob("*.md")) if NAME.fullmatch(path.stem)],
        models=list(settings.models),
        guards=[*(guard.name for guard in panel(settings, {}).guards), Checked.name],
        tools=sorted({*TOOLS, *settings.tools}),
        reasons=[reason.value for reason in Reason],
    )


def _log(settings: Settings, told: bool) -> None:
    as_json = {"json": True, "text": False, "auto": None}[settings.log.format]
    telemetry.setup("error" if told else settings.log.level, as_json=as_json)
