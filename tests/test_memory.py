"""The memory of a run: one commit that leads back to it, and what is recalled."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from daemon.clock import HeldClock
from daemon.context.fit import Window
from daemon.context.gather import Gather
from daemon.errors import ConfigError, StorageError
from daemon.memory import REVIEWED, VaultMemory, open_vault, unreviewed, written_runs
from daemon.trajectories.in_memory import MemoryThreads
from daemon.types import Heartbeat, Message, Occurrence, Run, Schedule, ToolSpec
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


def write(vault: Vault, run_id: str) -> str:
    """Keep what a run of that id wrote; the commit id."""
    draft = vault.draft()
    draft.append("ann.md", f"Seen in {run_id}.")
    commit = asyncio.run(VaultMemory(draft, HeldClock(NOW)).keep(replace(run(), id=run_id)))
    assert commit is not None
    return commit


def by_hand(vault: Vault, message: str) -> None:
    """Commit as a person does with git, an empty change."""
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@localhost"]
    command = ["git", *who, "commit", "-q", "--allow-empty", "--no-verify", "-m", message]
    subprocess.run(command, cwd=vault.root, check=True)


def test_the_vault_knows_which_run_wrote_which_commit(vault: Vault) -> None:
    """Each commit of the agent's is found by its run, within the newest `limit`; a person's commits are not its."""
    first = write(vault, "run-1")
    by_hand(vault, "Think of Ann")
    second = write(vault, "run-2")

    assert written_runs(vault) == {"run-1": first, "run-2": second}
    assert written_runs(vault, limit=2) == {"run-2": second}
    assert written_runs(vault, limit=0) == {}


def test_a_run_is_not_found_where_a_message_only_speaks_of_it(vault: Vault) -> None:
    """Neither a subject, nor a line in the middle, nor a later copy of a commit takes a run from its commit."""
    first = write(vault, "run-1")
    by_hand(vault, "Trimtab-Run: run-2")
    by_hand(vault, "Look\n\nTrimtab-Run: run-3\n\nThat was it.")
    by_hand(vault, "A copy\n\nTrimtab-Run: run-1")

    assert written_runs(vault) == {"run-1": first}


def test_an_empty_vault_was_written_by_no_run(tmp_path: Path) -> None:
    """Before the first commit there is nothing to find and nothing to review."""
    empty = Vault.create(tmp_path / "empty", "robo", "robo@localhost")

    assert written_runs(empty) == {}
    assert unreviewed(empty) == 0


def test_the_agents_commits_since_the_mark_are_to_be_reviewed(vault: Vault) -> None:
    """All of them where no mark was ever set, then those after it; a person's own commits are not counted."""
    assert unreviewed(vault) == 0
    marked = write(vault, "run-1")
    by_hand(vault, "Think of Ann")
    write(vault, "run-2")
    assert unreviewed(vault) == 2

    vault.git.mark(REVIEWED, marked)
    assert unreviewed(vault) == 1
    write(vault, "run-3")
    assert unreviewed(vault) == 2
    assert unreviewed(vault, most=1) == 1


def test_a_history_that_cannot_be_read_is_a_storage_error(vault: Vault) -> None:
    """A missing commit is one line, not a crash of the daemon's start."""
    commit = write(vault, "run-1")
    write(vault, "run-2")
    (vault.root / ".git/objects" / commit[:2] / commit[2:]).unlink()
    vault.close()

    with open_vault(vault.root) as again, pytest.raises(StorageError, match="fsck"):
        written_runs(again)


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


@pytest.fixture
def wide(vault: Vault) -> Vault:
    """The vault with notes about other things."""
    things = ("the sea", "the harbour", "the weather", "a mast", "a rope", "an anchor")
    vault.plant({f"n{n}.md": f"It is about {thing}.\n" for n, thing in enumerate(things)}, "More")
    return vault


def test_recall_gives_the_place_around_the_words(wide: Vault) -> None:
    """The notes that fit, without instructions, cut to the lines around the best one, each with why it was chosen."""
    memory = VaultMemory(wide.draft(), HeldClock(NOW))
    found = dict(asyncio.run(memory.recall("Where is the blue boat?", limit=5)))

    assert list(found) == ["boat.md (has the, blue, boat)", "ann.md (has boat)"]
    assert found["boat.md (has the, blue, boat)"].splitlines() == [
        f"line {n}" if n != 20 else "the blue boat" for n in range(14, 27)
    ]
    assert [(note.path, note.reason) for note in memory.recalled] == [
        ("boat.md", "has the, blue, boat"),
        ("ann.md", "has boat"),
    ]


@pytest.mark.parametrize(("limit", "most", "count"), [(1, 500, 1), (5, 20, 1), (2, 500, 2), (0, 500, 0), (5, 1, 0)])
def test_recall_keeps_to_its_limits(wide: Vault, limit: int, most: int, count: int) -> None:
    """Never more notes or tokens than were asked for; a note that is too long is cut at a line."""
    memory = VaultMemory(wide.draft(), HeldClock(NOW))
    found = asyncio.run(memory.recall("blue boat", limit, most))

    assert len(found) == count
    assert sum(len(f"- {place}: {text}") // 4 for place, text in found) <= most


def test_recall_counts_as_the_model_counts(vault: Vault) -> None:
    """Where a model can count, its tokens are what the budget is in."""

    async def letters(messages: Sequence[Message], _: Sequence[ToolSpec]) -> int:
        return sum(len(message.text) for message in messages)

    found = asyncio.run(VaultMemory(vault.draft(), HeldClock(NOW)).recall("blue boat", 5, 100, letters))

    assert 0 < sum(len(f"- {place}: {text}") for place, text in found) <= 100


def test_a_note_that_the_task_names_comes_first(vault: Vault) -> None:
    """A wikilink in the task is a reason of its own, stronger than any word."""
    memory = VaultMemory(vault.draft(), HeldClock(NOW))
    asyncio.run(memory.recall("Where is the blue boat of [[Ann]]?", limit=5))

    assert (memory.recalled[0].path, memory.recalled[0].reason) == ("ann.md", "named in the task")


def test_a_note_that_hardly_fits_is_left_out(wide: Vault) -> None:
    """A note that has only a frequent word of the task is not worth its tokens."""
    memory = VaultMemory(wide.draft(), HeldClock(NOW))
    asyncio.run(memory.recall("The anchor: what is it about?", limit=9))

    assert [note.path for note in memory.recalled] == ["n5.md"]


def test_the_prompt_says_why_a_note_is_in_it(wide: Vault) -> None:
    """The reason stands beside the note in the message that is recorded."""
    memory = VaultMemory(wide.draft(), HeldClock(NOW))
    beat = Heartbeat("watch", Schedule(every=timedelta(minutes=5)), "Where is the blue boat?", None)

    async def nothing() -> str:
        return ""

    async def free(*_: object) -> int:
        return 0

    context = Gather(MemoryThreads(), Window(8_000, free), nothing, partial(memory.recall, limit=1), ZoneInfo("UTC"))
    prompt = asyncio.run(context.gather(beat, Occurrence(1, "watch", NOW), ()))

    assert "- boat.md (has the, blue, boat): line 14 " in prompt.messages[-1].text


def test_what_is_recalled_counts_as_read(vault: Vault) -> None:
    """A note that was shown in a prompt has been read, one that was only found has not."""
    asyncio.run(VaultMemory(vault.draft(), HeldClock(NOW)).recall("blue boat", limit=1))

    assert vault.reads.counted().times == {"boat.md": 1}


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
