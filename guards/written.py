"""What an agent writes through its tools (a note, a message): which words of an output stand in its calls.

Those words are a stream of their own, judged by a second set of the guards of words: a note and the reply beside it
often say the same, and would look like repeats of each other.  One set serves every model, and starts anew when a
model or prompt speaks that is new here.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

from guards.base import Guard, Json, Level, Output, Verdict
from guards.baselines import fresh, load_each
from guards.expect import names
from guards.promise import STREAMS
from guards.text import clip

Written: TypeAlias = Mapping[str, Sequence[str]]
"""The arguments that hold text for a person, by the name of the tool, or of one action of it ("vault.append").

One with the mark, "text:whole", holds the whole of a page each time: most of it stood there before by design, so that
it is judged in itself, for loops, and not held against what was written before.
"""

WHOLE = ":whole"
SUFFIX = "/written"
"""Comes after a guard's name in the memory, as the names of other models do: who forgets a guard forgets both."""
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


class Writing:
    """The guards of words once more, over what is written; `guards` are like those of what is said."""

    def __init__(self, guards: Sequence[Guard], written: Written, acknowledged: frozenset[str]) -> None:
        self._guards = [fresh(guard) for guard in guards if guard.judges_words and not guard.judges_deeds]
        self._written, self._acknowledged = written, acknowledged

    def update(self, output: Output) -> dict[str, Verdict]:
        """Judge the words in an output's calls, if there are any: a verdict of each guard, by its name."""
        text, new = (words(output.calls, self._written, whole=whole) for whole in (True, False))
        tools = ", ".join(dict.fromkeys(call.name for call in output.calls if held(call, self._written)))
        found = {}
        for guard in self._guards:
            shown = text if guard.kind == "gate" else new
            if shown and shown.strip() not in self._acknowledged:
                verdict = guard.update(replace(output, text=shown, calls=(), offered=None))
                found[guard.name] = _told(verdict, tools)
        return found

    def reset(self) -> None:
        """Forget the stream."""
        for guard in self._guards:
            guard.reset()

    def state(self) -> dict[str, dict[str, Json]]:
        """Return the memory by names of its own."""
        return {guard.name + SUFFIX: guard.state() for guard in self._guards}

    def load(self, states: Mapping[str, Mapping[str, Any]]) -> list[Verdict]:
        """Continue from `state()`; return a warning for each memory that could not be read."""
        unread = load_each(self._guards, states, SUFFIX)
        return [replace(verdict, reason=f"of what is written: {verdict.reason}") for verdict in unread]


def shared(guard: Guard) -> Guard:
    """Return a fresh guard with its part of the promise: there are as many streams as share it."""
    given: Any = getattr(guard, "options", None)
    new = copy.copy(guard)
    if hasattr(given, "caution"):
        new.options = replace(given, caution=STREAMS * given.caution)
    new.reset()
    return new


def _told(verdict: Verdict, tools: str) -> Verdict:
    """Return the verdict with words that say where the evidence stands."""
    if verdict.level is Level.PASS:
        return verdict
    why = f"in what it writes with {tools}: {verdict.reason}"
    return replace(verdict, reason=why, hint=f"In the text that you gave to {tools}: {verdict.hint}")


def _is_name(name: object) -> bool:
    return isinstance(name, str) and name.isprintable() and 0 < len(name) <= _LONGEST_NAME
