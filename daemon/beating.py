"""One run of a heartbeat now, because a person asked for it: of an open agent, or of a directory that nobody holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from daemon.app import Agent, opened
from daemon.errors import ConfigError, UsageError
from daemon.heartbeat.timetable import Timetable
from daemon.home import Home
from daemon.stages import Observer
from daemon.types import Run


async def beat_in(agent: Agent, name: str) -> Run:
    """Run a heartbeat of an open agent now, as an occurrence of its own.  Raises UsageError or ConfigError."""
    agent.folder.look()
    found = agent.folder.found.get(name)
    if found is None:
        known = ", ".join(agent.folder.found) or "none"
        raise UsageError(f"there is no heartbeat {name!r} in {agent.home.heartbeats}; there is {known}")
    if isinstance(found, ConfigError):
        raise found
    if reason := await agent.refusal(found):
        raise UsageError(f"{name} may not run now: {reason}")
    claimed = await Timetable(agent.ledger, []).claim_manual(name, agent.clock.now())
    return await agent.run(found, claimed)


async def beat_once(home: Home, name: str, observers: Sequence[Observer]) -> dict[str, Any]:
    """Hold the directory for one run of a heartbeat and return the run as a command shows it."""
    with home.held():
        async with opened(home, observers) as agent:
            await agent.ledger.recover()
            return shown(await beat_in(agent, name))


def shown(run: Run) -> dict[str, Any]:
    """Return a run as commands print it."""
    return {
        "run": run.id,
        "heartbeat": run.occurrence.heartbeat,
        "scheduled_for": f"{run.occurrence.scheduled_for:%Y-%m-%dT%H:%M:%S.%fZ}",
        "outcome": str(run.outcome),
        "reason": run.reason,
        "said": run.said,
        "steps": run.steps,
        "prompt_tokens": run.usage.prompt,
        "completion_tokens": run.usage.completion,
        "reused_tokens": run.usage.reused,
        "usd": run.usage.usd,
        "model": run.model,
        "commit": run.commit,
    }
