"""How a listing is printed: one array of objects, or lines for a person."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import typer


def tell(rows: Sequence[dict[str, Any]], as_json: bool, lines: Iterable[str]) -> None:
    """Print the rows as JSON or the lines as they are."""
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=True, indent=2))
        return
    for line in lines:
        typer.echo(line)
