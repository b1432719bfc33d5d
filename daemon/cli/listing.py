"""How a listing is printed: one array of objects, or lines for a person, no wider than the terminal if it is one."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import typer

LEAST = 40
"""Columns that a terminal is taken to have at least."""
_LABEL = re.compile(r"(?:Statistic|Source|False alarms|Silent on purpose|Options)[:,]")


def tell(rows: Sequence[dict[str, Any]], as_json: bool, lines: Iterable[str]) -> None:
    """Print the rows as JSON or the lines as they are."""
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=True, indent=2))
        return
    for line in lines:
        typer.echo(line)


def columns() -> int | None:
    """Return how wide the terminal is that standard output goes to, None where it goes elsewhere."""
    return max(LEAST, shutil.get_terminal_size().columns) if sys.stdout.isatty() else None


def hung(head: str, text: str, wide: int | None) -> str:
    """Return a text behind a head, its further lines below its beginning; as one line where `wide` is None."""
    if wide is None:
        return head + text
    wide, below = max(wide, len(head) + LEAST // 2), " " * len(head)
    return textwrap.fill(head + text, wide, subsequent_indent=below, break_on_hyphens=False)


def pages(text: str, wide: int | None) -> str:
    """Return a page with its paragraphs folded to so many columns; examples, which are indented, stay as they are."""
    if wide is None or wide >= max(map(len, text.split("\n"))):
        return text
    return "\n".join(_folded(text.split("\n"), wide))


def _folded(lines: Iterable[str], wide: int) -> Iterator[str]:
    said: list[str] = []
    for line in lines:
        if said and (not line.strip() or line.startswith("    ") or _LABEL.match(line)):
            yield textwrap.fill(" ".join(said), wide, break_on_hyphens=False)
            said = []
        if not line.strip() or line.startswith("    "):
            yield line
        else:
            said.append(line)
    if said:
        yield textwrap.fill(" ".join(said), wide, break_on_hyphens=False)


def counted(number: int, one: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {one}{'' if number == 1 else 's'}"
