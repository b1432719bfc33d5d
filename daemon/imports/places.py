"""Where each file of a workspace belongs in a vault, by the names that other agents give their files.

They were read in the documentation of OpenClaw, nanobot and Hermes Agent; any other Markdown keeps its path.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final

from vault.rules import is_instruction


class Use(StrEnum):
    """What a file becomes."""

    NOTE = "note"
    INSTRUCTIONS = "AGENTS.md"
    SKILL = "skill"
    HEARTBEATS = "heartbeats"
    JOBS = "jobs"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class Place:
    """What becomes of a file and where; `why` says it where the name alone does not."""

    use: Use
    target: str = ""
    why: str = ""


INSTRUCTIONS: Final = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "TOOLS.md")
"""What the other systems put before every prompt to say who the agent is, in the order in which they do."""

NOTES = {
    "USER.md": "people/user.md",
    "MEMORY.md": "agent/memory.md",
    "DREAMS.md": "agent/dreams.md",
    "BOOT.md": "agent/boot.md",
    "BOOTSTRAP.md": "agent/bootstrap.md",
    "HISTORY.md": "agent/history.md",
}
MEMORY = {"memory", "memories"}
_DAY = re.compile(r"\d{4}-\d\d-\d\d.*\.md", re.IGNORECASE)
_MARKS = {*INSTRUCTIONS, "USER.md", "MEMORY.md", "HEARTBEAT.md"}


def is_workspace(paths: Collection[str]) -> bool:
    """Whether these are the files of an agent's workspace, and not just notes."""
    tops = {path.partition("/")[0] for path in paths}
    return bool(_MARKS & set(paths)) or bool(MEMORY & tops and _MARKS & {path.rpartition("/")[2] for path in paths})


def inner(paths: Collection[str]) -> str:
    """Return "workspace/" where the workspace lies in a folder of that name, as in an agent's home; else nothing."""
    own = {path for path in paths if path.startswith("workspace/")}
    inside = {path.removeprefix("workspace/") for path in own}
    return "workspace/" if is_workspace(inside) and not _MARKS & set(paths) else ""


def place_of(path: str, *, workspace: bool) -> Place:
    """Return what becomes of a file at this path below the folder that is imported."""
    if path.endswith(".json"):
        jobs = workspace and path == "cron/jobs.json"
        return Place(Use.JOBS) if jobs else Place(Use.LEFT, why="not a Markdown note")
    plain = path[: -len(".md")] + ".md"  # .MD is no note's ending
    if workspace and (found := _of_workspace(plain)):
        return found
    if not is_instruction(plain):
        return Place(Use.NOTE, plain)
    aside = f"notes/{plain}"
    if is_instruction(aside):
        aside = f"{aside[: -len('.md')]}-note.md"
    return Place(Use.NOTE, aside, "kept as a note: at its own path it would instruct the agent")


def _of_workspace(path: str) -> Place | None:
    first, _, rest = path.partition("/")
    name = path.rpartition("/")[2]
    if path == "HEARTBEAT.md":
        return Place(Use.HEARTBEATS, "agent/heartbeat-before.md")
    if path in INSTRUCTIONS:
        return Place(Use.INSTRUCTIONS, "AGENTS.md", "" if path == "AGENTS.md" else f"as its part {path!r}")
    if path in NOTES or (first in MEMORY and rest in NOTES):
        return Place(Use.NOTE, NOTES[name], "not run at start" if name.startswith("BOOT") else "")
    if first in MEMORY:
        return Place(Use.NOTE, f"journal/{rest}" if _DAY.fullmatch(rest) else _free(f"agent/memory/{rest}"))
    skills = path.removeprefix(".agents/")
    if skills.startswith("skills/"):
        return Place(Use.SKILL, skills)
    return None


def _free(path: str) -> str:
    """Return a path at which nothing instructs."""
    return f"{path[: -len('.md')]}-note.md" if is_instruction(path) else PurePosixPath(path).as_posix()
