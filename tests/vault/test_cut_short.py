"""Objects of git that a power cut left short: moved to where no git reads them for ever, and spoken of."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.vault.conftest import Git
from vault import Author, Vault
from vault.cut_short import look_through, moved_aside
from vault.errors import Corrupt


def shortened(vault: Vault, git: Git, size: float = 0.5) -> tuple[Path, bytes]:
    """Have a person's newest commit cut short, as if the system went down; return its file, and what it held."""
    (vault.root / "people/ann.md").write_text("By hand, and committed by a git that syncs nothing.\n")
    git("commit", "-qam", "by hand")
    head = git("rev-parse", "HEAD").strip()
    file = vault.root / ".git/objects" / head[:2] / head[2:]
    file.chmod(0o644)
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * size) if 0 < size < 1 else int(size)])
    (vault.own / "looked-through").unlink()
    return file, whole


@pytest.mark.parametrize("size", [0, 2, 10, 0.5, -1])
def test_an_object_that_was_cut_short_stops_nobody(vault: Vault, git: Git, size: float) -> None:
    """It is moved away, a commit that needs it is said to be damaged and where the rest is, and a copy mends it."""
    head = shortened(vault, git, size)[0].name

    for _ in range(2):
        with pytest.raises(Corrupt, match=rf"cannot be read.* are missing: 1 \(..{head[:8]}\); .git/trimtab/cut-short"):
            Vault.open(vault.root)
    with Vault.looked_at(vault.root) as seen:
        assert len(seen.missing()) == 1


def test_a_copy_of_the_object_mends_the_vault(vault: Vault, git: Git, author: Author) -> None:
    """Once it is put back, as from a backup, the agent goes on and nothing more is said of it."""
    file, whole = shortened(vault, git)
    with pytest.raises(Corrupt):
        Vault.open(vault.root)

    file.write_bytes(whole)
    with Vault.open(vault.root) as again:
        draft = again.draft()
        draft.append("people/ann.md", "And by the agent.\n")
        draft.commit("one", {}, author)

    assert (again.missing(), again.notices) == ([], [])
    assert git("fsck", "--full") == ""


def test_whoever_only_looks_is_not_stopped_either(vault: Vault, git: Git) -> None:
    """`status` and `doctor` move the object too when they come before the agent does."""
    file, _ = shortened(vault, git)

    with Vault.looked_at(vault.root) as seen:
        assert len(seen.missing()) == 1
    assert not file.exists()


@pytest.mark.parametrize("stamp", [b"", b"\xff\0", b"another start"])
def test_a_damaged_stamp_is_no_stamp(vault: Vault, git: Git, stamp: bytes) -> None:
    """Whatever stands in it but the name of this start of the system makes the objects be looked through."""
    file, _ = shortened(vault, git)
    (vault.own / "looked-through").write_bytes(stamp)

    look_through(vault.root / ".git/objects", vault.own, "this start")

    assert moved_aside(vault.own) == [f"{file.parent.name}{file.name}"]


def test_a_system_that_does_not_name_its_starts_is_looked_at_each_time(vault: Vault, git: Git) -> None:
    """Without the name nobody knows whether the power went."""
    look_through(vault.root / ".git/objects", vault.own, "")
    file, _ = shortened(vault, git)
    look_through(vault.root / ".git/objects", vault.own, "")

    assert not file.exists()


def test_what_was_looked_at_long_ago_is_not_read_again(vault: Vault, git: Git) -> None:
    """A start reads the objects that came since the last one and a day before it, so that it does not take for ever."""
    file, _ = shortened(vault, git)
    look_through(vault.root / ".git/objects", vault.own, "first")
    file.write_bytes(b"x")
    later = time.time() + 2 * 24 * 3600
    os.utime(vault.own / "looked-through", (later, later))

    look_through(vault.root / ".git/objects", vault.own, "second")

    assert file.exists()
