"""The `repo` tool: what changed in a git repository of the person's since the agent looked last.

It runs the git binary in an environment of its own, so that nothing which the repository's files or configuration name
is started: no hook, filter, monitor, diff program, signature check or pager.  It only reads; commit texts are escaped.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from daemon.errors import ToolError
from daemon.tools.base import Setting, Tool
from daemon.types import ToolSpec
from vault.escape import one_line

_MOST_LINES, _SECONDS = 10, 10.0
_FIRST_LOOK = timedelta(days=1)
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PARAMETERS = {
    "type": "object",
    "properties": {"what": {"type": "string", "enum": ["changes", "status"], "default": "changes"}},
    "additionalProperties": False,
}
_ENVIRONMENT = {
    "PATH": os.defpath, "LC_ALL": "C.UTF-8", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "GIT_PAGER": "cat",
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
}  # fmt: skip
_SETTINGS = {
    "core.fsmonitor": "false", "core.hooksPath": os.devnull, "core.pager": "cat", "log.showSignature": "false",
    "core.untrackedCache": "false", "protocol.allow": "never", "safe.directory": "*",
}  # fmt: skip
_STATES = {"?": "untracked", "A": "added", "D": "deleted", "M": "modified", "T": "modified", "U": "in conflict"}


@dataclass(frozen=True, slots=True)
class Look:
    """What a run saw: from `base` (None: everything since then) at `since` to `head` at `at`; times in ISO form."""

    run: str
    base: str | None
    since: str
    head: str
    at: str


class Repo(Tool):
    """Tells what changed in one repository."""

    name: ClassVar[str] = "repo"

    class Options(BaseModel):
        """`path` is the repository's worktree, or a path relative to the agent directory."""

        model_config = ConfigDict(extra="forbid", frozen=True)

        path: Path | None = None

    def spec(self) -> ToolSpec:
        """Return what the model is told."""
        about = "The git repository that you watch. changes: commits since your last look; status: uncommitted files."
        return ToolSpec("repo", about, _PARAMETERS, timeout_seconds=40.0)

    async def run(self, args: Mapping[str, Any], setting: Setting) -> str:
        """Return one line about the repository and a line for each commit or file."""
        options = self.options
        if not isinstance(options, Repo.Options) or options.path is None:
            raise ToolError("no repository is set: a person puts `path` under [tools.repo] in trimtab.toml")
        path = setting.home / options.path.expanduser()
        if not path.is_dir():
            raise ToolError(f"there is no repository at {path}")
        look = changes if args["what"] == "changes" else status
        return "\n".join(await asyncio.to_thread(look, path, setting))


def changes(path: Path, setting: Setting) -> list[str]:
    """Return the commits since the last run that looked; the same run sees the same again."""
    paper = setting.home / "workspace" / f"repo-{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}.json"
    head = _git(path, "rev-parse", "--verify", "--quiet", "HEAD", fails=True).strip()
    if not _ID.fullmatch(head):
        _git(path, "rev-parse", "--git-dir")
        return [f"{_title(path)}, no commits yet"]
    base, since = _last_look(paper, setting)
    if base and _git(path, "cat-file", "-t", base, fails=True).strip() != "commit":
        base = None
    which = [f"{base}..{head}"] if base else [head]
    bound = [] if base else [f"--since={int(since.timestamp())}"]
    count = int(_git(path, "rev-list", "--count", *bound, "--end-of-options", *which, "--"))
    told = f"{count} commit{'' if count == 1 else 's'}" if count else "no commits"
    lines = [f"{_title(path)}, {told} since {since.astimezone(setting.timezone):%Y-%m-%d %H:%M}"]
    lines += _commits(path, [*bound, f"--max-count={_MOST_LINES}", "--end-of-options", *which]) if count else []
    _remember(paper, Look(setting.run, base, since.isoformat(), head, setting.now.isoformat()))
    return lines + ([f"and {count - _MOST_LINES} more"] if count > _MOST_LINES else [])


