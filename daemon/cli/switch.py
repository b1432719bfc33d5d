"""`trimtab pause` and `trimtab resume`: the kill switch of an agent, with or without a daemon running."""

from __future__ import annotations

from typing import Annotated

import typer

from daemon.cli.place import home
from daemon.errors import StorageError


def pause(
    reason: Annotated[str, typer.Argument(help="Why; status shows it.")] = "paused",
) -> None:
    """Start nothing any more until `resume`; a run that is under way ends by itself."""
    place = home()
    try:
        place.switch.write_text(" ".join(reason.split()) + "\n", encoding="utf-8")
    except OSError as wrong:
        raise StorageError(f"{place.switch}: cannot be written: {wrong.strerror}") from None
    typer.echo(f"paused: {place.paused()}")


def resume() -> None:
    """Let the heartbeats go on."""
    place = home()
    was = place.paused()
    try:
        place.switch.unlink(missing_ok=True)
    except OSError as wrong:
        raise StorageError(f"{place.switch}: cannot be removed: {wrong.strerror}") from None
    typer.echo("was not paused" if was is None else "resumed")
