"""`trimtab vault`: what the agent remembered, as a person reads it.  Every text from a note or a commit is escaped."""

from __future__ import annotations

from typing import Annotated

import typer

from daemon.cli.listing import tell
from daemon.cli.place import home
from daemon.cli.proposals import approve, proposals, reject, revert
from daemon.cli.review import review
from daemon.cli.review_pages import commit_row
from daemon.cli.vault_search import links, search
from daemon.cli.vault_stats import stats
from daemon.memory import open_vault

app = typer.Typer(no_args_is_help=True, help="What the agent remembered: log, search, review, approve, revert.")
app.command()(review)
app.command()(proposals)
app.command()(approve)
app.command()(reject)
app.command()(revert)
app.command()(search)
app.command()(links)
app.command()(stats)

_Json = Annotated[bool, typer.Option("--json", help="Print one array of objects.")]
_Limit = Annotated[int, typer.Option(min=1, help="How many at most.")]


@app.command()
def log(limit: _Limit = 20, as_json: _Json = False) -> None:
    """List the newest commits: who wrote what, in which run."""
    with open_vault(home().vault) as vault:
        commits = [commit_row(commit) for commit, _ in zip(vault.git.history(vault.head), range(limit), strict=False)]
    tell(commits, as_json, (f"{c['commit'][:10]}  {c['time'][:16]}  {c['author']}: {c['subject']}" for c in commits))
