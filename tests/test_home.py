"""The agent directory and its lock."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from daemon.errors import AlreadyRunning, StorageError, UsageError
from daemon.home import STARTER, Home, create
from daemon.settings import load


def test_a_new_agent_has_settings_that_load_and_notes_that_name_it(tmp_path: Path) -> None:
    """What `init` writes is valid, and the agent knows its name."""
    home, notes = create(tmp_path / "Night Watch", "Europe/Berlin")

    assert "night-watch" == load(home.path).name
    assert set(STARTER) == set(notes)
    assert "You are night-watch." in notes["AGENTS.md"]


def test_init_never_overwrites(tmp_path: Path) -> None:
    """A second init changes nothing and says so."""
    create(tmp_path / "a", "UTC")
    (tmp_path / "a/trimtab.toml").write_text("name = 'mine'")

    with pytest.raises(UsageError, match="nothing was changed"):
        create(tmp_path / "a", "UTC")
    assert "name = 'mine'" == (tmp_path / "a/trimtab.toml").read_text()


def test_a_second_holder_is_told_who_holds_the_directory(tmp_path: Path) -> None:
    """Two daemons on one directory are one too many."""
    home = Home(tmp_path)
    assert not home.running()
    with home.held():
        assert home.running()
    with home.held(), pytest.raises(AlreadyRunning, match=str(os.getpid())), Home(tmp_path).held():
        pass


def _hold(path: Path, ready: object) -> None:
    with Home(path).held():
        ready.set()  # type: ignore[attr-defined]
        signal.pause()


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    """The lock dies with its process, even by kill -9."""
    spawn = multiprocessing.get_context("spawn")
    ready = spawn.Event()
    process = spawn.Process(target=_hold, args=(tmp_path, ready))
    process.start()
    assert ready.wait(20)
    process.kill()
    process.join()

    with Home(tmp_path).held():
        assert os.getpid() == Home(tmp_path).holder()


def test_a_directory_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    """A missing directory is a storage error, not a traceback."""
    with pytest.raises(StorageError, match="cannot be written"), Home(tmp_path / "gone").held():
        pass
