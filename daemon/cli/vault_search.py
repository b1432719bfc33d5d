"""`trimtab vault search` and `links`: what the notes say, and what leads from one to another."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from daemon.cli.listing import tell
from daemon.cli.place import home
from daemon.errors import UsageError
from daemon.memory import open_vault
from vault import Vault
from vault.escape import one_line

_WIDEST = 160
_Json = Annotated[bool, typer.Option("--json", help="Print one array of objects.")]
_Limit = Annotated[int, typer.Option(min=1, help="How many at most.")]
_Rebuild = Annotated[bool, typer.Option("--rebuild", help="Make the index from the files first.")]
_Words = Annotated[
    list[str], typer.Argument(metavar="WORDS", help="'\"a phrase\"' must stand there; wor* is a beginning.")
]
_Note = Annotated[str, typer.Argument(help="Its path or its name.")]


def search(words: _Words, limit: _Limit = 10, rebuild: _Rebuild = False, as_json: _Json = False) -> None:
    """Find the notes that fit these words best; newer ones come first where they fit equally."""
    query = " ".join(words)
    if not query.strip():
        raise UsageError("search needs at least one word")
    with open_vault(home().vault) as vault:
        if rebuild:
            vault.shelf.rebuild()
        hits = vault.shelf.search(query, limit, {}, syntax=True, fresh=True)
    rows = [asdict(hit) | {"score": round(hit.score, 2)} for hit in hits]
    tell(rows, as_json, (f"{one_line(h.path, _WIDEST)}:{h.line}: {one_line(h.excerpt, _WIDEST)}" for h in hits))


def links(note: _Note, as_json: _Json = False) -> None:
    """Show which notes a note links to, and which link to it."""
    with open_vault(home().vault) as vault:
        path = _path(vault, note)
        to, back = vault.shelf.links(path)
    rows = [{"path": path, "direction": "to", "name": link.name, "other": link.path} for link in to]
    rows += [{"path": path, "direction": "from", "name": None, "other": other} for other in back]
    shown = [f"to: {link.path or f'[[{link.name}]], which is no note'}" for link in to]
    shown += [f"from: {other}" for other in back]
    tell(rows, as_json, (one_line(line, _WIDEST) for line in shown or ["no links"]))


def _path(vault: Vault, note: str) -> str:
    found = vault.shelf.named(note)
    if found is None:
        raise UsageError(f"there is no note {one_line(note, 100)}")
    return found
