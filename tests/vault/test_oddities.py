"""What lies in a vault and is left alone: it is named once, the agent goes on, and a run is told when it meets it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.vault.remotes import noted, sync_of
from vault import Author, Refused, Vault
from vault.git_state import repository
from vault.oddities import oddities
from vault.sync import SHALLOW
from vault.transport import SyncFailed

Git = Callable[..., str]


def test_an_ordinary_vault_has_none(vault: Vault) -> None:
    """Notes with and without front matter, a rule above a text, other files and hidden ones are in order."""
    (vault.root / "rule.md").write_text("---\nA text below a rule.\n")
    (vault.root / "front.md").write_text("---\nread_only: true\n---\nText.\n")
    (vault.root / "photo.jpg").write_bytes(b"\xff\xd8" * 1000)
    (vault.root / ".obsidian").mkdir()

    assert oddities(vault.root) == []


def test_each_kind_is_named_with_how_many_and_the_first(vault: Vault, author: Author) -> None:
    """One line for each kind, safe to print, and a commit goes on beside all of them."""
    odd = os.fsencode(vault.root)
    for name in (b"caf\xe9.md", b"d\xe9"):
        Path(os.fsdecode(odd + b"/" + name)).mkdir()
    (vault.root / "open.md").write_text("---\nread_only: true\nNever closed.\n")
    with (vault.root / "huge.md").open("wb") as huge:
        huge.truncate(1 << 30)
    with (vault.root / "film.mp4").open("wb") as film:
        film.truncate(1 << 30)
    (vault.root / "link.md").symlink_to("journal.md")
    subprocess.run(["git", "init", "-q", vault.root / "inner"], check=True)

    assert sorted(oddities(vault.root)) == [
        "files over 100 MB, which many remotes refuse: 1 (film.mp4)",
        "names that are not UTF-8: 2 (caf\\xe9.md)",
        "notes over 256 kB: 1 (huge.md)",
        "notes that are links or cannot be read: 1 (link.md)",
        "notes with front matter that is never closed: 1 (open.md)",
        "repositories inside: 1 (inner)",
    ]
    draft = vault.draft()
    draft.append("journal.md", "Looked.")
    assert draft.commit("look", {}, author) is not None


def test_a_note_whose_front_matter_never_ends_is_not_written(vault: Vault) -> None:
    """Whether it is closed to the agent cannot be known, so it is; the reason says what is wrong."""
    (vault.root / "open.md").write_text("---\nread_only: true\nNever closed.\n")

    with pytest.raises(Refused, match="front matter that is never closed"):
        vault.draft().append("open.md", "More.")
    assert vault.draft().read("open.md").endswith("Never closed.\n")


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv, which takes root's powers away, is missing")
def test_a_folder_without_permission_stops_only_what_goes_there(vault: Vault) -> None:
    """A write into it is refused with its name; a write elsewhere is committed, and the next start is as ever."""
    (vault.root / "closed").mkdir(mode=0o555)
    script = (
        "import sys; from datetime import datetime, UTC; from vault import Author, Refused, Vault\n"
        "with Vault.open(sys.argv[1]) as vault:\n"
        "    draft = vault.draft()\n"
        "    try: draft.append('closed/a.md', 'a')\n"
        "    except Refused as refused: print(refused)\n"
        "    draft.append('open/a.md', 'a')\n"
        "    print(draft.commit('a', {}, Author('a', 'a@b', datetime.now(UTC))).paths)\n"
    )
    less = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    command = [*less, sys.executable, "-c", script, str(vault.root)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)

    assert done.stdout.splitlines() == [
        "closed/a.md: no permission to write in closed: write elsewhere",
        "('open/a.md',)",
    ]


def test_a_shallow_clone_works_on_and_says_why_it_is_not_synced(
    vault: Vault, git: Git, bare: Path, author: Author, tmp_path: Path
) -> None:
    """Runs commit to it as ever; an exchange says in one line what is missing and how to get it."""
    noted(vault, author, "journal.md", "Looked.")
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{vault.root}", tmp_path / "shallow"], check=True)
    assert repository(tmp_path / "shallow").is_shallow

    with Vault.open(tmp_path / "shallow") as clone:
        noted(clone, author, "journal.md", "Looked again.")
        with pytest.raises(SyncFailed) as failed:
            sync_of(clone, str(bare)).run()
    assert str(failed.value) == SHALLOW
