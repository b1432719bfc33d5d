"""The composition root: from an agent directory to stages that fit together.  Only here are concrete ones bound."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import structlog

from daemon.clock import SystemClock
from daemon.compacting import COMPARING, STREAM, Compacting, asks_a_model
from daemon.context.fit import Fit, Window, estimate
from daemon.context.gather import Gather
from daemon.errors import ConfigError
from daemon.heartbeat.file import is_empty
from daemon.heartbeat.folder import Folder
from daemon.home import Home
from daemon.judge import Judge
from daemon.loop import Loop
from daemon.memory import RECALL_PART, VaultMemory, open_vault
from daemon.models.router import Router
from daemon.observe.everyone import Everyone, ObservedRecorder
from daemon.panels import Lent, Panels
from daemon.plugging import checked, model_of, panel, unread, written_by
from daemon.recovery import Recovery, resting
from daemon.runner import Runner
from daemon.settings import Settings
from daemon.settings import load as load_settings
from daemon.stages import Clock, Counting, Model, Observer
from daemon.thread_notes import ThreadNotes
from daemon.tools.toolbox import Setting, Tool, Toolbox
from daemon.trajectories.database import Database
from daemon.trajectories.feedback import SqlFeedback
from daemon.trajectories.guard_states import SqlGuardStates
from daemon.trajectories.lately import Lately
from daemon.trajectories.ledger import SqlLedger
from daemon.trajectories.recorder import SqlRecorder
from daemon.trajectories.threads import SqlThreadLog
from daemon.types import Heartbeat, Occurrence, Run
from guards import Guard, Panel
from vault import Vault, VaultError

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent with its stages, open and ready; `run` carries out one occurrence."""

    home: Home
    settings: Settings
    clock: Clock
    database: Database
    vault: Vault
    folder: Folder
    ledger: SqlLedger
    states: SqlGuardStates
    threads: SqlThreadLog
    recorder: ObservedRecorder
    observer: Everyone
    models: Mapping[str, Model]
    tools: Mapping[str, Tool]
    panels: Panels = field(default_factory=Panels)

    async def run(self, heartbeat: Heartbeat, occurrence: Occurrence) -> Run:
        return await self.runner()(heartbeat, occurrence)

    def runner(self) -> Runner:
        return Runner(self._assemble, self.recorder, [self.observer], self.clock)

    async def refusal(self, heartbeat: Heartbeat) -> str | None:
        """Return why a person's wish to run a heartbeat now is refused, None if it may run."""
        if reason := self.halted():
            return f"everything is paused ({reason})"
        if is_empty(heartbeat):
            return "its instruction is empty"
        return await self.resting(heartbeat)

    def halted(self) -> str | None:
        """Return why nothing may start now: a person paused everything, or is in the middle of something in the vault.

        What instructs the agent is read from the vault's files, and they may then be of a branch that nobody approved.
        """
        if reason := self.home.paused():
            return f"{reason}; `trimtab resume` ends that"
        return self.vault.unready()

    async def resting(self, heartbeat: Heartbeat) -> str | None:
        """Return why a heartbeat must rest now, None if it may run."""
        return await resting(heartbeat.stream, self.states, self.clock, self._cooldown)

    @property
    def _cooldown(self) -> float:
        return self.settings.breaker.cooldown_seconds

    @property
    def _written(self) -> Mapping[str, tuple[str, ...]]:
        return written_by(self.tools, self.settings)

    async def _assemble(self, heartbeat: Heartbeat, run: Run) -> Loop:
        """Build the loop of one run.  Raises ConfigError when the heartbeat names what is not there."""
        model = self._route(heartbeat)
        draft = self.vault.draft(hold_all=self.settings.vault.review == "all")
        zone = heartbeat.schedule.timezone
        setting = Setting(heartbeat.name, run.id, run.started_at, zone, draft, self.home.path)
        memory = VaultMemory(draft, self.clock, self.observer)
        window = await self._window(heartbeat)
        gather = Gather(
            threads=self.threads,
            window=window,
            instructions=partial(asyncio.to_thread, _instructions, self.vault),
            recall=partial(
                memory.recall,
                limit=self.settings.context.recall_notes,
                tokens=window.tokens // RECALL_PART,
                count=window.count,
            ),
            zone=zone,
            told=SqlFeedback(self.database).told,
            written=self._written,
        )
        recovery = Recovery(
            heartbeat.stream,
            self._panel(heartbeat),
            self.states,
            self.clock,
            self._cooldown,
            self.observer,
            self._judge(heartbeat),
        )
        toolbox = Toolbox([self._tool(heartbeat, name) for name in heartbeat.tools], setting)
        so_far = replace(run, model=model.name)
        loop = Loop(gather, model, recovery, toolbox, memory, self.recorder, self.clock, so_far)
        fit = Fit(self.threads, window, self.settings.context.compact_at, self.settings.context.keep_runs)
        asks = asks_a_model(self.settings.context.summary, window)
        guarded = partial(self._guarded, heartbeat, window) if asks else None
        return replace(loop, upkeep=Compacting(loop, gather, fit, ThreadNotes(draft), guarded))

    async def _guarded(self, heartbeat: Heartbeat, window: Window, guard: Guard) -> Recovery | None:
        """Return what judges a model that sums up a thread, with limits of its own, None while its breaker is open.

        Not those that hold outputs against each other: a summary repeats the one before it by design.
        """
        stream, budget = heartbeat.stream + STREAM, heartbeat.budget
        if await resting(stream, self.states, self.clock, self._cooldown):
            return None
        limits = {"steps": 8, "tokens": 4 * window.tokens, "seconds": budget.seconds, "usd": budget.usd}
        alone = [one for one in panel(self.settings, {"budget": limits}).guards if one.name not in COMPARING]
        return Recovery(stream, Lent(Panel([*alone, guard])), self.states, self.clock, self._cooldown, self.observer)

    def _route(self, heartbeat: Heartbeat) -> Model:
        names = heartbeat.models or (next(iter(self.models)),)
        for name in names:
            if name not in self.models:
                known = ", ".join(self.models)
                raise ConfigError(f"heartbeats/{heartbeat.name}.md", "model", f"{name!r} is not one of {known}")
        return Router([self.models[name] for name in names], self.clock, tell=self.observer.model_state)

    def _judge(self, heartbeat: Heartbeat) -> Judge | None:
        """Return who may be asked for a second opinion: only a model of the heartbeat's own route."""
        section = self.settings.judge
        if section.model is None or section.model not in (heartbeat.models or (next(iter(self.models)),)):
            return None
        return Judge(self.models[section.model], section.seconds, heartbeat.stream)

    def _tool(self, heartbeat: Heartbeat, name: str) -> Tool:
        if name not in self.tools:
            known = ", ".join(sorted(self.tools))
            raise ConfigError(f"heartbeats/{heartbeat.name}.md", "tools", f"{name!r} is not one of {known}")
        return self.tools[name]

    async def _window(self, heartbeat: Heartbeat) -> Window:
        model = self.models[heartbeat.models[0] if heartbeat.models else next(iter(self.models))]
        if isinstance(model, Counting):
            return Window(await model.window(), model.count)
        return Window(self.settings.context.tokens, estimate)

    def _panel(self, heartbeat: Heartbeat) -> Lent:
        budget = heartbeat.budget
        limits = {"steps": budget.steps, "tokens": budget.tokens, "seconds": budget.seconds, "usd": budget.usd}
        extra: dict[str, dict[str, Any]] = {"budget": limits, "expect": {"tools": heartbeat.expect}}
        extra["facts"] = {"sources": heartbeat.facts}
        make = partial(panel, self.settings, extra, heartbeat.acknowledge, self._written)
        return self.panels.lend(heartbeat.stream, (extra, heartbeat.acknowledge), make)


