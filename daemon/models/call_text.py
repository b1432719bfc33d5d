"""Tool calls that a model wrote into its text: finds them, and writes them the way this daemon asks for them.

It knows the markup of the common model families (Hermes and Qwen, Llama 3, Mistral, fenced JSON).  It does not know
which tools exist: a call of an unknown tool is still a call, and the toolbox answers it.  What is not whole stays text.
"""

from __future__ import annotations

import json
import re
import secrets
import string
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from daemon.types import ToolCall

OPEN, CLOSE = "<tool_call>", "</tool_call>"
MOST_ATTEMPTS = 64
"""How many places of one reply are tried; it keeps the time linear whatever the text is."""

_Found: TypeAlias = list[tuple[str, dict[str, Any]]]

_MARK = re.compile(r"<tool_call>|\[TOOL_CALLS\]|```(?:json|tool_call)?[ \t]*\n")
_SPACE = re.compile(r"\s*")
_NAMED = re.compile(r"\s*([\w.-]{1,64})(?:\[CALL_ID\]\w{1,64})?\[ARGS\]")
_FENCE_END = re.compile(r"\s*```")
_ENVELOPE = {"name", "arguments", "parameters", "type", "id"}


def new_id() -> str:
    """Return a fresh call id: nine letters and digits, which is what the strictest template (Mistral's) accepts."""
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(9))


def parse(text: str, new_id: Callable[[], str] = new_id) -> tuple[str, tuple[ToolCall, ...]]:
    """Return the text without its calls, and the calls in order.  Never raises; takes time linear in the text."""
    start = _end_of_thought(text)
    bare = text[start:].strip().removeprefix("<|python_tag|>")
    whole = _bare(bare) if bare.startswith("{") and bare.endswith("}") else None
    if whole is not None:
        return text[:start].strip(), (ToolCall(new_id(), *whole),)

    kept, calls, done, look, attempts = [], [], 0, start, 0
    while attempts < MOST_ATTEMPTS and (mark := _MARK.search(text, look)):
        look = mark.end()
        if mark[0] == "[TOOL_CALLS]" or text.startswith("{", _skip(text, look)):
            attempts += 1
            found, end = _read(text, mark)
            if found:
                kept.append(text[done : mark.start()])
                calls += [ToolCall(new_id(), name, args) for name, args in found]
                done = look = end
    if not calls:
        return text, ()
    return ("".join(kept) + text[done:]).strip(), tuple(calls)


def write(calls: Iterable[ToolCall]) -> str:
    """Return the calls as text that `parse` reads back."""
    return "\n".join(
        f"{OPEN}\n{json.dumps({'name': call.name, 'arguments': dict(call.args)}, ensure_ascii=False)}\n{CLOSE}"
        for call in calls
    )


def _end_of_thought(text: str) -> int:
    """Where the answer begins: a call inside a leading block of reasoning is a thought, not a request."""
    if not text.lstrip().startswith("<think>"):
        return 0
    end = text.find("</think>")
    return len(text) if end < 0 else end + len("</think>")


def _skip(text: str, at: int) -> int:
    """The next place at or behind `at` that is not white space."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _read(text: str, mark: re.Match[str]) -> tuple[_Found, int]:
    """Read what stands behind a mark; an empty list when it is not a whole call."""
    if mark[0] == OPEN:
        value, end = _json(text, mark.end())
        call = _call(value, strict=False)
        after = _skip(text, end)
        return ([call], after + len(CLOSE) if text.startswith(CLOSE, after) else end) if call else ([], 0)
    if mark[0] == "[TOOL_CALLS]":
        return _mistral(text, mark.end())
    value, end = _json(text, mark.end())
    call, closing = _call(value, strict=True), _FENCE_END.match(text, end)
    return ([call], closing.end()) if call and closing else ([], 0)


def _mistral(text: str, at: int) -> tuple[_Found, int]:
    if named := _NAMED.match(text, at):
        args, end = _json(text, named.end())
        call = _call({"name": named[1], "arguments": args}, strict=True)
        return ([call], end) if call else ([], 0)
    value, end = _json(text, at)
    calls = [_call(item, strict=False) for item in value] if isinstance(value, list) else []
    whole = [call for call in calls if call]
    return (whole, end) if whole and len(whole) == len(calls) else ([], 0)


def _bare(text: str) -> tuple[str, dict[str, Any]] | None:
    value, end = _json(text, 0)
    return _call(value, strict=True) if end == len(text) else None


def _json(text: str, at: int) -> tuple[Any, int]:
    """Decode one JSON value that begins at or behind `at`; (None, at) when there is none that can be kept."""
    try:
        value, end = _DECODER.raw_decode(text, _skip(text, at))
        # What cannot be written back (a lone surrogate, an infinite number) would break the database later.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None, at
    return value, end


def _no_constant(name: str) -> None:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _call(value: Any, *, strict: bool) -> tuple[str, dict[str, Any]] | None:
    """Return (name, args) of a decoded envelope.  `strict` is for places where plain JSON data may stand as well."""
    if isinstance(value, Mapping) and isinstance(value.get("function"), Mapping):
        value = value["function"]
    if not isinstance(value, Mapping) or (strict and not set(value) <= _ENVELOPE):
        return None
    name, args = value.get("name"), value.get("arguments", value.get("parameters", None if strict else {}))
    if isinstance(args, str):
        args = _json(args, 0)[0]
    return (name, args) if isinstance(name, str) and name.strip() and isinstance(args, dict) else None
