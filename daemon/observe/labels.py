"""Label values that cannot grow without end: what is not known, or comes when the table is full, is `other`.

Names reach a metric from models and files.  A label per made-up tool name would fill the memory of Prometheus.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

OTHER: Final = "other"


class Known:
    """Names given in advance; everything else is `other`."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(dict.fromkeys([*names, OTHER]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def label(self, name: str) -> str:
        return name if name in self._names else OTHER


class Bounded:
    """The first `most` names that were seen; those that come later are `other` until one is forgotten."""

    def __init__(self, most: int, names: Iterable[str] = ()) -> None:
        self._most = most
        self._names: dict[str, None] = dict.fromkeys([*names][:most])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def label(self, name: str) -> str:
        if name not in self._names:
            if len(self._names) >= self._most:
                return OTHER
            self._names[name] = None
        return name

    def forget(self, name: str) -> None:
        self._names.pop(name, None)
