"""`trimtab vault`: what the agent remembered, as a person reads it.  Every text from a note or a commit is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC
from typing import Annotated, Any

import typer

from daemon.cli.place import home
from daemon.errors import UsageError
from daemon.memory import open_vault
from vault import Commit, Vault
from vault.escape import one_line, visible

app = typer.Typer(no_args_is_help=True, help="What the agent remembered: log, search, review.")

MARK = "reviewed"
_WIDEST = 160
_Json = Annotated[bool, typer.Option("--json", help="Print one array of objects.")]
_Limit = Annotated[int, typer.Option(min=1, help="How many at most.")]


@app.command()
def log(limit: _Limit = 20, as_json: _Json = False) -> None:
    """List the newest commits: who wrote what, in which run."""
    with open_vault(home().vault) as vault:
        commits = [_shown(commit) for commit, _ in zip(vault.git.history(vault.head), range(limit), strict=False)]
    _tell(commits, as_json, (f"{c['commit'][:10]}  {c['time'][:16]}  {c['author']}: {c['subject']}" for c in commits))


@app.command()
def search(query: str, limit: _Limit = 10, as_json: _Json = False) -> None:
    """Find the notes that fit these words best."""
    if not query.strip():
        raise UsageError("search needs at least one word")
    with open_vault(home().vault) as vault:
        hits = vault.draft().search(query, limit)
    rows = [{"path": h.path, "line": h.line, "excerpt": h.excerpt, "score": round(h.score, 2)} for h in hits]
    _tell(rows, as_json, (f"{one_line(h.path, _WIDEST)}:{h.line}: {one_line(h.excerpt, _WIDEST)}" for h in hits))


@app.command()
def review(
    as_json: _Json = False,
    done: Annotated[bool, typer.Option("--done", help="Set the mark: everything up to now was reviewed.")] = False,
) -> None:
    """Show every commit since the `reviewed` mark with its changes, the oldest first; `--done` moves the mark."""
    with open_vault(home().vault) as vault:
        head, since = vault.head, vault.git.resolve(MARK)  # read once: what comes meanwhile was not shown
        if since is not None and not (head and vault.git.descends(head, since)):
            raise UsageError(
                f"the mark {MARK!r} is not in the history of {vault.branch!r}: set it with `git tag -f {MARK}`"
            )
        newest_first = list(vault.git.history(head, since))
        rows = [_reviewed(vault, commit) for commit in reversed(newest_first)]
        _tell(rows, as_json, (line for row in rows for line in _pages(row)))
        if done and head:
            vault.git.mark(MARK, head)
    if not as_json:
        told = "1 commit" if len(rows) == 1 else f"{len(rows)} commits"
        typer.echo(f"{told} since the mark {MARK!r}{', now reviewed' if done else ''}")


def _shown(commit: Commit) -> dict[str, Any]:
    subject, _, rest = commit.message.partition("\n")
    trailers = dict(line.split(": ", 1) for line in rest.splitlines() if line.startswith("Trimtab-") and ": " in line)
    return {
        "commit": commit.id,
        "time": f"{commit.author.when.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "author": one_line(commit.author.name, 60),
        "subject": one_line(subject, _WIDEST),
        "run": one_line(trailers.get("Trimtab-Run", ""), 60) or None,
        "heartbeat": one_line(trailers.get("Trimtab-Heartbeat", ""), 60) or None,
        "model": one_line(trailers.get("Trimtab-Model", ""), 100) or None,
    }


def _reviewed(vault: Vault, commit: Commit) -> dict[str, Any]:
    changes = [
        {"path": one_line(each.path, _WIDEST), "kind": each.kind, "patch": visible(each.patch)}
        for each in vault.git.changes(commit)
    ]
    return {**_shown(commit), "changes": changes}


def _pages(row: dict[str, Any]) -> Iterator[str]:
    yield f"commit {row['commit']}"
    yield f"{row['author']}, {row['time'][:16]}" + (f", run {row['run']}" if row["run"] else "")
    yield f"    {row['subject']}"
    for change in row["changes"]:
        yield change["patch"].rstrip("\n")
    yield ""


def _tell(rows: Sequence[dict[str, Any]], as_json: bool, lines: Iterator[str]) -> None:
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=True, indent=2))
        return
    for line in lines:
        typer.echo(line)
