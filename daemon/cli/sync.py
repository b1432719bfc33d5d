"""`trimtab sync`: one exchange of the vault with its remote, now."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from daemon import telemetry
from daemon.cli.place import home
from daemon.errors import TrimtabError, UsageError


def sync(
    accept: Annotated[
        bool, typer.Option("--accept", help="Go on from what the remote has, though its history is another one.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the exchange as an array of one object.")] = False,
) -> None:
    """Exchange the vault with its remote now: take what came, push what is only here, force nothing."""
    from daemon.clock import SystemClock
    from daemon.memory import open_vault
    from daemon.settings import load
    from daemon.syncing import Syncing, options_of
    from vault.escape import one_line
    from vault.transport import SyncFailed

    telemetry.setup("error")
    place = home()
    options = options_of(load(place.path).sync)
    if options is None:
        raise UsageError(f"{place.settings} names no remote: give it a [sync] table with a url")
    with open_vault(place.vault) as vault:
        try:
            done = Syncing(vault, options, place.path, SystemClock()).exchange(accept=accept)
        except SyncFailed as failed:
            raise TrimtabError(f"not synced ({failed.reason}): {failed}") from None
    if as_json:
        facts = {"taken": done.taken, "pushed": done.pushed, "proposals": done.proposals, "remarks": done.remarks}
        typer.echo(json.dumps([facts], indent=2))
        return
    typer.echo(f"{done.taken} commit{'' if done.taken == 1 else 's'} taken, {done.pushed} pushed")
    for name in done.proposals:
        typer.echo(f"  waits for approval: {one_line(name, 100)}")
    for remark in done.remarks:
        typer.echo(f"  {one_line(remark, 300)}")
