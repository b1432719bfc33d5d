"""What the agent may write to a vault: pure functions that return or raise Refused with a reason to act on.

They see text and paths only.  Links, nested repositories and what lies on the disk are the worktree's business.
"""

from __future__ import annotations

import re
import unicodedata

from vault.errors import Refused
from vault.note import is_unclosed, parse
from vault.reveal import is_blank
from vault.secret_shapes import secret_in

LIMIT_BYTES = 256 * 1024
"""The largest note that is read or written."""

KEPT_SHARE = 0.75
"""The share of a note's characters that one run must leave in it."""

_LONGEST_PATH, _LONGEST_NAME, _DEEPEST = 400, 200, 8
_INSTRUCTION_FOLDERS = {"heartbeats", "goals", "skills"}
_INSTRUCTION_FILES = {"agents.md", "skill.md", "heartbeat.md"}
_INSTRUCTION_FILES_AT_THE_TOP = {"claude.md", "soul.md", "tools.md"}
_SHORT_NAME_OF_GIT = re.compile(r"git~\d+$", re.IGNORECASE)
_NOT_ON_WINDOWS = re.compile(r'[<>"|?*]')
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?: *\..*)?", re.IGNORECASE)
_SHORT_NAME = re.compile(r"~\d+(?:\.[^.]{0,3})?$")  # HEARTB~1 is heartbeats
_NOT_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def check_path(path: str) -> tuple[str, ...]:
    """Return the parts of a note's path below the vault, or raise Refused."""
    if not path or not isinstance(path, str):
        raise Refused("a note needs a path, for example people/ann.md")
    shown = repr(path[:80])
    if path.startswith(("/", "~")) or "\\" in path or ":" in path:
        raise Refused(f"{shown} is not a path below the vault: use one such as people/ann.md")
    parts = tuple(path.split("/"))
    if not path.isprintable() or any(unicodedata.category(c)[0] == "C" for c in path):
        raise Refused(f"{shown} holds invisible characters: use letters, digits, dots and dashes")
    longest = max(len(part.encode()) for part in parts)
    if len(path.encode()) > _LONGEST_PATH or len(parts) > _DEEPEST or longest > _LONGEST_NAME:
        raise Refused(f"the path {shown} is too long: at most {_LONGEST_PATH} bytes and {_DEEPEST} levels")
    for part in parts:
        _check_part(part, shown)
    if not path.endswith(".md"):
        raise Refused(f"{shown} is not a Markdown note: its name must end with .md")
    return parts


def _check_part(part: str, shown: str) -> None:
    if part in {"", ".", ".."}:
        raise Refused(f"{shown} is not a plain path below the vault: no empty, . or .. parts")
    folded = unicodedata.normalize("NFKC", part).lstrip()
    if folded.startswith(".") or _SHORT_NAME_OF_GIT.match(folded):
        raise Refused(f"{shown} is a hidden or git file, which is not a note")
    if part != part.strip() or part.endswith("."):
        raise Refused(f"{shown} has a part that begins or ends with a space or ends with a dot")


def is_instruction(path: str) -> bool:
    """Whether a file tells the agent what to do, so that a change by the agent waits for the person's approval.

    >>> is_instruction("heartbeats/host-watch.md"), is_instruction("people/ann.md")
    (True, False)
    """
    parts = [unicodedata.normalize("NFKC", part).casefold() for part in path.split("/")]
    if len(parts) == 1 and parts[0] in _INSTRUCTION_FILES_AT_THE_TOP:
        return True
    return parts[-1] in _INSTRUCTION_FILES or parts[0] in _INSTRUCTION_FOLDERS


def check_target(path: str, present: bytes | None) -> None:
    """Refuse to write where only the person writes; `present` is what the note holds now."""
    if present is None:
        _check_new_name(path)
    if present is not None:
        text_of(path, present)
        if is_unclosed(present):
            raise Refused(f"{path} has front matter that is never closed with ---: it is left alone, write elsewhere")
        if parse(present).read_only:
            raise Refused(f"{path} is marked read_only by the person: write to another note")


def _check_new_name(path: str) -> None:
    """Refuse a name that another system would not take, or would take for another; the person may have such notes."""
    if unicodedata.normalize("NFC", path) != path:
        raise Refused(f"{path!r} is not in composed (NFC) form")
    if blank := next((c for c in path if is_blank(c)), None):
        raise Refused(f"{path!r} holds U+{ord(blank):04X}, which nobody sees: use letters, digits, dots and dashes")
    if found := _NOT_ON_WINDOWS.search(path):
        raise Refused(f"{path!r} holds {found[0]!r}, which some systems do not take: use letters, digits and dashes")
    for part in path.split("/"):
        if _DEVICE.fullmatch(part) or _SHORT_NAME.search(part):
            raise Refused(f"{path!r}: {part!r} is another name of something else on Windows: choose a longer one")


def check_text(path: str, text: str, *, cut: bool = False) -> bytes:
    """Return the bytes of a new text, or refuse what is not for a note; `cut` says that the model was cut off."""
    if cut:
        raise Refused(f"the text for {path} was cut off at the token limit: write a shorter one")
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise Refused(f"the text for {path} is not valid Unicode") from None
    if found := _NOT_TEXT.search(text):
        raise Refused(f"the text for {path} holds the control character U+{ord(found[0]):04X}: notes are plain text")
    if secret := secret_in(text):
        raise Refused(f"the text for {path} looks like it holds {secret}: say where the secret is kept, not what it is")
    return check_size(path, data)


def check_size(path: str, data: bytes) -> bytes:
    """Return `data` unless a note of that size would be too large."""
    if len(data) > LIMIT_BYTES:
        raise Refused(f"{path} has {len(data):,} bytes; a note may have {LIMIT_BYTES:,}: begin another note")
    return data


def check_new(path: str, before: bytes | None, after: bytes) -> None:
    """Refuse an edit that changes nothing."""
    if before == after:
        raise Refused(f"{path} already says exactly that: nothing to write")


def check_kept(path: str, before: bytes | None, after: bytes) -> None:
    """Refuse an edit that loses more than a quarter of what the note held before the run."""
    if before is None:
        return
    old, new = len(before.decode("utf-8", "replace")), len(after.decode("utf-8", "replace"))
    if new < old * KEPT_SHARE:
        raise Refused(
            f"this would cut {path} from {old:,} to {new:,} characters; one run may take away at most a quarter: "
            "read the note and write it whole, or append to it"
        )


def text_of(path: str, data: bytes) -> str:
    """Return a note's text, or refuse one that is too large or no text."""
    check_size(path, data)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(f"{path} is not UTF-8 text: it is left alone") from None
    if "\0" in text:
        raise Refused(f"{path} is a binary file: it is left alone")
    return text
