"""The repo tool on a real repository, with what a hostile one could name to be run."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from daemon.tools.base import Setting
from daemon.tools.repo import Repo
from daemon.tools.toolbox import Toolbox
from daemon.types import ToolCall

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Plain git on the watched repository, with times that follow one another."""
    place = tmp_path / "project"
    place.mkdir()

    def call(*arguments: str, when: str = "2026-11-20T20:00:00+00:00", check: bool = True) -> str:
        people = {f"GIT_{role}_{key}": "Ann Lee" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
        dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **people, **dates}
        done = subprocess.run(
            ["git", *arguments], cwd=place, env=environment, capture_output=True, text=True, check=False
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout

    call("init", "-q", "-b", "main")
    return call


def commit(git: Git, place: Path, subject: str, *names: str, when: str = "2026-11-20T20:00:00+00:00") -> str:
    """Commit files of these names and return the short id."""
    for name in names:
        with (place / name).open("a") as file:
            file.write(f"{subject}\n")
    git("add", "-A")
    git("commit", "-q", "--allow-empty", "-m", subject, when=when)
    return git("rev-parse", "HEAD").strip()[:7]


def ask(setting: Setting, what: str = "changes", path: str = "project", run: str = "01RUN") -> str:
    """The text of one call in a run."""
    repo = Repo(Repo.Options(path=Path(path)))
    return asyncio.run(Toolbox([repo], replace(setting, run=run)).run(ToolCall("1", "repo", {"what": what}))).text


def test_changes_since_the_last_look(setting: Setting, git: Git, tmp_path: Path) -> None:
    """The first look covers a day; later ones what is new; the same run sees the same again."""
    place = tmp_path / "project"
    commit(git, place, "ancient", "a", when="2026-11-01T12:00:00+00:00")
    first = commit(git, place, "fix the parser", "a", "b")

    assert ask(setting).splitlines() == [
        "repository project, branch main, 1 commit since 2026-11-19 21:17",
        f"{first} Ann Lee: fix the parser (2 files)",
    ]
    second = commit(git, place, "add a test", "c")
    assert len(ask(setting).splitlines()) == 3

    later = replace(setting, now=setting.now + timedelta(minutes=5))
    assert ask(later, run="02RUN").splitlines() == [
        "repository project, branch main, no commits since 2026-11-20 21:17"
    ]
    third = commit(git, place, "tidy", "c")
    latest = replace(setting, now=setting.now + timedelta(minutes=10))
    expected = ["repository project, branch main, 1 commit since 2026-11-20 21:22", f"{third} Ann Lee: tidy (1 file)"]
    assert ask(latest, run="03RUN").splitlines() == expected
    assert ask(latest, run="03RUN").splitlines() == expected
    assert second not in ask(latest, run="03RUN")


def test_many_commits_are_counted_and_cut(setting: Setting, git: Git, tmp_path: Path) -> None:
    """Ten commits are shown, the newest first, and the rest is a number."""
    for number in range(13):
        commit(git, tmp_path / "project", f"number {number}", "a")
    lines = ask(setting).splitlines()

    assert lines[0].startswith("repository project, branch main, 13 commits since")
    assert "number 12" in lines[1]
    assert lines[-1] == "and 3 more"
    assert len(lines) == 12


def test_a_rewritten_history_is_looked_at_by_time(setting: Setting, git: Git, tmp_path: Path) -> None:
    """When the commit of the last look is gone, what came since then is told all the same."""
    place = tmp_path / "project"
    commit(git, place, "one", "a")
    ask(setting)
    git("checkout", "-q", "--orphan", "new")
    commit(git, place, "begun anew", "a", when="2026-11-20T21:20:00+00:00")
    git("branch", "-q", "-D", "main")
    git("reflog", "expire", "--expire=now", "--all")
    git("gc", "-q", "--prune=now")
    later = replace(setting, now=setting.now + timedelta(minutes=5))

    assert "begun anew" in ask(later, run="02RUN")


@pytest.mark.parametrize(
    "paper", ["", "{}", "[1]", '{"run":"x","base":"--output=/tmp/x","since":"a","head":"--x","at":"b"}']
)
def test_a_torn_memory_of_the_last_look_is_a_first_look(setting: Setting, git: Git, tmp_path: Path, paper: str) -> None:
    """What is written in the workspace is not trusted: only ids go to git."""
    commit(git, tmp_path / "project", "one", "a")
    ask(setting)
    (found,) = (tmp_path / "workspace").glob("repo-*.json")
    found.write_text(paper)

    assert "1 commit since 2026-11-19 21:17" in ask(setting, run="02RUN")


def test_status(setting: Setting, git: Git, tmp_path: Path) -> None:
    """Clean, or what has changed and how."""
    place = tmp_path / "project"
    commit(git, place, "one", "kept", "gone")
    assert ask(setting, "status") == "repository project, branch main, clean"
    (place / "kept").write_text("other\n")
    (place / "gone").unlink()
    (place / "new\x1b[2J").write_text("x\n")

    assert sorted(ask(setting, "status").splitlines()) == [
        "deleted gone", "modified kept", "repository project, branch main, 3 changed files", "untracked new<U+001B>[2J",
    ]  # fmt: skip


def test_text_of_commits_is_escaped(setting: Setting, git: Git, tmp_path: Path) -> None:
    """A subject or an author cannot forge a line or move a cursor."""
    commit(git, tmp_path / "project", "one\x1b[31m\u202e two", "a")

    assert "one<U+001B>[31m<U+202E> two (1 file)" in ask(setting)


@pytest.mark.parametrize("what", ["changes", "status"])
def test_a_wrong_place_is_said(setting: Setting, tmp_path: Path, what: str) -> None:
    """A folder that is not there, or no repository, is a failed result."""
    (tmp_path / "empty").mkdir()

    assert ask(setting, what, path="nowhere") == f"error: there is no repository at {tmp_path / 'nowhere'}"
    assert ask(setting, what, path="empty").startswith(f"error: git cannot read {tmp_path / 'empty'}: not a git rep")


def test_a_new_repository_has_no_commits(setting: Setting, git: Git) -> None:
    """Before the first commit there is nothing to tell."""
    assert git("status")
    assert ask(setting) == "repository project, branch main, no commits yet"


def test_without_a_path_the_tool_says_where_to_set_it(setting: Setting) -> None:
    """A tool that was not set up asks the person, by key and file."""
    result = asyncio.run(Toolbox([Repo()], setting).run(ToolCall("1", "repo", {})))

    assert (result.ok, "[tools.repo]" in result.text) == (False, True)


def test_nothing_that_a_repository_names_is_run(setting: Setting, git: Git, tmp_path: Path) -> None:
    """Filters, monitors, hooks, diff programs, signers and pagers run under plain git and never here."""
    place, mark, script = tmp_path / "project", tmp_path / "ran", tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    script.chmod(0o755)
    commit(git, place, "one", "a.txt")
    for key in (
        "core.fsmonitor", "core.pager", "diff.external", "diff.x.textconv", "diff.x.command", "gpg.program",
        "core.editor", "filter.x.clean", "filter.x.smudge", "filter.a.b=c.clean",
    ):  # fmt: skip
        git("config", key, str(script))
    git("config", "log.showSignature", "true")
    (place / ".gitattributes").write_text("*.txt filter=x diff=x\n*.md filter=a.b=c\n")
    (place / "b.md").write_text("x\n")
    git("add", "-A")
    git("commit", "-q", "-m", "two")
    for name in ("a.txt", "b.md"):
        text = (place / name).read_text()
        (place / name).write_text(text.swapcase())
    git("status")
    assert mark.exists()
    mark.unlink()
    for name in ("a.txt", "b.md"):
        (place / name).touch()

    assert "two" in ask(setting)
    assert "2 changed files" in ask(setting, "status")
    assert not mark.exists()
