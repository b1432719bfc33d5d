"""What an agent writes through its tools (a note, a message): which words of an output stand in its calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from guards.expect import names
from guards.text import clip

Written: TypeAlias = Mapping[str, Sequence[str]]
"""The arguments that hold text for a person, by the name of the tool, or of one action of it ("vault.append").

One with the mark, "text:whole", holds the whole of a page each time: most of it stood there before by design, so that
it is judged in itself, for loops, and not held against what was written before.
"""

WHOLE = ":whole"
_LONGEST_NAME = 100


class Asked(Protocol):
    """A tool call, a guard's or a host's."""

    @property
    def name(self) -> str:
        """The tool."""

    @property
    def args(self) -> Mapping[str, Any]:
        """The arguments."""


def arguments(given: object) -> tuple[str, ...]:
    """Return the names of a tool's arguments: one text, or a list of them; raises ValueError with what was expected.

    >>> arguments("text"), arguments(["subject", "body", "body"])
    (('text',), ('subject', 'body'))
    """
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list | tuple) or not all(map(_is_name, listed)):
        raise ValueError("expected the name of an argument that holds text, or a list of such names")
    return tuple(dict.fromkeys(listed))


def declared(written: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """Return a declaration whose names are checked, less the tools without arguments; raises ValueError."""
    if not all(map(_is_name, written)):
        raise ValueError("'written' should name tools, in a line of text each")
    found = {}
    for tool, given in written.items():
        try:
            found[tool] = arguments(given)
        except ValueError as wrong:
            raise ValueError(f"'written', {tool!r}: {wrong}") from None
    return {tool: listed for tool, listed in found.items() if listed}


def held(call: Asked, written: Written, *, whole: bool = True) -> dict[str, str]:
    """Return the arguments of a call that hold words for a person, by name; with or without those that hold a whole."""
    listed = [argument for name in names(call.name, call.args) for argument in written.get(name, ())]
    plain = [argument.removesuffix(WHOLE) for argument in listed if whole or not argument.endswith(WHOLE)]
    found = {argument: call.args.get(argument) for argument in plain}
    return {argument: text for argument, text in found.items() if isinstance(text, str) and text.strip()}


def words(calls: Iterable[Asked], written: Written, *, whole: bool = True) -> str:
    """Return the words that stand in calls, with an empty line between one text and the next.

    >>> from guards.base import Call
    >>> calls = Call("vault", {"action": "append", "text": "All is calm."}), Call("say", {"to": "Ann", "it": "Hello."})
    >>> words(calls, {"vault.append": ("text",)}), words(calls, {"say": ("to", "it")})
    ('All is calm.', 'Ann\\n\\nHello.')
    """
    return "\n\n".join(clip(text) for call in calls for text in held(call, written, whole=whole).values())


def _is_name(name: object) -> bool:
    return isinstance(name, str) and name.isprintable() and 0 < len(name) <= _LONGEST_NAME
