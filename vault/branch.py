"""Moving a branch the way git does: its lock, compare, a log line, a rename.

Only the branch itself is synced to the disk; its log is a convenience for the person, as it is for git.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from vault.author import Author
from vault.files import sync_folder
from vault.locks import held


def move(
    gitdir: Path,
    branch: str,
    new: str,
    present: Callable[[], str | None],
    expected: str | None,
    author: Author,
    *,
    checked_out: bool = True,
) -> bool:
    """Point a branch at `new` if it is still at `expected`; False, and nothing done, where it is not.

    `checked_out` says that HEAD is on it, so that HEAD's log has a line too.
    Raises Busy while another git holds the branch, OSError when it cannot be written.
    """
    place = gitdir / "refs" / "heads" / branch
    place.parent.mkdir(parents=True, exist_ok=True)
    with held(place.with_name(f"{place.name}.lock"), attempts=4) as lock:
        if present() != expected:
            return False
        heads = [gitdir / "logs" / "HEAD"] if checked_out else []
        for log in (*heads, gitdir / "logs" / "refs" / "heads" / branch):
            _log(log, expected or "0" * len(new), new, author)
        lock.become(place, f"{new}\n".encode())
        sync_folder(place.parent)
        if "/" in branch:
            sync_folder(place.parent.parent)  # its folder may be new
    return True


def _log(file: Path, old: str, new: str, author: Author) -> None:
    who = "".join(c for c in f"{author.name}\0{author.email}" if c not in "<>\n").replace("\0", " <") + ">"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as log:
        log.write(f"{old} {new} {who} {int(author.when.timestamp())} {author.when:%z}\tcommit: by trimtab\n")
