"""What an editor still wrote into a file that the vault had just put another in place of.

Such an editor had opened the note before and writes into a file that nobody sees any more.  It is kept until the next
commit; whatever has come into it by then goes back into the note as the person's edit.
"""

from __future__ import annotations

import base64
import contextlib
from pathlib import Path

from vault.errors import VaultError
from vault.files import Files
from vault.git import Git
from vault.joining import joined

_LARGEST = 16 * 1024 * 1024
_START = "late-"
_LONGEST_MARK = 200  # a file name has at most 255 bytes


class Late:
    """The former files of the notes that were written last, in the vault's own directory."""

    def __init__(self, git: Git, files: Files) -> None:
        self._git, self._files = git, files
        self._kept = list[Path]()

    def find(self) -> None:
        """Take over what a writer that was killed had kept."""
        self._kept = sorted(self._files.scratch.glob(f"{_START}*"))

    def keep(self, old: Path, path: str, held: str | None) -> None:
        """Keep the file that was a note and held this content until a moment ago; not where its path is very long."""
        mark = base64.urlsafe_b64encode(path.encode()).decode()
        if held is not None and len(mark) <= _LONGEST_MARK and old.exists():
            self._kept.append(old.replace(old.with_name(f"{_START}{held}-{mark}")))

    def bring(self, *, last: bool = False) -> list[str]:
        """Put back what was written too late, and return a line for each; with `last` nothing is kept any longer."""
        lines, kept, self._kept = list[str](), self._kept, []
        for file in kept:
            _, held, mark = file.name.split("-", 2)
            with contextlib.suppress(OSError, ValueError):
                written = file.read_bytes() if file.stat().st_size <= _LARGEST else b""
                changed = bool(written) and self._git.identify(written) != held
                if changed:
                    lines.append(self._brought(base64.urlsafe_b64decode(mark).decode(), held, written))
                if last or changed:
                    file.unlink()
                else:
                    self._kept.append(file)
        return lines

    def _brought(self, path: str, held: str, written: bytes) -> str:
        parts, what = tuple(path.split("/")), f"{path} was saved by hand while it was written"
        with contextlib.suppress(VaultError):
            here = self._files.read(parts, _LARGEST)
            if here == written:
                return f"{what}: both are the same"
            both = None if here is None else self._both(self._git.blob(held), here, written)
            if both is not None and self._files.replace(parts, both, here) is not None:
                return f"{what}: both edits are in it"
        for number in range(1, 1000):
            beside = f"{path.removesuffix('.md')}.by-hand-{number}.md"
            with contextlib.suppress(VaultError):
                if self._files.replace(tuple(beside.split("/")), written, None) is not None:
                    return f"{what}: that version is {beside}"
        return f"{what}, and could not be kept"

    def _both(self, base: bytes, here: bytes, written: bytes) -> bytes | None:
        merged = self._git.merged(base, here, written)
        return joined(base, here, written) if merged is None else merged
