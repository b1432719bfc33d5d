"""What a tool call asks with, as JSON, whatever a host or a transcript has put there.

Nothing of an odd value is asked: neither its text nor its comparison, which may raise or never end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

ODD = "(no JSON)"
"""Stands for every value that JSON has no form for, so that it compares equal to any other such."""
DEEPEST, MOST = 32, 10_000
"""Levels, and lists and objects in all, that are kept: a value that holds itself, or one part many times, ends."""
_PLAIN = frozenset((str, int, bool, float, type(None)))
_EXACT: tuple[tuple[type, Callable[[Any], object]], ...] = (
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
)
"""How a value of a class that was derived becomes one of its base, without anything that the class redefines."""


def plain_name(name: object) -> str:
    """Return the name of a tool as a text.

    >>> plain_name("read"), plain_name(None), plain_name(7), plain_name(object())
    ('read', 'None', '7', '(no JSON)')
    """
    return _key(name)


def plain_arguments(args: object) -> dict[str, object]:
    """Return arguments as an object of JSON values; what is no mapping gives none.

    >>> plain_arguments({"path": "a", "at": (1, {2: object()})})
    {'path': 'a', 'at': [1, {'2': '(no JSON)'}]}
    >>> plain_arguments(["path"])
    {}
    """
    found = _Reader().value(args)
    return found if isinstance(found, dict) else {}


class _Reader:
    """Copies values, and counts how many lists and objects it has copied."""

    def __init__(self) -> None:
        self._left = MOST

    def value(self, value: Any, levels: int = DEEPEST) -> object:
        kind = type(value)  # what its __class__ claims, which may raise, is not asked
        if kind in _PLAIN:
            return value
        for base, exact in _EXACT:
            if issubclass(kind, base):
                return exact(value)
        self._left -= 1
        if not levels or self._left < 0:
            return ODD
        if issubclass(kind, Mapping):
            pairs = dict.items(value) if issubclass(kind, dict) else ((key, value[key]) for key in value)
            return {_key(key): self.value(one, levels - 1) for key, one in pairs}
        if issubclass(kind, list | tuple):
            parts = list.__iter__(value) if issubclass(kind, list) else tuple.__iter__(value)
            return [self.value(one, levels - 1) for one in parts]
        return ODD


def _key(key: object) -> str:
    try:
        return str(_Reader().value(key, 0))
    except ValueError:  # a number of more digits than Python writes out
        return ODD
