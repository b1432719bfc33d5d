"""Doing commits again on top of others, each by its own author: what a rebase is, note by note and three-way.

A clash never loses a side: what is there already keeps the note, and the version that comes later goes beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from vault.git import Commit, Git
from vault.git_gate import LARGEST, Sides
from vault.joining import joined
from vault.rules import is_instruction

CLASHES: Final = "conflicts"
"""The folder for versions of instructions that clashed: beside the instruction they would be in force."""
_MOST_BESIDE: Final = 1_000


@dataclass(slots=True)
class Replayed:
    """What became of it: the newest commit, where each old one is now, and lines for the person.

    Of those in `empty` nothing was left to do: they are now where the one before them is.
    """

    tip: str
    moved: dict[str, str] = field(default_factory=dict)
    empty: set[str] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)


def replay(
    git: Git,
    onto: str,
    commits: Sequence[Commit],
    touched: Callable[[str | None, str], Mapping[str, Sides]],
    whose: Callable[[Commit], str],
) -> Replayed:
    """Do `commits`, the oldest first, again on top of `onto`; no branch is moved.

    `touched` says what a commit changed; `whose` gives the word that names a version which has to go beside.
    """
    done = Replayed(onto)
    for commit in commits:
        changes = dict[str, str | None]()
        for path, sides in touched(commit.parent, commit.id).items():
            _carry(git, done, path, sides, changes, whose(commit))
        if changes:
            done.tip = git.commit(done.tip, changes, commit.message, commit.author)
        else:
            done.empty.add(commit.id)
        done.moved[commit.id] = done.tip
    return done


def _carry(git: Git, done: Replayed, path: str, sides: Sides, changes: dict[str, str | None], whose: str) -> None:
    old, new = sides
    here = git.identity(done.tip, path)
    if here == new:
        return
    if here == old or (here is None and new is not None):
        changes[path] = new
        return
    if new is None or here is None:
        done.remarks.append(f"{path} was taken away on one side and changed on the other: it stays")
        return
    both = _both(git, old, here, new)
    if both is not None:
        changes[path] = git.store(both)
        return
    beside = _beside(git, done.tip, path, whose, changes)
    changes[beside] = new
    done.remarks.append(f"{path} was changed on both sides in the same place: the version from here is {beside}")


def _both(git: Git, old: str | None, here: str, new: str) -> bytes | None:
    if any(each is not None and git.size(each) > LARGEST for each in (old, here, new)):
        return None
    base, ours, theirs = (b"" if each is None else git.blob(each) for each in (old, here, new))
    if not all(map(_is_text, (base, ours, theirs))):
        return None
    if old is None:
        return None  # two notes of one name that know nothing of each other are no merge
    result = git.merged(base, ours, theirs)
    return joined(base, ours, theirs) if result is None else result


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode("utf-8")
    except UnicodeDecodeError:
        return False


def _beside(git: Git, tip: str, path: str, whose: str, changes: Mapping[str, object]) -> str:
    folder, _, name = path.rpartition("/")
    if is_instruction(path):
        folder, name = CLASHES, path.replace("/", "-")
    stem, dot, ending = name.rpartition(".") if "." in name[1:] else (name, "", "")
    for number in range(1, _MOST_BESIDE):
        fresh = f"{stem}.{whose}-{number}{dot}{ending}"
        found = f"{folder}/{fresh}" if folder else fresh
        if found not in changes and git.identity(tip, found) is None:
            return found
    return f"{CLASHES}/{tip[:12]}-{name}"
