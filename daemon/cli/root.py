"""The table of commands.  Only the group that is asked for is imported, so that no command pays for the others."""

from __future__ import annotations

import importlib
from typing import Annotated

import typer

from daemon import __version__
from daemon.cli.place import directory_first

__all__ = ["command", "directory_first"]

GROUPS = {
    "guards": "daemon.cli.guards",
    "heartbeats": "daemon.cli.heartbeats",
    "models": "daemon.cli.models",
    "service": "daemon.cli.service",
    "threads": "daemon.cli.threads",
    "trajectories": "daemon.cli.trajectories",
    "vault": "daemon.cli.vault",
}
COMMANDS = {
    "init": "daemon.cli.init:init",
    "run": "daemon.cli.run:run",
    "beat": "daemon.cli.beat:beat",
    "status": "daemon.cli.status:status",
    "explain": "daemon.cli.explain:explain",
    "doctor": "daemon.cli.doctor:doctor",
    "pause": "daemon.cli.switch:pause",
    "resume": "daemon.cli.switch:resume",
    "demo": "daemon.cli.demo:demo",
    "sync": "daemon.cli.sync:sync",
    "import": "daemon.cli.importing:import_folder",
}


def table(wanted: str | None) -> typer.Typer:
    """Return the application with the command `wanted`, or with all of them."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        help="Keeps an autonomous agent running for months, and keeps it on course. "
        "Works on the agent directory that you stand in, or that --dir DIR names.",
    )
    app.callback()(_options)
    for name, target in COMMANDS.items():
        if wanted in (name, None):
            module, _, function = target.partition(":")
            app.command(name)(getattr(importlib.import_module(module), function))
    for name, module in GROUPS.items():
        if wanted in (name, None):
            app.add_typer(importlib.import_module(module).app, name=name)
    return app


def command(arguments: list[str]) -> int:
    """Run one command and return its exit code.  Raises TrimtabError."""
    first = next((argument for argument in arguments if not argument.startswith("-")), None)
    known = first if first in GROUPS or first in COMMANDS else None
    try:
        typer.main.get_command(table(known))(args=arguments, prog_name="trimtab")
    except SystemExit as done:  # how typer says its exit code, after it has shown a complaint about the usage
        return done.code if isinstance(done.code, int) else int(done.code is not None)
    return 0


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"trimtab {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Say which version this is.", is_eager=True, callback=_say_version)
    ] = False,
) -> None:
    """Options of trimtab itself; `--dir DIR` is taken out before, wherever it stands."""
