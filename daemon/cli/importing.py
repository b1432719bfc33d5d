"""`trimtab import PATH`: what another agent or Obsidian left in a folder becomes notes, shown before it is done."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from daemon import telemetry
from daemon.cli.place import home
from daemon.errors import UsageError
from daemon.home import Home, create, name_of, plant, starter_notes
from vault.escape import one_line
from vault.rules import is_instruction

if TYPE_CHECKING:
    from daemon.imports.plan import Plan

_STARTER_BEAT = "host-watch"


def import_folder(
    path: Annotated[Path, typer.Argument(help="A workspace (AGENTS.md, SOUL.md, memory/ ...) or a folder of notes.")],
    into: Annotated[
        Path | None, typer.Option("--into", help="The agent directory; made if it is not there. Default: this one.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what becomes of each file as an array.")] = False,
) -> None:
    """Bring a workspace of OpenClaw, nanobot or Hermes, or an Obsidian folder, into the vault."""
    telemetry.setup("error")
    folder = path.expanduser()
    if not folder.is_dir():
        raise UsageError(f"{path} is not a folder")
    place = home() if into is None else Home(into.expanduser())
    if folder.resolve() in (place.vault.resolve(), *place.vault.resolve().parents):
        raise UsageError(f"{path} holds the vault that it would go to")
    plan = _planned(folder, place)
    _show(plan, place, as_json)
    if dry_run:
        return
    if not plan.contents:
        typer.echo("There is nothing to import.", err=True)
        return
    if not yes and not typer.confirm("Do this?", err=True):
        raise typer.Exit(1)
    _do(plan, folder, place, as_json)


def _planned(folder: Path, place: Home) -> Plan:
    from zoneinfo import ZoneInfo

    from daemon.imports.landing import plan_of, present_in
    from daemon.memory import open_vault
    from daemon.settings import load

    if not place.settings.exists():
        starter = starter_notes(name_of(place.path))
        return plan_of(
            folder, ZoneInfo("UTC"), lambda note: starter.get(note) if note == "AGENTS.md" else None, starter
        )
    settings = load(place.path)
    with open_vault(place.vault) as vault:
        return plan_of(folder, settings.zone, present_in(vault), starter_notes(settings.name))


def _show(plan: Plan, place: Home, as_json: bool) -> None:
    if as_json:
        typer.echo(
            json.dumps([{"source": r.source, "target": r.target or None, "why": r.why} for r in plan.rows], indent=2)
        )
        return
    sources = [one_line(row.source, 60) for row in plan.rows]
    targets = [one_line(row.target, 60) or "left" for row in plan.rows]
    wide, far = (max(map(len, texts), default=0) for texts in (sources, targets))
    for source, target, row in zip(sources, targets, plan.rows, strict=True):
        arrow = "->" if row.target else "  "
        typer.echo(f"{source:<{wide}}  {arrow} {target:<{far}}  {one_line(row.why, 200)}".rstrip())
    left = sum(1 for row in plan.rows if not row.target)
    typer.echo(f"{len(plan.contents)} notes to write into {place.vault}, {left} files left where they are")
    paused = {f"heartbeats/{beat.name}.md" for beat in plan.beats if beat.paused}
    if rules := [one_line(path, 60) for path in plan.contents if is_instruction(path) and path not in paused]:
        typer.echo(f"The agent will obey these at once: {', '.join(rules)}")


def _do(plan: Plan, folder: Path, place: Home, as_json: bool) -> None:
    from daemon.imports.landing import carry_out
    from daemon.memory import open_vault

    if not place.settings.exists():
        made, notes = create(place.path, "UTC")
        live = any(not beat.paused for beat in plan.beats)
        quiet = {name for name, text in notes.items() if "\npaused: true" in text}
        plant(made, {n: text for n, text in notes.items() if not live or n in quiet or not n.startswith("heartbeats/")})
        if not live and plan.first is None:
            typer.echo(f"No heartbeat came with it: the agent begins with {_STARTER_BEAT}.", err=True)
    with open_vault(place.vault) as vault:
        kept = carry_out(plan, vault, folder.resolve().name.lstrip(".") or "folder")
    for remark in kept.remarks if kept else ():
        typer.echo(one_line(remark, 300), err=True)
    if as_json:
        return
    if kept:
        typer.echo(f"Imported in commit {kept.commit[:10]}, in your name.")
    paused = [beat.name for beat in plan.beats if beat.paused]
    if paused:
        typer.echo(f"Paused until you give them a schedule: {', '.join(paused)} (trimtab heartbeats resume NAME)")
    typer.echo(f"Next: trimtab --dir {shlex.quote(str(place.path))} beat {plan.first or _STARTER_BEAT}")
