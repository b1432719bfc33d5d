"""The folder of heartbeat files: what is found, what is not read, and how edits are seen."""

from __future__ import annotations

import os
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from daemon.heartbeat.folder import Folder

GOOD = "---\nevery: 5m\n---\nDo it.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A folder with one good file, looked at once."""
    (tmp_path / "good.md").write_text(GOOD)
    made = Folder(tmp_path, ZoneInfo("UTC"))
    assert {"good"} == made.look()
    return made


def test_one_bad_file_never_stops_the_others(folder: Folder) -> None:
    """Whatever lies in the folder, the good file is found and each other one has its line."""
    (folder.path / "bad.md").write_text("---\nevery: soon\n---\n")
    (folder.path / "Bad Name.md").write_text(GOOD)
    (folder.path / "big.md").write_bytes(b"x" * 10_000_000)
    (folder.path / "link.md").symlink_to("/etc/passwd")
    (folder.path / "folder.md").mkdir()
    os.mkfifo(folder.path / "pipe.md")
    (folder.path / os.fsdecode(b"\xff\x1b.md")).write_text(GOOD)
    (folder.path / ".hidden.md").write_text("x")
    (folder.path / "notes.txt").write_text("x")
    (folder.path / "draft.md~").write_text("x")
    folder.look()
    folder.look()

    assert ["good"] == list(folder.heartbeats)
    assert {"bad", "Bad Name", "big", "link", "folder", "pipe", "\udcff\x1b"} == set(folder.problems)
    assert all(str(problem).isprintable() and len(str(problem)) < 300 for problem in folder.problems.values())
    assert "is a link" in str(folder.problems["link"])


def test_an_unreadable_file_is_a_problem_of_its_own(folder: Folder) -> None:
    """A file that cannot be read says why (or is read, where the tests run as root)."""
    (folder.path / "secret.md").write_text(GOOD)
    (folder.path / "secret.md").chmod(0)
    folder.look()
    folder.look()

    assert "secret" in folder.heartbeats or "cannot be read" in str(folder.problems["secret"])


def test_an_edit_is_seen_at_the_second_look(folder: Folder) -> None:
    """An edit counts once it has been the same for two looks, so that a half-written file is not read."""
    path = folder.path / "good.md"
    path.write_text("---\nev")

    assert set() == folder.look()
    path.write_text(GOOD.replace("Do it.", "Do that."))
    assert set() == folder.look()
    assert {"good"} == folder.look()
    assert "Do that." == folder.heartbeats["good"].instruction
    assert set() == folder.look()


def test_a_touch_is_no_edit(folder: Folder) -> None:
    """A new time stamp on the same content is no news."""
    os.utime(folder.path / "good.md")

    assert [set(), set()] == [folder.look(), folder.look()]


def test_an_edit_that_keeps_size_and_time_is_seen(folder: Folder) -> None:
    """An edit of the same length, with the old time put back, is still an edit."""
    path = folder.path / "good.md"
    status = path.stat()
    path.write_text(GOOD.replace("5m", "6m"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    folder.look()

    assert {"good"} == folder.look()


def test_a_file_that_goes_bad_is_no_heartbeat_any_more(folder: Folder) -> None:
    """The last good version is not kept; a repair brings the heartbeat back."""
    path = folder.path / "good.md"
    path.write_text("---\nevery: 5 minutes\n---\nDo it.\n")
    folder.look()

    assert {"good"} == folder.look()
    assert ([], ["good"]) == (list(folder.heartbeats), list(folder.problems))
    path.write_text(GOOD)
    folder.look()
    assert {"good"} == folder.look()
    assert ["good"] == list(folder.heartbeats)


def test_a_file_that_is_gone_is_gone(folder: Folder) -> None:
    """A deleted file is news at the second look; one that is replaced by a rename never is."""
    path = folder.path / "good.md"
    new = folder.path / "new.tmp"
    new.write_text(GOOD)
    new.rename(path)
    assert [set(), set()] == [folder.look(), folder.look()]
    path.unlink()

    assert [set(), {"good"}] == [folder.look(), folder.look()]
    assert {} == folder.found


def test_a_folder_that_cannot_be_listed_changes_nothing(folder: Folder) -> None:
    """When the folder is away for a moment, what was known stays, and the problem is named."""
    away = folder.path.with_name("away")
    folder.path.rename(away)
    assert [set(), set()] == [folder.look(), folder.look()]
    assert "cannot be listed" in str(folder.problem)
    away.rename(folder.path)

    assert (set(), None) == (folder.look(), folder.problem)
    assert ["good"] == list(folder.heartbeats)


def test_a_missing_folder_is_a_problem_not_an_end(tmp_path: Path) -> None:
    """A vault without the folder has no heartbeats, and says so."""
    folder = Folder(tmp_path / "none", ZoneInfo("UTC"))

    assert (set(), {}) == (folder.look(), folder.found)
    assert "none: cannot be listed: No such file" in str(folder.problem)


def test_an_unknown_name_stops_only_its_own_heartbeat(tmp_path: Path) -> None:
    """A folder that was told the models and tools finds the good file and has a line for the other."""
    (tmp_path / "good.md").write_text("---\nevery: 5m\nmodel: local\ntools: host\n---\nDo it.\n")
    (tmp_path / "bad.md").write_text("---\nevery: 5m\nmodel: lokal\n---\nDo it.\n")
    folder = Folder(tmp_path, ZoneInfo("UTC"), ["local"], ["host"])
    folder.look()

    assert ["good"] == list(folder.heartbeats)
    assert "model: expected one of local, not 'lokal'" in str(folder.problems["bad"])
