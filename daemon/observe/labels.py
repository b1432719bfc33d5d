"""Label values that cannot grow without end: what is not known, or comes when the table is full, is `other`.

Names reach a metric from models and files.  A label per made-up tool name would fill the memory of Prometheus, and one
that is not UTF-8 would make the whole page fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

OTHER: Final = "other"


def printable(name: str) -> str:
    """Return the name with each character that cannot be printed as its escape."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in name)


class Known:
    """Names given in advance; everything else is `other`."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(dict.fromkeys([*map(printable, names), OTHER]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def label(self, name: str) -> str:
        label = printable(name)
        return label if label in self._names else OTHER


class Bounded:
    """The first `most` names that were seen; those that come later are `other` until one is forgotten."""

    def __init__(self, most: int, names: Iterable[str] = ()) -> None:
        self._most = most
        self._names: dict[str, None] = dict.fromkeys([*map(printable, names)][:most])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: str) -> bool:
        return printable(name) in self._names

    def label(self, name: str) -> str:
        label = printable(name)
        if label not in self._names:
            if len(self._names) >= self._most:
                return OTHER
            self._names[label] = None
        return label

    def forget(self, name: str) -> None:
        self._names.pop(printable(name), None)
