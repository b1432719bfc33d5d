"""The next thing to tidy in a vault, said so that a model can do it with one read and one write.

A note is never emptied: what was summed up is linked, and a link is how the next look knows that it is done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from vault import wikilinks
from vault.census import Census, census
from vault.escape import one_line

if TYPE_CHECKING:
    from vault.vault import Vault

SETTLED_DAYS: Final = 7
"""How old a page of the journal is before it is summed up, in days."""

_LONGEST_NAME = 60  # of a name that is no note's: a page may have written a command into the brackets
_PAGE = re.compile(r"journal/(\d{4}-\d{2}-\d{2})\.md")


@dataclass(frozen=True, slots=True)
class Job:
    """One thing to do, of a kind (double, journal, broken), about these notes; `text` tells a model how."""

    kind: str
    paths: tuple[str, ...]
    text: str


def jobs(vault: Vault, today: date) -> Iterator[Job]:
    """Give what could be tidied, the most useful first.  Raises VaultError."""
    found = census(vault)
    yield from _doubles(found)
    yield from _pages(found, vault.shelf.read(wikilinks.pairs), today)
    for broken in found.broken:
        name = one_line(broken.name, _LONGEST_NAME)
        yield Job(
            "broken",
            (broken.path,),
            f"{broken.path} links to [[{name}]], and there is no such note. Search for the note that is meant. "
            f"Read {broken.path} and write it whole with the right link, or without the brackets if there is no note.",
        )


def _doubles(found: Census) -> Iterator[Job]:
    for pair in found.alike:
        if not _PAGE.fullmatch(pair.one):
            yield Job(
                "double",
                (pair.one, pair.other),
                f"{pair.one} and {pair.other} say nearly the same ({pair.likeness:.0%}). Read both. Append to "
                f"{pair.one} what only {pair.other} says. Then append this line to {pair.other}: "
                f"Goes on in [[{pair.one.removesuffix('.md')}]]",
            )


def _pages(found: Census, linked: set[tuple[str, str]], today: date) -> Iterator[Job]:
    summed_up = {target for source, target in linked if not _PAGE.fullmatch(source)}
    for path in found.pages:
        page = _PAGE.fullmatch(path)
        if page is None or path in summed_up or not _is_settled(page[1], today):
            continue
        yield Job(
            "journal",
            (path,),
            f"{path} is older than {SETTLED_DAYS} days and not summed up. Read it. Append what will still matter in a "
            f"month, names and numbers exactly as they are, to the note that it belongs to (people/, projects/ or "
            f"agent/), and end the line with [[{page[1]}]]. If nothing will matter, append to agent/journal.md: "
            f"nothing to keep of [[{page[1]}]]",
        )


def _is_settled(day: str, today: date) -> bool:
    try:
        return today - date.fromisoformat(day) > timedelta(days=SETTLED_DAYS)
    except ValueError:
        return False
