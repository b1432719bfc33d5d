"""A note as bytes and as parts: front matter between two `---` lines, then the body.

Parsing and rendering are each other's inverse, byte for byte, for any bytes at all: what is not understood is kept as
it is.  Only plain `key: value` lines are read from the front matter; nested YAML is kept and left alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

_FENCED = re.compile(r"(---[ \t]*\r?\n)(.*?)(^---[ \t]*(?:\r?\n|\Z))", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^(?P<key>[A-Za-z_][\w-]*)(?P<colon>[ \t]*:(?:[ \t]+|$))(?P<value>[^\r\n]*)", re.MULTILINE)
_BEGUN = re.compile(r"---[ \t]*\r?\n[A-Za-z_][\w-]*[ \t]*:")
_FALSE = {"", "false", "no", "off", "0", "null", "~"}


@dataclass(frozen=True, slots=True)
class Note:
    """One note.  `opening` and `closing` are the fence lines as written, empty where there is no front matter."""

    body: str
    front: str = ""
    opening: str = ""
    closing: str = ""

    @property
    def fields(self) -> Mapping[str, str]:
        """The plain fields of the front matter, without quotes and trailing comments; the last of two equals wins."""
        return {m["key"]: _scalar(m["value"]) for m in _FIELD.finditer(self.front)}

    @property
    def read_only(self) -> bool:
        """Whether the person has closed this note to the agent; a word that is not known closes it too."""
        return self.fields.get("read_only", "").lower() not in _FALSE

    def having(self, key: str, value: str) -> Note:
        """Return this note with one field set; every other byte stays where it is."""
        line = f"{key}: {' '.join(value.split())}"
        if not self.opening:
            return replace(self, opening="---\n", front=line + "\n", closing="---\n")
        for found in reversed([*_FIELD.finditer(self.front)]):
            if found["key"] == key:
                return replace(self, front=self.front[: found.start()] + line + self.front[found.end() :])
        return replace(self, front=self.front + line + ("\r\n" if self.opening.endswith("\r\n") else "\n"))


def parse(data: bytes) -> Note:
    r"""Take a note apart.

    >>> parse(b"---\ndescription: a friend\n---\nAnn likes tea.\n").fields["description"]
    'a friend'
    """
    text = data.decode("utf-8", "surrogateescape")
    fenced = _FENCED.match(text)
    if fenced is None:
        return Note(text)
    return Note(text[fenced.end() :], fenced[2], fenced[1], fenced[3])


def is_unclosed(data: bytes) -> bool:
    r"""Whether a note begins front matter and never ends it, so that nobody knows what it says.

    >>> is_unclosed(b"---\nread_only: true\nAnn likes tea.\n"), is_unclosed(b"---\nA rule above a text.\n")
    (True, False)
    """
    text = data.decode("utf-8", "replace")
    return _BEGUN.match(text) is not None and _FENCED.match(text) is None


def render(note: Note) -> bytes:
    """Put a note together again."""
    return (note.opening + note.front + note.closing + note.body).encode("utf-8", "surrogateescape")


def _scalar(value: str) -> str:
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return re.split(r"(?:^|\s)#", value, maxsplit=1)[0].rstrip()
