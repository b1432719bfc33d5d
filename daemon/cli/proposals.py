"""`trimtab vault proposals`, `approve`, `reject` and `revert`: decisions by name, for scripts and for the hurried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from daemon.cli.decisions import Decisions, deciding
from daemon.cli.listing import tell
from daemon.cli.review_pages import Ink, change_row, commit_row, proposal_page
from daemon.errors import UsageError
from vault.escape import one_line
from vault.proposals import Proposal
from vault.reveal import reveal

_Json = Annotated[bool, typer.Option("--json", help="Print one array of objects.")]
_Name = Annotated[str, typer.Argument(help="The proposal's name.")]
_Why = Annotated[str, typer.Option(help="Why, in one line; the agent is told.")]


def proposals(as_json: _Json = False) -> None:
    """Show what the agent has proposed and nobody has decided on, the oldest first."""
    with deciding() as desk:
        waiting = desk.proposals.waiting()
        rows = [proposal_row(desk, each) for each in waiting] if as_json else []
        tell(rows, as_json, (line for each in waiting for line in (*_page(desk, each), "")))
        if not as_json:
            typer.echo("1 proposal waits" if len(waiting) == 1 else f"{len(waiting)} proposals wait")


def approve(name: _Name) -> None:
    """Put a proposal in force: join it with what its notes say now, in one commit of yours."""
    with deciding() as desk:
        _told(desk, desk.approve(desk.proposals.named(name)))


def reject(name: _Name, why: _Why = "") -> None:
    """Take a proposal away; the agent is told why in its next prompt."""
    if not why.strip():
        raise UsageError("reject needs --why TEXT: the agent learns from it")
    with deciding() as desk:
        _told(desk, desk.reject(desk.proposals.named(name), why))


def revert(
    commit: Annotated[str, typer.Argument(help="The commit, or the beginning of its id.")], why: _Why = ""
) -> None:
    """Take back what a commit wrote, in a new commit; later edits stay, and the agent is told why."""
    if not why.strip():
        raise UsageError("revert needs --why TEXT: the agent learns from it")
    with deciding() as desk:
        found = desk.vault.git.find(commit)
        if found is None or not desk.vault.git.descends(desk.vault.head or "", found.id):
            raise UsageError(f"{commit}: no commit of {desk.vault.branch!r}; `trimtab vault log` lists them")
        done = desk.take_back(found, why)
        _told(desk, f"taken back in commit {done.kept.commit[:10]}: {', '.join(done.paths)}", *done.left)


def proposal_row(desk: Decisions, proposal: Proposal) -> dict[str, Any]:
    """Return a proposal as commands print it."""
    return {
        **commit_row(proposal.made),
        "commit": proposal.tip,
        "proposal": proposal.name,
        "state": "waiting",
        **desk.origin(proposal.made),
        "moved": desk.moved(proposal),
        "wrong": desk.wrong(proposal),
        "changes": [change_row(change) for change in proposal.changes],
    }


def _page(desk: Decisions, proposal: Proposal) -> Iterator[str]:
    return proposal_page(Ink(), proposal, proposal_row(desk, proposal))


def _told(desk: Decisions, *lines: str) -> None:
    for line in [*lines, *desk.notices]:
        typer.echo(one_line(reveal(line).text, 400))
