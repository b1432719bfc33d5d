"""How text that nobody vouches for is shown to a model: between marks that it cannot close, and cut to fit."""

from __future__ import annotations

import importlib.resources
import re
from functools import cache

_UNSEEN = "\\s\u00ad\u034f\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff"
_MARK = re.compile(rf"[<\uff1c\ufe64](?=[{_UNSEEN}/\\\uff0f]*data\b)", re.IGNORECASE)
_SOURCE = re.compile(r"[^\w.:/-]+")


def marked(source: str, text: str, limit: int) -> str:
    """Return `text` between data marks, at most about `limit` characters of it.

    A mark inside the text loses its bracket, so that hostile text cannot end its own quotation; a mark with blanks,
    invisible or wide characters in it is one too, for a model reads it as one.
    """
    shown = text if len(text) <= limit else f"{text[:limit]}\n(cut: {limit:,} of {len(text):,} characters shown)"
    return f'<data from="{_SOURCE.sub("_", source)[:60]}">\n{_MARK.sub("‹", shown)}\n</data>'


@cache
def prompt(name: str) -> str:
    """Return a text that models are told: prompts/NAME.md."""
    return (importlib.resources.files("daemon.context") / f"prompts/{name}.md").read_text(encoding="utf-8").strip()


def rules() -> str:
    """Return what every agent is told besides its own instructions."""
    return prompt("rules")