@contextlib.asynccontextmanager
async def opened(
    home: Home,
    observers: Sequence[Observer] = (),
    clock: Clock | None = None,
    settings: Settings | None = None,
    *,
    patient: bool = False,
) -> AsyncIterator[Agent]:
    """Open the agent of a directory that the caller holds; everything is closed again, in order, at the end.

    With `patient` it opens although a person is in the middle of something in the vault; `halted` says so then.
    Raises ConfigError for anything that a person wrote wrongly, StorageError for a disk that does not work.
    """
    clock = clock or SystemClock()
    settings = settings or load_settings(home.path)
    tools = checked(settings)
    for line in unread(tools, settings):
        log.warning("guards.unread", what=line)
    models = {name: model_of(home, name, table) for name, table in settings.models.items()}
    async with contextlib.AsyncExitStack() as stack:
        for model in models.values():
            stack.push_async_callback(model.close)
        database = await asyncio.to_thread(Database.open, home.database)
        stack.push_async_callback(asyncio.to_thread, database.close)
        vault = await asyncio.to_thread(open_vault, home.vault, patient=patient)
        stack.push_async_callback(asyncio.to_thread, vault.close)
        everyone, lately = Everyone(observers), Lately()
        yield Agent(
            home=home,
            settings=settings,
            clock=clock,
            database=database,
            vault=vault,
            folder=Folder(home.heartbeats, settings.zone, models, tools),
            ledger=SqlLedger(database, clock),
            states=SqlGuardStates(database),
            threads=SqlThreadLog(database, lately),
            recorder=ObservedRecorder(SqlRecorder(database, lately), everyone),
            observer=everyone,
            models=models,
            tools=tools,
        )


def _instructions(vault: Vault) -> str:
    """Return AGENTS.md as it is in the work tree; an agent without one has only the rules."""
    try:
        return vault.draft().read("AGENTS.md")
    except VaultError:
        return ""
