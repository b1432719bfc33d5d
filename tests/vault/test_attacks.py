"""What a hostile file could make plain git do, beside what the vault does: nothing runs, hides or leaves the vault.

Where plain git is shown to fall for it, the test says so first; otherwise it would prove nothing.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from vault import Author, Refused, Vault

Git = Callable[..., str]


def trap(tmp_path: Path, name: str = "ran") -> tuple[str, Path]:
    """A command that leaves a mark when it runs, and the mark."""
    mark, script = tmp_path / name, tmp_path / f"{name}.sh"
    script.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    script.chmod(0o755)
    return str(script), mark


def use_everything(vault: Vault, author: Author) -> None:
    """Read, list, search, write, commit, look at the history and open the vault again."""
    draft = vault.draft()
    draft.list()
    draft.search("tea cat")
    draft.append("people/ann.md", "She has a cat.")
    draft.write("note.md", "One.\n")
    assert draft.commit("note", {}, author) is not None
    for commit in vault.git.history(vault.head):
        list(vault.git.changes(commit))
    Vault.open(vault.root).close()


def nested(vault: Vault) -> Path:
    """A repository inside the vault with a file and a commit."""
    inner = vault.root / "sub"
    subprocess.run(["git", "init", "-q", str(inner)], check=True)
    (inner / "a.md").write_text("aaaa cat\n")
    for call in (["add", "a.md"], ["-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x"]):
        subprocess.run(["git", *call], cwd=inner, check=True)
    return inner


def test_no_filter_runs(vault: Vault, git: Git, tmp_path: Path, author: Author) -> None:
    """A clean, smudge or process filter named by attributes runs under plain git and never under the vault."""
    command, mark = trap(tmp_path)
    for kind in ("clean", "smudge"):
        git("config", f"filter.evil.{kind}", command)
    (vault.root / ".gitattributes").write_text("* filter=evil diff=evil merge=evil ident text eol=crlf\n")
    git("config", "diff.evil.textconv", command)
    git("config", "merge.evil.driver", command)
    git("config", "diff.external", command)
    (vault.root / "plain.md").write_text("by hand\n")
    git("add", "plain.md")
    assert mark.exists()
    mark.unlink()

    use_everything(vault, author)

    assert not mark.exists()
    assert (vault.root / "note.md").read_bytes() == b"One.\n"
    assert vault.git.blob(str(vault.git.identity(vault.head, "note.md"))) == b"One.\n"


def test_no_hook_runs(vault: Vault, git: Git, tmp_path: Path, author: Author) -> None:
    """Hooks run under plain git and never under the vault."""
    command, mark = trap(tmp_path)
    for name in (
        "pre-commit",
        "post-commit",
        "reference-transaction",
        "post-index-change",
        "commit-msg",
        "prepare-commit-msg",
    ):
        hook = vault.root / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.symlink_to(command)
    git("commit", "-q", "--allow-empty", "-m", "by hand", check=False)
    assert mark.exists()
    mark.unlink()

    use_everything(vault, author)

    assert not mark.exists()


def test_a_nested_repository_does_not_exist(vault: Vault, git: Git, tmp_path: Path, author: Author) -> None:
    """A repository in the vault runs its filter under `git add -A`; the vault neither reads nor writes there."""
    command, mark = trap(tmp_path)
    inner = nested(vault)
    git("add", "sub")
    (inner / ".git/info").mkdir(exist_ok=True)
    (inner / ".git/info/attributes").write_text("* filter=evil\n")
    with (inner / ".git/config").open("a") as config:
        config.write(f'[filter "evil"]\n\tclean = {command}\n')
    (inner / "a.md").write_text("bbbb cat\n")
    git("add", "-A", check=False)
    assert mark.exists()
    mark.unlink()

    use_everything(vault, author)

    draft = vault.draft()
    assert not mark.exists()
    assert not [path for path in draft.list() if path.startswith("sub/")]
    assert "sub/a.md" not in [hit.path for hit in draft.search("cat")]
    for attempt in (lambda: draft.read("sub/a.md"), lambda: draft.write("sub/b.md", "x\n")):
        with pytest.raises(Refused, match="repository of its own"):
            attempt()


def test_attributes_hide_nothing_from_the_history(vault: Vault, git: Git, author: Author) -> None:
    """`*.md -diff` blinds plain `git show`; the vault's own view shows the text."""
    (vault.root / ".gitattributes").write_text("*.md -diff\n")
    draft = vault.draft()
    draft.write("note.md", "the truth\n")
    kept = draft.commit("note", {}, author)
    assert kept is not None
    assert "Binary files" in git("show", kept.commit)

    newest = next(iter(vault.git.history(vault.head)))

    assert [("note.md", True)] == [(each.path, "+the truth" in each.patch) for each in vault.git.changes(newest)]


