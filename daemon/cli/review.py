"""`trimtab vault review`: what is new since the mark, to look at and to decide on, at a terminal or in a script."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from daemon.cli.decisions import Decisions, deciding
from daemon.cli.listing import tell
from daemon.cli.proposals import proposal_row
from daemon.cli.review_pages import APPROVED, BY_HAND, Ink, change_row, commit_page, commit_row, proposal_page
from daemon.errors import UsageError
from vault.escape import one_line
from vault.proposals import Proposal
from vault.reveal import reveal
from vault.review import REVIEWED, Item

Row = dict[str, Any]
_Json = Annotated[bool, typer.Option("--json", help="Print one array of objects.")]
_Why = Annotated[str, typer.Option(help="Why, in one line; the agent is told.")]


def review(
    commits: Annotated[
        list[str] | None, typer.Argument(help="Only these commits, by the beginning of their id.")
    ] = None,
    approve: Annotated[bool, typer.Option("--approve", "--done", help="Approve every commit that is shown.")] = False,
    revert: Annotated[list[str] | None, typer.Option(help="Take back what this commit wrote; needs --why.")] = None,
    why: _Why = "",
    skip: Annotated[bool, typer.Option("--skip", help="Show only, decide nothing.")] = False,
    as_json: _Json = False,
) -> None:
    """Show what is new since the mark `reviewed`, the oldest first, and decide on it.

    At a terminal each commit of the agent's waits for a key (approve, revert, edit, skip, quit); your own commits pass.
    Then come the proposals that wait. In a script nothing is decided but by --approve and --revert; proposals are for
    `vault approve` and `vault reject`. Plain `git log reviewed.. -p` shows the same commits.
    """
    if skip and (approve or revert):
        raise UsageError("--skip decides nothing: use it without --approve and --revert")
    if revert and not why.strip():
        raise UsageError("--revert needs --why TEXT: the agent learns from it")
    with deciding() as desk:
        items, waiting = desk.review.items(), desk.proposals.waiting()
        chosen = _chosen(items, commits or [])
        if not (approve or revert or skip or as_json) and sys.stdin.isatty() and sys.stdout.isatty():
            _at_the_terminal(desk, chosen, () if commits else waiting)
            return
        undo = [item for each in revert or [] for item in _chosen(items, [each])]
        _in_a_script(desk, chosen, () if commits else waiting, as_json)
        _decide(desk, chosen if approve else [], undo, why, as_json)


def _at_the_terminal(desk: Decisions, items: Sequence[Item], waiting: Sequence[Proposal]) -> None:
    from daemon.cli.keys import Terminal
    from daemon.cli.review_screen import Screen

    Screen(Terminal(sys.stdin, sys.stdout), _ink(), desk).work_through(items, waiting)


def _in_a_script(desk: Decisions, items: Sequence[Item], waiting: Sequence[Proposal], as_json: bool) -> None:
    rows = [_row(desk, item) for item in items] if as_json else []
    rows += [proposal_row(desk, each) for each in waiting] if as_json else []
    tell(rows, as_json, _pages(desk, items, waiting))
    if not as_json:
        told = "1 commit" if len(items) == 1 else f"{len(items)} commits"
        more = f" and {len(waiting)} proposal{'s' if len(waiting) > 1 else ''}" if waiting else ""
        typer.echo(f"{told} since the mark {REVIEWED!r}{more}")


def _decide(desk: Decisions, chosen: Sequence[Item], undo: Sequence[Item], why: str, as_json: bool) -> None:
    """Carry out what the flags say: first what is taken back, then the approval of the rest."""
    for item in undo:
        done = desk.take_back(item.commit, why)
        said = f"taken back in commit {done.kept.commit[:10]}: {', '.join(done.paths)}"
        for line in [said, *done.left]:
            typer.echo(one_line(reveal(line).text, 400), err=as_json)
    if chosen:
        desk.review.approve([item.commit.id for item in chosen])
        count = sum(item.open for item in chosen) - len(undo)
        typer.echo(f"{max(0, count)} approved; the mark is {(desk.review.mark() or 'not set')[:10]}", err=as_json)
    for notice in desk.notices:
        typer.echo(one_line(notice, 400), err=True)


def _chosen(items: Sequence[Item], commits: Sequence[str]) -> list[Item]:
    """Return the items whose ids begin so, all where none is named.  Raises UsageError."""
    if not commits:
        return list(items)
    found = list[Item]()
    for name in commits:
        fitting = [item for item in items if len(name) >= 4 and item.commit.id.startswith(name)]
        if len(fitting) != 1:
            what = "more than one commit" if fitting else "no commit"
            raise UsageError(f"{name}: {what} since the mark {REVIEWED!r} begins so; `trimtab vault log` lists them")
        found += fitting
    return found


def _row(desk: Decisions, item: Item) -> Row:
    state = "open" if item.open else "approved" if item.by_agent else "by_hand"
    changes = [change_row(change) for change in desk.vault.git.changes(item.commit)]
    return {
        **commit_row(item.commit),
        "proposal": None,
        "state": state,
        **desk.origin(item.commit),
        "changes": changes,
    }


def _pages(desk: Decisions, items: Sequence[Item], waiting: Sequence[Proposal]) -> Iterator[str]:
    ink = _ink()
    for item in items:
        row = {**commit_row(item.commit), **desk.origin(item.commit)}
        whose = "" if item.open else APPROVED if item.by_agent else BY_HAND
        yield from commit_page(ink, row, desk.vault.git.changes(item.commit), whose)
        yield ""
    for proposal in waiting:
        yield from proposal_page(ink, proposal, proposal_row(desk, proposal))
        yield ""


def _ink() -> Ink:
    return Ink(colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb")
