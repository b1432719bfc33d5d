"""`trimtab doctor`: one line for each thing that an agent stands on, and what to do about it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

import daemon as package
from daemon import telemetry
from daemon.cli import doctor_agent, doctor_machine, doctor_vault
from daemon.cli.doctor_finding import Check, Finding
from daemon.cli.overview import folder_of
from daemon.cli.place import home as here
from daemon.errors import ConfigError, TrimtabError, UsageError
from daemon.home import Home
from daemon.models import MODELS, shipped
from daemon.registry import load
from daemon.settings import Settings, validated
from daemon.settings import load as load_settings
from daemon.stages import Model

_MARKS = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print one array of objects.")] = False) -> None:
    """Check everything that this agent stands on; the exit code is 1 when anything fails."""
    telemetry.setup("error")
    found = []
    for check in checks():
        found.append(check())
        if not as_json:
            typer.echo(shown(found[-1]))
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in found], indent=2))
    if any(finding.level == "fail" for finding in found):
        raise typer.Exit(1)


def shown(finding: Finding) -> str:
    """Return a finding as a person reads it; text from files cannot break out of its line."""
    line = telemetry.escape(f"{_MARKS[finding.level]}  {finding.name}: {finding.text}")
    return f"{line}\n      → {telemetry.escape(finding.fix)}" if finding.fix and finding.level != "ok" else line


def checks() -> Iterator[Check]:
    """Give every check there is: those of the machine always, those of an agent where there is one."""
    try:
        place = here()
    except UsageError as none:
        yield from of_machine([])
        reason = str(none)
        yield lambda: Finding("directory", "fail", reason, "call this in an agent directory, or with --dir DIR")
        return
    yield from of_machine([place.settings, place.database])
    yield partial(doctor_agent.directory, place)
    yield partial(doctor_agent.disk, place)
    yield partial(doctor_vault.vault, place)
    yield partial(doctor_agent.database, place)
    yield partial(doctor_agent.daemon, place)
    try:
        settings = load_settings(place.path)
    except ConfigError as wrong:
        line = str(wrong)
        yield lambda: Finding("settings", "fail", line, "mend the line; nothing was started")
        return
    yield from of_settings(place, settings)


def of_machine(surely_past: Iterable[Path]) -> Iterator[Check]:
    """Give the checks of the machine; the files of `surely_past` were written before now."""
    files = [Path(package.__file__), *(path for path in surely_past if path.exists())]
    newest = datetime.fromtimestamp(max(path.stat().st_mtime for path in files), UTC)
    yield doctor_machine.python
    yield doctor_machine.import_names
    yield doctor_machine.llama
    yield partial(doctor_machine.shipped_model, shipped.PATH, shipped.SHA256)
    yield doctor_machine.git
    yield partial(doctor_machine.clock, datetime.now(UTC), newest)


def of_settings(place: Home, settings: Settings) -> Iterator[Check]:
    """Give the checks of what `trimtab.toml` names."""
    yield partial(Finding, "settings", "ok", f"{place.settings.name} is valid; the agent is called {settings.name}")
    yield partial(doctor_agent.heartbeats, folder_of(place, settings))
    yield partial(doctor_agent.tools, settings)
    yield partial(doctor_agent.guards, settings)
    yield partial(doctor_agent.metrics, place, settings.metrics.host, settings.metrics.port)
    yield partial(doctor_machine.unit, settings.name)
    yield partial(doctor_vault.waiting, place, settings)
    yield partial(doctor_vault.remote, place, settings)
    for name, table in settings.models.items():
        yield partial(_model, place, name, dict(table))


def _model(place: Home, name: str, table: dict[str, object]) -> Finding:
    backend = str(table.pop("backend", None))
    try:
        made = load(f"models.{name}.backend", MODELS, backend, file=place.settings)
        one: Model = made(name, validated(made.Options, table, place.settings, f"models.{name}"), place.path)
    except TrimtabError as wrong:
        return Finding(f"model {name}", "fail", str(wrong), f"see [models.{name}] in trimtab.toml")
    return doctor_agent.model(name, one)