def test_an_ignored_note_is_a_note(vault: Vault, git: Git, author: Author) -> None:
    """A `.gitignore` of `*` hides a new file from plain git; what the agent writes is committed all the same."""
    (vault.root / ".gitignore").write_text("*\n")
    (vault.root / "seen.md").write_text("by hand\n")
    assert "seen.md" not in git("status", "--porcelain")

    use_everything(vault, author)

    assert git("show", "HEAD:note.md") == "One.\n"
    assert "seen.md" in vault.draft().list()


@pytest.mark.parametrize("shape", ["file", "folder", "dangling", "loop"])
def test_links_lead_nowhere(vault: Vault, tmp_path: Path, author: Author, shape: str) -> None:
    """A link under a note's name or on the way to it is refused to read and to write, and never listed."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret\n")
    link = vault.root / ("out.md" if shape in {"file", "dangling", "loop"} else "out")
    link.symlink_to(
        {"file": outside / "secret.md", "folder": outside, "dangling": outside / "new.md", "loop": link}[shape]
    )
    path = "out/secret.md" if shape == "folder" else "out.md"
    draft = vault.draft()

    assert path not in draft.list()
    assert not draft.search("secret")
    for attempt in (lambda: draft.read(path), lambda: draft.write(path, "mine\n"), lambda: draft.append(path, "mine")):
        with pytest.raises(Refused):
            attempt()
    assert (outside / "secret.md").read_text() == "secret\n"
    assert [each.name for each in outside.iterdir()] == ["secret.md"]


def test_a_folder_that_becomes_a_link_before_the_commit(vault: Vault, tmp_path: Path, author: Author) -> None:
    """A parent that is swapped for a link between write and commit keeps that note out, and the others go on."""
    outside = tmp_path / "outside"
    outside.mkdir()
    draft = vault.draft()
    draft.write("trap/note.md", "mine\n")
    draft.write("fine.md", "fine\n")
    (vault.root / "trap").symlink_to(outside)
    kept = draft.commit("note", {}, author)

    assert kept is not None
    assert kept.paths == ("fine.md",)
    assert "trap" in kept.remarks[0]
    assert not list(outside.iterdir())


def test_devices_and_pipes_are_left_alone(vault: Vault) -> None:
    """A named pipe under a note's name does not hang a reader."""
    os.mkfifo(vault.root / "pipe.md")
    draft = vault.draft()

    assert "pipe.md" not in draft.list()
    with pytest.raises(Refused, match="regular"):
        draft.read("pipe.md")


def test_names_that_are_not_utf8_do_not_stop_a_listing(vault: Vault) -> None:
    """A file whose name is no text is passed over."""
    Path(os.fsdecode(os.fsencode(vault.root) + b"/bad-\xff.md")).write_text("x\n")

    assert vault.draft().list() == ["AGENTS.md", "heartbeats/host-watch.md", "people/ann.md"]


def test_a_huge_file_dropped_in_is_not_read(vault: Vault) -> None:
    """A sparse gigabyte under a note's name is refused by its size and passed over by search."""
    with (vault.root / "huge.md").open("wb") as file:
        file.truncate(1 << 30)
    draft = vault.draft()

    assert draft.search("anything tea")
    with pytest.raises(Refused, match="1,073,741,824"):
        draft.read("huge.md")


def test_replaced_objects_do_not_lie(vault: Vault, git: Git, author: Author) -> None:
    """`git replace` makes plain git show another text; the vault shows what was committed."""
    draft = vault.draft()
    draft.write("note.md", "the truth\n")
    draft.commit("note", {}, author)
    true_id = git("rev-parse", "HEAD:note.md").strip()
    lie = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"],
        input="a lie\n",
        cwd=vault.root,
        capture_output=True,
        text=True,
        check=True,
    )
    git("replace", true_id, lie.stdout.strip())
    assert git("show", "HEAD:note.md") == "a lie\n"

    assert vault.git.blob(true_id) == b"the truth\n"
