"""Attacks from around a vault's own files: pagers on a terminal, and objects that lie in another repository."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.vault.conftest import Git
from tests.vault.test_attacks import trap
from vault import Author, Vault

_USE = """
import sys
from datetime import UTC, datetime
from vault import Author, Vault
with Vault.open(sys.argv[1]) as vault:
    draft = vault.draft()
    draft.append("people/ann.md", "She has a cat.")
    print(draft.commit("note", {}, Author("a", "a@b", datetime.now(UTC))))
    for commit in vault.git.history(vault.head):
        print(list(vault.git.changes(commit)))
"""


def on_terminal(command: Sequence[str | Path], cwd: Path, environment: Mapping[str, str]) -> None:
    """Run a command that finds itself on a terminal."""
    ours, theirs = pty.openpty()
    try:
        subprocess.run(
            [str(word) for word in command],
            cwd=cwd,
            env={**os.environ, **environment},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            check=True,
            timeout=60,
        )
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("where", ["core.pager", "pager.log", "GIT_PAGER", "PAGER"])
def test_no_pager_runs(vault: Vault, git: Git, tmp_path: Path, where: str) -> None:
    """On a terminal plain git pipes its log through whatever the configuration or the environment names."""
    script, mark = trap(tmp_path)
    environment = {where: script, "TERM": "xterm"} if where.isupper() else {"TERM": "xterm"}
    if not environment.get(where):
        git("config", where, script)
    on_terminal(["git", "log"], vault.root, environment)
    assert mark.exists()
    mark.unlink()

    before = vault.head
    on_terminal([sys.executable, "-c", _USE, vault.root], Path.cwd(), environment)

    assert vault.head != before
    assert not mark.exists()


def test_no_commit_of_ours_needs_another_repository(vault: Vault, git: Git, tmp_path: Path, author: Author) -> None:
    """With `info/alternates` plain git stores nothing that lies elsewhere, and loses it with that; ours is kept."""
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", other], check=True)
    for text in ("Theirs.\n", "Ours.\n"):
        command = ["git", "hash-object", "-w", "--stdin"]
        subprocess.run(command, cwd=other, input=text, text=True, check=True, capture_output=True)
    (vault.root / ".git/objects/info").mkdir(exist_ok=True)
    (vault.root / ".git/objects/info/alternates").write_text(f"{other}/.git/objects\n")
    (vault.root / "theirs.md").write_text("Theirs.\n")
    git("add", "theirs.md")
    git("commit", "-qm", "by hand")

    with Vault.open(vault.root) as again:
        draft = again.draft()
        draft.write("ours.md", "Ours.\n")
        assert draft.commit("ours", {}, author) is not None
    shutil.rmtree(other)

    assert git("show", "HEAD:theirs.md", check=False) == ""
    assert git("show", "HEAD:ours.md") == "Ours.\n"
    with Vault.open(vault.root) as again:
        draft = again.draft()
        draft.append("ours.md", "More.")
        assert draft.commit("more", {}, author) is not None
    missing = [line for line in git("fsck", "--full", check=False).splitlines() if line.startswith("missing")]
    assert missing == [f"missing blob {git('rev-parse', 'HEAD:theirs.md').strip()}"]


@pytest.mark.parametrize("what", ["nothing", "a file", "a pipe", "itself", "noise"])
def test_alternates_that_lead_nowhere_stop_nobody(vault: Vault, tmp_path: Path, author: Author, what: str) -> None:
    """A missing folder, a file, a pipe, the vault's own objects or noise in `info/alternates`: the agent goes on."""
    place = tmp_path / "other"
    if what == "a file":
        place.write_text("x")
    elif what == "a pipe":
        os.mkfifo(place)
    elif what == "itself":
        place = vault.root / ".git/objects"
    (vault.root / ".git/objects/info").mkdir(exist_ok=True)
    text = os.urandom(1_000) if what == "noise" else f"{place}\n".encode()
    (vault.root / ".git/objects/info/alternates").write_bytes(text)

    with Vault.open(vault.root) as again:
        draft = again.draft()
        draft.write("note.md", "One.\n")
        assert draft.commit("note", {}, author) is not None
