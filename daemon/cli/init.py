"""`trimtab init DIR`: a new agent directory with its vault and a heartbeat that watches the host."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from daemon.home import create
from daemon.errors import StorageError, TrimtabError


def init(
    directory: Annotated[Path, typer.Argument(help="Where the agent shall live; made if it is not there.")],
    timezone: Annotated[str, typer.Option(help="IANA time zone of the agent, such as Europe/Berlin.")] = "UTC",
) -> None:
    """Make an agent directory: settings, a vault under git, the starter heartbeats."""
    from vault import Vault, VaultError

    home, notes = create(directory.expanduser(), timezone)
    try:
        with Vault.create(home.vault, "trimtab", "trimtab@localhost") as vault:
            vault.plant(notes, "Begin with the starter agent")
    except VaultError as wrong:
        raise TrimtabError(str(wrong)) from None
    except OSError as wrong:
        raise StorageError(f"{home.vault}: cannot be written: {wrong.strerror}") from None
    typer.echo(f"{home.path} is an agent directory now:")
    typer.echo("  trimtab.toml                 what answers, and where it listens")
    typer.echo("  vault/AGENTS.md              who the agent is")
    typer.echo("  vault/heartbeats/*.md        what it does and when")
    typer.echo(f"Next: trimtab --dir {directory} run")
