"""What waits for the person in a vault, and how it stands with its remote: for `status` and `doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from daemon.clock import SystemClock
from daemon.errors import ConfigError, StorageError
from daemon.home import Home
from daemon.memory import proposed, unreviewed
from daemon.settings import Settings
from daemon.syncing import Syncing, options_of
from vault import Vault, VaultError
from vault.paper import Failure

MOST_COUNTED = 1_000


@dataclass(frozen=True, slots=True)
class VaultState:
    """One vault: `problem` says why it cannot be looked at, and then nothing else is known.

    `waiting` has since when each proposal waits, the longest first; `remote` is None where nothing is synced.
    """

    problem: str | None = None
    waiting: tuple[datetime, ...] = ()
    unreviewed: int = 0
    remote: str | None = None
    synced: datetime | None = None
    failure: Failure | None = None


def vault_state(home: Home, settings: Settings) -> VaultState:
    """Look at an agent's vault beside whoever works with it."""
    try:
        options = options_of(settings.sync)
        with Vault.looked_at(home.vault) as vault:
            paper = Syncing(vault, options, home.path, SystemClock()).paper() if options else None
            return VaultState(
                waiting=tuple(proposed(vault)),
                unreviewed=unreviewed(vault, MOST_COUNTED),
                remote=options.url if options else None,
                synced=paper.last() if paper else None,
                failure=paper.failure() if paper else None,
            )
    except (VaultError, StorageError, ConfigError) as wrong:
        return VaultState(str(wrong))


def proposals_line(state: VaultState, age: str) -> str:
    """Say in a line what waits for approval; `age` is how long the oldest of it has waited."""
    if not state.waiting:
        return "proposals: none waits"
    count = len(state.waiting)
    what = "1 waits" if count == 1 else f"{count} wait, the oldest"
    return f"proposals: {what} since {age}: `trimtab vault review`"


def review_line(state: VaultState) -> str:
    """Say in a line what nobody has looked at yet."""
    if not state.unreviewed:
        return "review: nothing new"
    count = f"{state.unreviewed} or more" if state.unreviewed >= MOST_COUNTED else str(state.unreviewed)
    return f"review: {count} commit{'' if count == '1' else 's'} of the agent's to look at: `trimtab vault review`"


def sync_line(state: VaultState, last: str, tried: str) -> str:
    """Say in a line how the last exchange ended; `last` and `tried` are how long ago it succeeded and was tried."""
    if state.remote is None:
        return "sync: no remote is set; the notes are on this disk alone"
    done = f"last in step with {state.remote} {last}" if state.synced else f"never yet in step with {state.remote}"
    if state.failure is None:
        return f"sync: {done}"
    return f"sync: {done}; the try {tried} failed ({state.failure.reason}): {state.failure.text}"
