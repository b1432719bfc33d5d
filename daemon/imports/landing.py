"""An import carried out: one commit in the person's name; what the folder held is not touched."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from daemon.errors import StorageError, UsageError
from daemon.imports.folder import files_of
from daemon.imports.plan import Plan, Planner, Present
from vault import Kept, Refused, Vault, VaultError
from vault.edit import Edit
from vault.landing import LARGEST_READ


def plan_of(folder: Path, zone: ZoneInfo, present: Present, starter: Mapping[str, str]) -> Plan:
    """Return what importing a folder would do.  Raises UsageError when it cannot be read."""
    origin = folder.resolve().name.lstrip(".") or "folder"
    try:
        return Planner(origin, zone, present, starter).make(files_of(folder))
    except OSError as wrong:
        raise UsageError(f"{folder}: cannot be read: {wrong.strerror}") from None


def present_in(vault: Vault) -> Present:
    """Return how to ask what a note of a vault says now."""

    def present(path: str) -> str | None:
        try:
            data = vault.files.read(tuple(path.split("/")), LARGEST_READ)
        except Refused:
            return "\0"  # something is there, and it is not what would be written
        return None if data is None else data.decode("utf-8", "replace")

    return present


def carry_out(plan: Plan, vault: Vault, origin: str) -> Kept | None:
    """Write what a plan says, all or nothing; None when there is nothing to write.  Raises StorageError."""
    if not plan.contents:
        return None
    present, edits = present_in(vault), dict[str, Edit]()
    for path, text in plan.contents.items():
        here = present(path)
        edits[path] = Edit(None if here is None else here.encode(), text.encode())
    count = len(plan.contents)
    subject = f"import {count} note{'' if count == 1 else 's'} from {origin}"
    try:
        return vault.commit(edits, subject, vault.person(datetime.now(UTC)), {"Trimtab-Imported": origin})
    except VaultError as wrong:
        raise StorageError(str(wrong)) from None
