"""Whether we may write where something is to be written, found out before anything is done."""

from __future__ import annotations

import os
from pathlib import Path

from vault.errors import Refused, Unwritable


def check_places(*places: Path) -> None:
    """Raise Unwritable for the first directory that we may not write to."""
    for place in places:
        if not os.access(place, os.W_OK | os.X_OK):
            raise Unwritable(f"{place}: no permission to write here")


def check_note(root: Path, parts: tuple[str, ...]) -> None:
    """Raise Refused where a note's folder, or the nearest above it that is there, may not be written to."""
    for depth in reversed(range(len(parts))):
        place = os.path.join(root, *parts[:depth])  # noqa: PTH118  # a path object is too slow
        if os.access(place, os.W_OK | os.X_OK):
            return
        if os.access(place, os.F_OK):
            folder = "/".join(parts[:depth]) or "the vault"
            raise Refused(f"{'/'.join(parts)}: no permission to write in {folder}: write elsewhere")
