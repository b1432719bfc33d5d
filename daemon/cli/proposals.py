"""`trimtab vault proposals`, `approve`, `reject` and `revert`: decisions by name, for scripts and for the hurried."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Annotated

import typer

from daemon.cli.decisions import Decisions
from daemon.cli.listing import tell
from daemon.cli.place import home
from daemon.cli.review import proposal_row
from daemon.cli.review_pages import Ink, proposal_page
from daemon.errors import UsageError
from daemon.memory import open_vault
from vault import VaultError
from vault.escape import one_line

_Json = Annotated[bool, typer.Option("--json", help="Print one array of objects.")]
_Name = Annotated[str, typer.Argument(help="The proposal's name.")]
_Why = Annotated[str, typer.Option(help="Why, in one line; the agent is told.")]


def proposals(as_json: _Json = False) -> None:
    """Show what the agent has proposed and nobody has decided on, the oldest first."""
    with _desk() as desk:
        waiting = desk.proposals.waiting()
        rows = [proposal_row(desk, each) for each in waiting] if as_json else []
        pages = (
            line
            for each in waiting
            for line in (*proposal_page(Ink(), each, desk.heard(each.made), desk.moved(each)), "")
        )
        tell(rows, as_json, pages)
        if not as_json:
            typer.echo("1 proposal waits" if len(waiting) == 1 else f"{len(waiting)} proposals wait")


def approve(name: _Name) -> None:
    """Put a proposal in force: join it with what its notes say now, in one commit of yours."""
    with _desk() as desk:
        _told(desk, desk.approve(desk.proposals.named(name)))


def reject(name: _Name, why: _Why = "") -> None:
    """Take a proposal away; the agent is told why in its next prompt."""
    if not why.strip():
        raise UsageError("reject needs --why TEXT: the agent learns from it")
    with _desk() as desk:
        _told(desk, desk.reject(desk.proposals.named(name), why))


def revert(
    commit: Annotated[str, typer.Argument(help="The commit, or the beginning of its id.")], why: _Why = ""
) -> None:
    """Take back what a commit wrote, in a new commit; later edits stay, and the agent is told why."""
    if not why.strip():
        raise UsageError("revert needs --why TEXT: the agent learns from it")
    with _desk() as desk:
        found = desk.vault.git.find(commit)
        if found is None or not desk.vault.git.descends(desk.vault.head or "", found.id):
            raise UsageError(f"{commit}: no commit of {desk.vault.branch!r}; `trimtab vault log` lists them")
        done = desk.take_back(found, why)
        _told(desk, f"taken back in commit {done.kept.commit[:10]}: {', '.join(done.paths)}", *done.left)


@contextlib.contextmanager
def _desk() -> Iterator[Decisions]:
    """Open the vault for decisions; what it refuses is one line for the person."""
    agent = home()
    with open_vault(agent.vault) as vault:
        desk = Decisions(agent, vault)
        desk.settle()
        try:
            yield desk
        except VaultError as wrong:
            raise UsageError(str(wrong)) from None


def _told(desk: Decisions, *lines: str) -> None:
    for line in [*lines, *desk.notices]:
        typer.echo(one_line(line, 400))
