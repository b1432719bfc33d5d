"""The memory of a run: one commit that leads back to it, and what is recalled."""

from __future__ import annotations

import asyncio
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from daemon.clock import HeldClock
from daemon.errors import ConfigError, StorageError
from daemon.memory import VaultMemory, open_vault
from daemon.types import Occurrence, Run
from vault import Vault

NOW = datetime(2026, 11, 20, 21, 17, tzinfo=UTC)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """A vault with an instruction and two notes."""
    made = Vault.create(tmp_path / "vault", "robo", "robo@localhost")
    boat = "\n".join(f"line {n}" for n in range(40)).replace("line 20", "the blue boat") + "\n"
    made.plant({"AGENTS.md": "Watch the boat.\n", "boat.md": boat, "ann.md": "Ann has a boat.\n"}, "Begin")
    return made


def run(heartbeat: str = "host-watch") -> Run:
    """A run of that heartbeat."""
    return Run("01RUN", Occurrence(1, heartbeat, NOW), "main", NOW, model="shipped")


def test_a_run_is_one_commit_with_its_trailers(vault: Vault) -> None:
    """Everything that a run wrote is one commit of the agent's, at the clock's time, found by its run."""
    draft = vault.draft()
    draft.append("journal/2026-11-20.md", "- fine")
    draft.append("ann.md", "She is kind.")
    commit = asyncio.run(VaultMemory(draft, HeldClock(NOW)).keep(run()))
    shown = subprocess.run(
        ["git", "show", "-s", "--format=%H|%an <%ae>|%aI|%s|%(trailers:only,unfold,separator=%x2C)"],
        cwd=vault.root, capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip

    assert shown == (
        f"{commit}|robo <robo@localhost>|2026-11-20T21:17:00+00:00|host-watch: journal/2026-11-20.md, ann.md|"
        "Trimtab-Run: 01RUN,Trimtab-Heartbeat: host-watch,Trimtab-Model: shipped"
    )


def test_a_run_that_wrote_nothing_has_no_commit(vault: Vault) -> None:
    """No notes, no commit."""
    head = vault.head

    assert asyncio.run(VaultMemory(vault.draft(), HeldClock(NOW)).keep(run())) is None
    assert vault.head == head


def test_notes_that_cannot_be_kept_are_a_storage_error(vault: Vault) -> None:
    """When the vault refuses the commit, the run hears one line with its name."""
    draft = vault.draft()
    draft.append("ann.md", "More.")
    subprocess.run(["git", "checkout", "-q", "--detach"], cwd=vault.root, check=True)

    with pytest.raises(StorageError, match=r"run 01RUN could not be kept.*detached"):
        asyncio.run(VaultMemory(draft, HeldClock(NOW)).keep(run()))


def test_recall_gives_the_place_around_the_words(vault: Vault) -> None:
    """The notes that fit, without instructions, cut to the lines around the best one; the reasons are kept."""
    memory = VaultMemory(vault.draft(), HeldClock(NOW))
    found = dict(asyncio.run(memory.recall("Where is the blue boat?", limit=5)))

    assert list(found) == ["boat.md", "ann.md"]
    assert found["boat.md"].splitlines() == [f"line {n}" if n != 20 else "the blue boat" for n in range(14, 27)]
    assert [note.reason for note in memory.recalled] == ["matches the, blue, boat", "matches boat"]


@pytest.mark.parametrize(("limit", "most", "count"), [(1, 2_000, 1), (5, 30, 1), (0, 2_000, 0)])
def test_recall_keeps_to_its_limits(vault: Vault, limit: int, most: int, count: int) -> None:
    """Never more notes or characters than were asked for."""
    found = asyncio.run(VaultMemory(vault.draft(), HeldClock(NOW)).recall("blue boat", limit, most))

    assert len(found) == count
    assert sum(len(text) for _, text in found) <= most


def test_a_folder_that_is_no_vault_is_the_persons_to_mend(tmp_path: Path) -> None:
    """What a person has to set right is a ConfigError with the place; a broken repository is a StorageError."""
    (tmp_path / "plain").mkdir()
    with pytest.raises(ConfigError, match="not a vault") as wrong:
        open_vault(tmp_path / "plain")
    assert str(wrong.value).count(str(tmp_path / "plain")) == 1

    broken = Vault.create(tmp_path / "broken", "a", "b")
    broken.plant({"a.md": "x\n"}, "Begin")
    (broken.root / ".git/refs/heads/main").write_bytes(b"")
    with pytest.raises(StorageError, match="fsck"):
        open_vault(broken.root)
