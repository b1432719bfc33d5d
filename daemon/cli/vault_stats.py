"""`trimtab vault stats`: how the memory grows, and what in it could be tidied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated, Final

import typer

from daemon.cli.listing import tell
from daemon.cli.place import home
from daemon.errors import StorageError
from daemon.memory import open_vault
from vault import VaultError
from vault.census import Census, census
from vault.escape import one_line
from vault.reveal import reveal

_WIDEST: Final = 120
_SHOWN: Final = 5


def stats(as_json: Annotated[bool, typer.Option("--json", help="Print an array of one object.")] = False) -> None:
    """Say how the memory grows, and which notes are large, never read, doubles, badly linked or without description."""
    with open_vault(home().vault) as vault:
        try:
            found = census(vault)
        except VaultError as wrong:
            raise StorageError(str(wrong)) from None
    tell([asdict(found)] if as_json else [], as_json, _lines(found))


def _lines(found: Census) -> Iterator[str]:
    yield f"{found.notes:,} notes, {found.bytes:,} bytes"
    if found.weeks:
        yield "commits in the week from " + ", ".join(f"{day}: {count:,}" for day, count in found.weeks)
    yield from _some("largest", [f"{path} ({size:,} bytes)" for path, size in found.largest])
    if found.reads_since is None:
        yield "never read: not known yet; reads are counted from the first one on"
    else:
        yield from _some(f"never read since {found.reads_since[:10]}", found.unread)
    alike = [f"{pair.one} and {pair.other} ({pair.likeness:.0%})" for pair in found.alike]
    yield from _some("near duplicates", alike)
    yield from _some("broken links", [f"{broken.path} to [[{broken.name}]]" for broken in found.broken])
    yield from _some("without a description", found.undescribed)


def _some(what: str, items: Sequence[str]) -> Iterator[str]:
    yield f"{what}: {len(items):,}" if items else f"{what}: none"
    yield from (f"  {one_line(reveal(item).text, _WIDEST)}" for item in items[:_SHOWN])
    if len(items) > _SHOWN:
        yield f"  and {len(items) - _SHOWN:,} more (--json shows all)"
