"""What a streamed answer amounts to so far, in words that no wire format owns; and how it becomes a Reply.

It decides what may be acted on: calls of an answer that was cut off are dropped, and a call whose arguments are not a
JSON object becomes text again, so that guards and the record see what the model really said.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from daemon.models import call_text
from daemon.types import Finish, ToolCall

CHARS_PER_TOKEN = 4


class Complaint(Exception):
    """The provider ended its stream with an error of its own; `again` when it may work a moment later."""

    def __init__(self, words: object, *, again: bool) -> None:
        self.again = again
        super().__init__(str(words))


@dataclass(slots=True)
class CallDraft:
    """A tool call whose arguments are still coming."""

    id: str = ""
    name: str = ""
    args: str = ""


@dataclass(slots=True)
class Counts:
    """Tokens as the provider told them, else None.  `reused` and `written` (to its cache) are parts of `prompt`."""

    prompt: int | None = None
    completion: int | None = None
    reused: int = 0
    written: int = 0


@dataclass(slots=True)
class Draft:
    """Filled by the `hear` of a wire format, event by event.  `over` is set when the provider said that it was done."""

    pieces: list[str] = field(default_factory=list)
    calls: dict[int, CallDraft] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)
    finish: Finish | None = None
    over: bool = False
    notes: list[str] = field(default_factory=list)
    thought_chars: int = 0
    chars: int = 0
    heard: int = 0

    def say(self, text: str) -> str:
        """Add text, and return it for whoever watches the stream."""
        if text:
            self.pieces.append(text)
            self.chars += len(text)
            self.heard += 1
        return text

    def argue(self, index: int, fragment: str) -> str:
        """Add to the arguments of a call, and return the piece, because a model can run in circles there too."""
        self.calls.setdefault(index, CallDraft()).args += fragment
        self.chars += len(fragment)
        self.heard += 1
        return fragment

    @property
    def tokens(self) -> int:
        """About how many tokens came: most servers send one at a time, and four characters make one elsewhere."""
        return max(self.heard, -(-(self.chars + self.thought_chars) // CHARS_PER_TOKEN))

    def note(self, text: str) -> None:
        """Add a note once."""
        if text and text not in self.notes:
            self.notes.append(text)

    @property
    def text(self) -> str:
        return whole("".join(self.pieces))

    @property
    def said(self) -> bool:
        return bool(self.pieces or self.calls)

    def cut(self, finish: Finish) -> None:
        """End it before the provider did: what was not finished must not be acted on."""
        self.finish, self.over = finish, True
        if self.calls:
            self.notes.append(f"{len(self.calls)} unfinished tool calls were dropped")
            self.calls = {}

    def settled(self, offered: Collection[str], *, calls_in_text: bool) -> tuple[str, tuple[ToolCall, ...]]:
        """Return the text and the calls.  `offered` are the tools that the model was shown.

        Calls are looked for in the text only when the provider gave none of its own.
        """
        if self.finish in ("guard", "deadline"):
            return self.text, ()
        text, calls = self.text, list[ToolCall]()
        for _, draft in sorted(self.calls.items()):
            args = arguments(draft.args)
            if args is None or not draft.name:
                self.notes.append(
                    f"a call of {draft.name or 'a tool without a name'!r} was not a JSON object; it is kept as text"
                )
                text += f"\n{call_text.OPEN}\n{draft.name} {whole(draft.args)}\n{call_text.CLOSE}"
            else:
                calls.append(ToolCall(draft.id or call_text.new_id(), draft.name, args))
        if calls or self.calls or not offered or not calls_in_text:
            return text, tuple(calls)
        rest, found = call_text.parse(text)
        return (rest, found) if all(call.name in offered for call in found) else (text, ())


def whole(text: str) -> str:
    """Join surrogate pairs that came in two pieces, and replace halves that stayed alone."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def arguments(text: str) -> dict[str, Any] | None:
    """Return the object that `text` holds, None if it holds none.  No text at all is a call without arguments."""
    try:
        value = json.loads(text, parse_constant=_refused) if text.strip() else {}
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refused(constant: str) -> None:
    raise ValueError(constant)
