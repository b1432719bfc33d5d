"""Whether a directory holds a repository that a vault can be, and what a person is in the middle of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pygit2
from pygit2.enums import RepositoryState

from vault.errors import Corrupt, NotAVault, NotReady

_BARE = "a bare repository: a vault needs its notes as files beside .git, as `git clone` makes them"


def repository(root: Path) -> Any:
    """Return the repository with a worktree at `root`; NotAVault says why there is none."""
    if not root.is_dir():
        raise NotAVault(f"{root}: no such directory")
    gitdir = root / ".git"
    if not gitdir.exists() and (root / "HEAD").is_file() and (root / "objects").is_dir():
        raise NotAVault(f"{root}: {_BARE}")
    if not gitdir.is_dir() or gitdir.is_symlink():
        raise NotAVault(f"{root}: not a vault: expected a git repository with its own .git directory")
    if (grafts := gitdir / "info/grafts").is_file() and grafts.stat().st_size:
        raise NotReady(f"{grafts}: grafts show a history that nobody committed: remove that file")
    try:
        repo = pygit2.Repository(str(root))
    except (pygit2.GitError, KeyError, ValueError, OSError) as error:
        raise NotAVault(f"{root}: cannot be opened as a git repository ({' '.join(str(error).split())})") from None
    if repo.is_bare:
        raise NotAVault(f"{root}: {_BARE}")
    return repo


def branch_of(repo: Any, root: Path, ours: str) -> str:
    """Return the branch that HEAD is on; NotReady on a detached HEAD or in the middle of a merge or a rebase."""
    state = RepositoryState(repo.state())
    if state is not RepositoryState.NONE:
        what = state.name.lower().partition("_")[0]
        raise NotReady(f"{root}: a {what} is in progress: finish it or abort it with git")
    try:
        target = repo.lookup_reference("HEAD").target
    except (pygit2.GitError, KeyError, ValueError) as error:
        raise Corrupt(f"{root}: HEAD cannot be read ({' '.join(str(error).split())})") from None
    if not isinstance(target, str):
        raise NotReady(f"{root}: HEAD is detached: run `git switch {ours}`")
    return target.removeprefix("refs/heads/")
