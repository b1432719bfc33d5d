"""What the history says: one commit, and what it changed, as libgit2's objects tell it.

It reads objects only.  A file that is too large to be shown is not loaded; whether it is text is seen from its bytes,
whatever attributes say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Final

from pygit2.enums import DeltaStatus, DiffOption, FileMode

from vault.author import Author

LARGEST_SHOWN: Final = 2 * 1024 * 1024
"""The largest file, in bytes, whose changes are shown."""

_FILES = {int(FileMode.BLOB), int(FileMode.BLOB_EXECUTABLE)}
_NOTHING = "0" * 40


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit as it stands in the history; `parent` is None for a first one."""

    id: str
    parent: str | None
    author: Author
    message: str
    merges: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one file; `patch` shows it as text whatever attributes say, empty for what is `unshown`.

    `old` and `new` are the ids of its contents, None where there is none; `unshown` says why there is no patch.
    `regular` is False for links and nested repositories.
    """

    path: str
    kind: str
    patch: str
    old: str | None = None
    new: str | None = None
    unshown: str = ""
    regular: bool = True


def commit_of(each: Any) -> Commit:
    """Return libgit2's commit as ours."""
    parent = str(each.parent_ids[0]) if each.parent_ids else None
    zone = timezone(timedelta(minutes=max(-1439, min(1439, each.author.offset))))
    when = datetime.fromtimestamp(each.author.time, zone)
    raw = (each.author.raw_name, each.author.raw_email, each.raw_message)
    name, email, message = (data.decode("utf-8", "replace") for data in raw)
    return Commit(str(each.id), parent, Author(name, email, when), message, len(each.parent_ids) > 1)


def changes_between(repo: Any, old: str | None, new: str) -> Iterator[Change]:
    """Give what differs from one commit (None: an empty one) to another, always as text."""
    tree = repo[new].tree
    if old is not None:
        found = repo.diff(repo[old].tree, tree, flags=DiffOption.FORCE_TEXT)
    else:
        found = tree.diff_to_tree(flags=DiffOption.FORCE_TEXT, swap=True)
    for place, delta in enumerate(found.deltas):
        sides = (delta.old_file, delta.new_file)
        ids = [None if str(side.id) == _NOTHING else str(side.id) for side in sides]
        regular = all(identity is None or int(side.mode) in _FILES for identity, side in zip(ids, sides, strict=True))
        unshown = _unshown(repo, ids) if regular else "a link or a nested repository"
        patch = "" if unshown else found[place].data.decode("utf-8", "backslashreplace")
        path = sides[1].raw_path.decode("utf-8", "backslashreplace")
        yield Change(path, DeltaStatus(delta.status).name.lower(), patch, ids[0], ids[1], unshown, regular)


def touched_between(repo: Any, old: str, new: str) -> list[str]:
    """Return the paths of the files that are not the same in two commits.

    Only folders that differ are read, which libgit2's own comparison does not spare itself.
    """
    return [path.decode("utf-8", "backslashreplace") for path in _differing(b"", repo[old].tree, repo[new].tree)]


def _differing(folder: bytes, one: Any, other: Any) -> Iterator[bytes]:
    sides = [{entry.raw_name: entry for entry in tree} if tree is not None else {} for tree in (one, other)]
    for name in sides[0].keys() | sides[1].keys():
        before, after = (side.get(name) for side in sides)
        if before is not None and after is not None and before.id == after.id:
            continue
        folders = [entry if entry is not None and entry.type_str == "tree" else None for entry in (before, after)]
        if any(folders):
            yield from _differing(folder + name + b"/", *folders)
        if any(entry is not None and entry.type_str != "tree" for entry in (before, after)):
            yield folder + name


def _unshown(repo: Any, ids: list[str | None]) -> str:
    """Say why the contents cannot be shown as text, nothing when they can."""
    sizes = [0 if identity is None else repo.odb.read_header(identity)[1] for identity in ids]
    told = f"{sizes[0]:,} bytes before, {sizes[1]:,} after"
    if max(sizes) > LARGEST_SHOWN:
        return f"too large to show: {told}"
    if any(identity is not None and b"\0" in repo[identity].data for identity in ids):
        return f"a binary file: {told}"
    return ""