def status(path: Path, setting: Setting) -> list[str]:
    """Return the files that are not as committed."""
    listed = _git(
        path, "status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all", without_filters=True
    ).split("\0")
    files = [(line[:2].strip()[:1], line[3:]) for line in listed if len(line) > 3]
    told = f"{len(files)} changed file{'' if len(files) == 1 else 's'}" if files else "clean"
    lines = [f"{_STATES.get(state, 'changed')} {one_line(name, 100)}" for state, name in files[:_MOST_LINES]]
    more = [f"and {len(files) - _MOST_LINES} more"] if len(files) > _MOST_LINES else []
    return [f"{_title(path)}, {told}", *lines, *more]


def _title(path: Path) -> str:
    branch = _git(path, "symbolic-ref", "--short", "--quiet", "HEAD", fails=True).strip()
    return f"repository {one_line(path.resolve().name, 60)}, " + (
        f"branch {one_line(branch, 60)}" if branch else "no branch"
    )


def _commits(path: Path, which: Sequence[str]) -> list[str]:
    parts = _git(
        path, "log", "-z", "--no-show-signature", "--no-patch", "--format=%H%x00%an%x00%s", *which, "--"
    ).split("\0")
    rows = [parts[at : at + 3] for at in range(0, len(parts) - 2, 3)]
    lines = []
    for commit, author, subject in rows:
        names = _git(
            path, "diff-tree", "--no-commit-id", "--name-only", "-r", "-z", "--root", "--diff-merges=first-parent",
            "--no-renames", "--no-ext-diff", "--no-textconv", "--end-of-options", commit,
        )  # fmt: skip
        files = names.count("\0")
        told = f"({files} file{'' if files == 1 else 's'})"
        lines.append(f"{commit[:7]} {one_line(author, 40)}: {one_line(subject, 100)} {told}")
    return lines


def _last_look(paper: Path, setting: Setting) -> tuple[str | None, datetime]:
    try:
        last = Look(**json.loads(paper.read_text(encoding="utf-8")))
        base, since = (last.base, last.since) if last.run == setting.run else (last.head, last.at)
        if base is None or _ID.fullmatch(base):
            return base, datetime.fromisoformat(since).astimezone(setting.timezone)
    except (FileNotFoundError, ValueError, TypeError):
        pass
    return None, setting.now - _FIRST_LOOK


def _remember(paper: Path, look: Look) -> None:
    paper.parent.mkdir(exist_ok=True)
    fresh = paper.with_suffix(".new")
    fresh.write_text(json.dumps(asdict(look)), encoding="utf-8")
    fresh.replace(paper)


def _git(path: Path, *arguments: str, fails: bool = False, without_filters: bool = False) -> str:
    """Return what git prints; `fails` makes a failure an empty answer."""
    settings = dict(_SETTINGS)
    if without_filters:
        names = _git(path, "config", "--name-only", "-z", "--get-regexp", r"^filter\.", fails=True).split("\0")
        settings |= {name: "" for name in names if name.endswith((".clean", ".smudge", ".process"))}
        settings |= {name: "false" for name in names if name.endswith(".required")}
    pairs = enumerate(settings.items())
    numbered = {
        f"GIT_CONFIG_{kind}_{at}": text for at, pair in pairs for kind, text in zip(("KEY", "VALUE"), pair, strict=True)
    }
    environment = {**_ENVIRONMENT, "GIT_CONFIG_COUNT": str(len(settings)), **numbered}
    try:
        done = subprocess.run(
            ["git", "-C", str(path), "--no-pager", "--literal-pathspecs", *arguments],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise ToolError("git is not installed here") from None
    except subprocess.TimeoutExpired:
        raise ToolError(f"git took longer than {_SECONDS:g} s on {path}") from None
    if done.returncode and not fails:
        reason = one_line(done.stderr.decode("utf-8", "replace"), 200)
        raise ToolError(f"git cannot read {path}: {reason.removeprefix('fatal: ')}")
    return "" if done.returncode else done.stdout.decode("utf-8", "replace")
