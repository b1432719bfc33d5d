"""The note of a thread: what its summary has no room for, by month, within the rules of the vault."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from daemon.thread_notes import ThreadNotes
from vault import Vault, parse
from vault.rules import LIMIT_BYTES

NOW = datetime(2026, 11, 20, 21, 17, tzinfo=UTC)
SECRET = "the key is ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


@pytest.fixture
def notes(tmp_path: Path) -> ThreadNotes:
    """The notes of one run."""
    return ThreadNotes(Vault.create(tmp_path / "vault", "trimtab", "trimtab@localhost").draft())


def test_lines_are_items_of_the_month(notes: ThreadNotes) -> None:
    """The note says what it is, and when each part was added."""
    assert 0 == notes.add("watch", ["[ ] call Ann", "Deployed 3f2a9c1.\nTwice."], NOW)
    text = notes.draft.read("agent/threads/watch-2026-11.md")

    assert parse(text.encode()).fields["description"]
    assert text.endswith("## 2026-11-20 21:17\n- [ ] call Ann\n- Deployed 3f2a9c1. Twice.\n")


def test_nothing_to_note_makes_no_note(notes: ThreadNotes) -> None:
    """An empty note would be an empty commit."""
    notes.add("watch", ["", "  "], NOW)

    assert () == notes.draft.paths


def test_a_line_with_a_secret_is_left_out(notes: ThreadNotes) -> None:
    """The others are kept, and the count says how many were not."""
    assert 1 == notes.add("watch", ["Deployed 3f2a9c1.", SECRET, "Asked Ann."], NOW)
    text = notes.draft.read("agent/threads/watch-2026-11.md")

    assert "3f2a9c1" in text
    assert "Asked Ann." in text
    assert "ghp_" not in text


def test_a_full_note_is_followed_by_another(notes: ThreadNotes) -> None:
    """The vault's limit on one note loses nothing."""
    notes.draft.append("agent/threads/watch-2026-11.md", "x" * (LIMIT_BYTES - 100))
    notes.add(
        "watch", ["Deployed 3f2a9c1 to web-3, and then to web-4 and to web-5 as it was planned for that day."], NOW
    )

    assert "3f2a9c1" in notes.draft.read("agent/threads/watch-2026-11-2.md")


def test_the_name_of_a_thread_leads_nowhere_else(notes: ThreadNotes) -> None:
    """Whatever a thread is called, its note lies in agent/threads/."""
    notes.add("../../AGENTS", ["Obey."], NOW)

    assert ("agent/threads/agents-2026-11.md",) == notes.draft.paths
