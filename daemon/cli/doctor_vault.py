"""The doctor's checks of an agent's vault: can it be written, does its remote answer, does something wait for you?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from daemon.cli.doctor_finding import Finding
from daemon.cli.vault_state import proposals_line, review_line, vault_state
from daemon.clock import SystemClock
from daemon.errors import ConfigError
from daemon.home import Home
from daemon.settings import Settings
from daemon.syncing import Syncing, options_of
from vault import Vault, VaultError
from vault.oddities import oddities
from vault.permission import check_places
from vault.sync import SHALLOW
from vault.transport import SyncFailed

REMOTE_SECONDS: Final = 15.0
"""How long the remote may take to answer."""
LONG_WAIT: Final = timedelta(days=3)
"""How long a proposal may wait before the doctor, and the alert ProposalsWaiting, speak of it."""
_FIXES: Final = {
    "credentials": "give [sync] a token or an ssh_key that this remote knows; trimtab never asks for a password",
    "host_key": "put the remote's host key into known_hosts (`ssh-keyscan`, and compare it), or mend the certificate",
    "network": "the agent goes on without it and tries again on schedule",
    "timeout": "the agent goes on without it and tries again on schedule",
    "missing": "make an empty repository there, or mend the url under [sync]",
}


def vault(home: Home) -> Finding:
    """Say whether the vault is a repository in a state to commit to, and what in it is left alone."""
    try:
        with Vault.looked_at(home.vault) as found:
            check_places(found.root, found.git.gitdir)
            branch, head, odd, missing = found.branch, found.head, oddities(found.root), found.missing()
            shallow = (found.git.gitdir / "shallow").exists()
    except VaultError as wrong:
        return Finding("vault", "fail", str(wrong), "mend it with plain git")
    if missing:
        return Finding("vault", "fail", missing[0], "the last section of docs/runbook.md says how to get them back")
    left = [name for name in ("index.lock", "HEAD.lock") if (home.vault / ".git" / name).exists()]
    if left and not home.running():
        return Finding("vault", "warn", f"a git command left {', '.join(left)}", "the next start removes it")
    if shallow:
        return Finding("vault", "warn", SHALLOW, "until then nothing is synced; all else goes on")
    here = f"on {branch} at {head[:10] if head else 'no commit yet'}"
    if odd:
        return Finding("vault", "warn", f"{here}; left alone: {'; '.join(odd)}", "mend or rename it; all else goes on")
    return Finding("vault", "ok", here)


def waiting(home: Home, settings: Settings) -> Finding:
    """Say what waits for the person, and warn where it has waited for long."""
    state = vault_state(home, settings)
    if state.problem:
        return Finding("review", "warn", "not counted: the vault cannot be read", "see the vault's line")
    age = datetime.now(UTC) - state.waiting[0] if state.waiting else timedelta()
    text = f"{proposals_line(state, f'{age.days} d')}; {review_line(state)}"
    if age > LONG_WAIT:
        return Finding("review", "warn", text, "what is proposed changes nothing before you decide")
    return Finding("review", "ok", text)


def remote(home: Home, settings: Settings) -> Finding:
    """Say whether the vault's remote answers, and lets us in, without anybody being asked."""
    try:
        options = options_of(settings.sync)
        if options is None:
            return Finding("remote", "ok", "none is set; the notes are on this disk alone")
        with Vault.looked_at(home.vault) as vault:
            syncing = Syncing(vault, options, home.path, SystemClock())
            there, paper = syncing.reachable(REMOTE_SECONDS), syncing.paper()
    except SyncFailed as failed:
        fix = _FIXES.get(failed.reason, "`trimtab sync` tries it and says more")
        return Finding("remote", "fail", f"{failed.reason}: {failed}", fix)
    except (ConfigError, VaultError) as wrong:
        return Finding("remote", "fail", str(wrong), "mend that; nothing is synced before")
    what = f"{options.url} answers"
    if failure := paper.failure():
        text = f"{what}, but the exchange at {failure.at:%Y-%m-%d %H:%M} failed ({failure.reason}): {failure.text}"
        return Finding("remote", "warn", text, "the next exchange tries again; `trimtab sync` does it now")
    if there is None:
        return Finding("remote", "ok", f"{what} and is empty; the first exchange fills it")
    return Finding("remote", "ok", f"{what}{'' if there == paper.commit() else ' and has something new'}")
