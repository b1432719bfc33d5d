"""Wikilinks: which notes a note names, and which note is meant by a name.

`[[Ann]]`, `[[people/ann|Ann]]`, `[[ann#Birthday]]` and `![[ann]]` all name the note `people/ann.md`.  What stands in
code is no link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

_LINK = re.compile(r"\[\[([^\[\]\n|#^]{1,300})(?:[#^][^\[\]\n|]{0,300})?(?:\|[^\[\]\n]{0,300})?\]\]")
_CODE = re.compile(r"^(?P<fence>```+|~~~+).*?(?:^(?P=fence)|\Z)|`[^`\n]*`", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Link:
    """A name in a note, and the note that it means, None for a broken link."""

    name: str
    path: str | None


def names_in(text: str) -> list[str]:
    """Return the notes that a text names, each once, in order.

    >>> names_in("See [[ann|Ann]], [[boats/blue#Sail]] and `[[not this]]`.")
    ['ann', 'boats/blue']
    """
    if "[[" not in text:
        return []
    found = (link.strip() for link in _LINK.findall(_CODE.sub(" ", text)))
    return list(dict.fromkeys(name for name in found if name))


def key_of(name: str) -> str:
    """Return what a name and a path have in common: the last part without its ending, in one case.

    >>> key_of("people/Ann.md"), key_of("Ann")
    ('ann', 'ann')
    """
    return PurePosixPath(name.strip("/")).name.removesuffix(".md").casefold()


def meant(name: str, candidates: Iterable[str]) -> str | None:
    """Return the path that a name means: that very path, else the shortest that ends with it.

    >>> meant("ann", ["people/ann.md", "people/old/ann.md"])
    'people/ann.md'
    """
    wanted = name.strip("/").removesuffix(".md").casefold()

    def fits(path: str) -> bool:
        mine = path.removesuffix(".md").casefold()
        return mine == wanted or mine.endswith("/" + wanted)

    return min(filter(fits, candidates), key=lambda path: (path.count("/"), len(path), path), default=None)
