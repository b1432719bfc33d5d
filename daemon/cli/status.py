"""`trimtab status`: one screen that says whether the agent is well."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from daemon.cli.overview import Overview, overview
from daemon.cli.place import home
from daemon.cli.story import plain
from daemon.cli.vault_state import VaultState, proposals_line, review_line, sync_line, vault_state
from vault.oddities import oddities

LEFT_ALONE_SECONDS: Final = 1.0
"""How long it looks for what is left alone in the vault; `doctor` looks for longer."""

_GOOD = ("ok", "nothing_to_do", "running", None)


def status(as_json: Annotated[bool, typer.Option("--json", help="Print the heartbeats as an array.")] = False) -> None:
    """Say what runs, what is due, how the last runs ended, which breakers are open and what was spent today.

    Then what waits for you in the vault, how the last exchange with its remote ended, and which files the agent goes on
    without.
    """
    place = home()
    seen = overview(place)
    if as_json:
        typer.echo(json.dumps(seen.heartbeats, indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 200)
    console.print(_headline(seen))
    console.print(_table(seen.heartbeats, seen.running))
    for row in seen.heartbeats:
        if row["problem"]:
            console.print(Text(f"not scheduled: {plain(row['problem'])}", style="red"))
        elif row["last_outcome"] not in _GOOD:
            reason = f": {plain(row['last_reason'])}" if row["last_reason"] else ""
            console.print(Text(f"{plain(row['name'])}: {row['last_outcome']}{reason}", style="yellow"))
    for breaker in seen.breakers:
        if breaker["state"] != "closed":
            rest = (
                f", a probe in {_length(breaker['wait_seconds'])}" if breaker["wait_seconds"] else ", a probe is next"
            )
            console.print(
                Text(f"breaker {breaker['thread']}/{breaker['guard']} is {breaker['state']}{rest}", style="red")
            )
    spent = seen.spent
    console.print(f"today (UTC): {spent['steps']} steps, {spent['tokens']:,} tokens, {spent['usd']:.4f} USD")
    for line in _of_the_vault(vault_state(place, seen.settings)):
        console.print(line)
    for odd in oddities(place.vault, LEFT_ALONE_SECONDS):
        console.print(Text(plain(f"left alone in the vault: {odd}"), style="yellow"))


def _of_the_vault(state: VaultState) -> list[Text]:
    if state.problem:
        return [Text(f"vault: {plain(state.problem)}", style="red")]
    since = _ago(state.waiting[0] if state.waiting else None)
    failed = state.failure
    sync = sync_line(state, f"{_ago(state.synced)} ago", f"{_ago(failed.at if failed else None)} ago")
    return [
        Text(proposals_line(state, since), style="yellow" if state.waiting else ""),
        Text(review_line(state)),
        Text(plain(sync), style="yellow" if failed else ""),
    ]


def _ago(at: datetime | None) -> str:
    return "" if at is None else _length(max(0.0, (datetime.now(UTC) - at).total_seconds()))


def _headline(seen: Overview) -> Text:
    runs = f"running, process {seen.holder or 'unknown'}" if seen.running else "not running"
    if seen.paused:
        paused = f"{runs}; paused ({plain(seen.paused)}), `trimtab resume` ends that"
        return Text(f"{seen.settings.name}: {paused}", style="bold yellow")
    return Text(f"{seen.settings.name}: {runs}", style="bold green" if seen.running else "bold yellow")


def _table(heartbeats: list[dict[str, Any]], running: bool) -> Table:
    table = Table("heartbeat", "schedule", "next due", "last run", "outcome", "24 hours", box=None, pad_edge=False)
    for row in heartbeats:
        due = "paused" if row["paused"] else _moment(row["next_due"], "not scheduled" if row["problem"] else "-")
        if row["next_due"] and not running:
            due = "nobody runs it"
        counts = ", ".join(f"{name} {count}" for name, count in row["last_day"].items())
        colour = "" if row["last_outcome"] in _GOOD else "red"
        outcome, started = Text(row["last_outcome"] or "-", colour), _moment(row["last_started"], "-")
        table.add_row(Text(plain(row["name"])), Text(row["schedule"] or "-"), due, started, outcome, counts or "-")
    return table


def _moment(text: str | None, otherwise: str) -> str:
    """Return a time of the database with how far it is from now."""
    if text is None:
        return otherwise
    at = datetime.fromisoformat(text)
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    away = (at - datetime.now(UTC)).total_seconds()
    return f"{at:%m-%d %H:%M:%S} ({'in ' + _length(away) if away >= 0 else _length(-away) + ' ago'})"


def _length(seconds: float) -> str:
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
