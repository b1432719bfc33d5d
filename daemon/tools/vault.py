"""The `vault` tool: the agent's notes.  What it writes is pending until the run is kept.

It knows the journal, a page a day to which every heartbeat adds a line.  What may be written is for the vault's rules.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar

from daemon.errors import ToolError
from daemon.tools.base import Setting, Tool
from daemon.types import ToolSpec
from vault import VaultError
from vault.escape import one_line

_MOST_NAMES, _MOST_HITS = 200, 5
_NEEDS = {"read": ("path",), "search": ("query",), "write": ("path", "text"), "append": ("path", "text"), "list": ()}
_STRING = {"type": "string"}
_PARAMETERS = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": ["list", "read", "search", "write", "append"]},
        "path": {**_STRING, "description": "a note such as people/ann.md, or journal for the page of today"},
        "text": {**_STRING, "description": "what to write or append"},
        "query": {**_STRING, "description": "words to search for"},
    },
    "required": ["action"],
    "additionalProperties": False,
}
_ABOUT = (
    "Your notes, Markdown files that last. list: names below a folder; read: one note; search: notes with these words; "
    "write: the whole text of a note; append: a line at the end. Append to the path `journal` to note what you did."
)


class VaultTool(Tool):
    """Reads and writes notes."""

    name: ClassVar[str] = "vault"
    written: ClassVar[Mapping[str, tuple[str, ...]]] = {"vault.append": ("text",), "vault.write": ("text:whole",)}

    def spec(self) -> ToolSpec:
        """Return what the model is told."""
        return ToolSpec("vault", _ABOUT, _PARAMETERS, timeout_seconds=20.0)

    async def run(self, args: Mapping[str, Any], setting: Setting) -> str:
        """Do one action; a refusal of the vault is a ToolError with its reason."""
        action = str(args["action"])
        if missing := next((name for name in _NEEDS[action] if not args.get(name)), None):
            raise ToolError(f"{action} needs {missing!r}: {_PARAMETERS['properties'][missing]['description']}")  # type: ignore[index]
        try:
            return await asyncio.to_thread(_ACTIONS[action], args, setting)
        except VaultError as refused:
            raise ToolError(str(refused)) from None


def _list(args: Mapping[str, Any], setting: Setting) -> str:
    folder = str(args.get("path") or "")
    names = setting.draft.list(folder)
    more = [f"and {len(names) - _MOST_NAMES:,} more: name a folder"] if len(names) > _MOST_NAMES else []
    return "\n".join([*names[:_MOST_NAMES], *more]) or (f"no notes in {folder}" if folder else "no notes")


def _read(args: Mapping[str, Any], setting: Setting) -> str:
    path = _place(args, setting)
    text = setting.draft.read(path)
    setting.draft.was_read(path)
    return text


def _search(args: Mapping[str, Any], setting: Setting) -> str:
    hits = setting.draft.search(str(args["query"]), _MOST_HITS)
    return "\n".join(f"{hit.path}: {hit.excerpt}" for hit in hits) or "nothing found"


def _write(args: Mapping[str, Any], setting: Setting) -> str:
    if args["path"] == "journal":
        raise ToolError("the journal only grows: use append")
    setting.draft.write(str(args["path"]), str(args["text"]))
    return _done("written", str(args["path"]), setting)


def _append(args: Mapping[str, Any], setting: Setting) -> str:
    path, text = _place(args, setting), str(args["text"])
    if args["path"] == "journal":
        setting.draft.append(path, _entry(text, setting), start=f"# {setting.local:%Y-%m-%d}\n\n")
    else:
        setting.draft.append(path, text)
    return _done("appended to", path, setting)


def _done(what: str, path: str, setting: Setting) -> str:
    if setting.draft.holds(path):
        return f"proposed {path}: it waits for a person's approval and changes nothing until then"
    return f"{what} {path}"


_ACTIONS = {"list": _list, "read": _read, "search": _search, "write": _write, "append": _append}


def _place(args: Mapping[str, Any], setting: Setting) -> str:
    path = str(args["path"])
    return f"journal/{setting.local:%Y-%m-%d}.md" if path == "journal" else path


def _entry(text: str, setting: Setting) -> str:
    """One item of the day's list; further lines of the text are folded into it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise ToolError("append needs 'text': what to write or append")
    first = lines[0].removeprefix("- ")
    return "\n".join(
        [f"- {setting.local:%H:%M} {one_line(setting.heartbeat, 60)}: {first}", *(f"  {line}" for line in lines[1:])]
    )
