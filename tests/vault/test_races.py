"""What a person's editor and a person's git do at the very moment of a commit: nothing of either side is lost."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from vault import Author, Vault
from vault.arrival import Arrival
from vault.files import Files
from vault.landing import Landing
from vault.late import Late
from vault.work import Work

Git = Callable[..., str]


def test_a_commit_of_a_person_in_between_is_built_upon(vault: Vault, git: Git, author: Author) -> None:
    """When a person's git moves the branch while ours is being made, ours is built anew on top of it."""
    plans = list[str]()

    def plan(work: Work) -> None:
        work.put("a.md", b"agent\n")
        plans.append("once more")
        if len(plans) == 1:
            (vault.root / "b.md").write_text("person\n")
            git("add", "b.md")
            git("commit", "-qm", "by hand")

    kept = vault.change(plan, "agent\n", author)

    assert kept is not None
    assert len(plans) == 2
    assert git("log", "--format=%s", "-3").splitlines() == ["agent", "by hand", "Begin"]
    assert git("status", "--porcelain") == ""


def test_the_index_is_held_while_branch_and_files_move(vault: Vault, git: Git, author: Author) -> None:
    """A person's `git commit` in the middle of ours is told to wait, because it would take our change back."""
    said = list[str]()

    def plan(work: Work) -> None:
        work.put("a.md", b"agent\n")

    hook = vault.files.scratch / "note.new"
    seen = list[bool]()
    replace = Files.replace

    class Watching(Files):
        def replace(self, parts: tuple[str, ...], data: bytes, expected: bytes | None) -> Path | None:
            seen.append((vault.root / ".git/index.lock").exists())
            done = subprocess.run(
                ["git", "commit", "-qam", "x", "--allow-empty"],
                cwd=vault.root,
                capture_output=True,
                text=True,
                check=False,
            )
            said.append(done.stderr)
            return replace(self, parts, data, expected)

    vault._arrival = Arrival(vault.git, Watching(vault.root, hook.parent), vault.notices)
    assert vault.change(plan, "agent\n", author) is not None

    assert seen == [True]
    assert "index.lock" in said[0]
    assert git("show", "HEAD:a.md") == "agent\n"
    assert git("status", "--porcelain") == ""


@pytest.mark.parametrize("how", ["in place", "renamed"])
def test_a_save_between_the_look_and_the_write_stays(vault: Vault, how: str) -> None:
    """A file that was saved after we had looked at it is not written over, whichever way the editor saves."""
    note = vault.root / "people/ann.md"
    looked = note.read_bytes()
    if how == "in place":
        note.write_text("saved\n")
    else:
        (vault.root / "fresh").write_text("saved\n")
        (vault.root / "fresh").rename(note)

    assert vault.files.replace(("people", "ann.md"), b"agent\n", looked) is None
    assert note.read_text() == "saved\n"


def test_a_new_note_is_not_written_over_one_that_appeared(vault: Vault) -> None:
    """A note that a person made under the same name in the meantime stays."""
    (vault.root / "new.md").write_text("person\n")

    assert vault.files.replace(("new.md",), b"agent\n", None) is None
    assert (vault.root / "new.md").read_text() == "person\n"


def test_what_an_editor_writes_into_the_old_file_comes_back(vault: Vault, git: Git, author: Author) -> None:
    """An editor that had the note open while it was replaced saves where nobody looks; its text is brought back."""
    note = vault.root / "people/ann.md"
    with note.open("r+") as editor:
        text = editor.read()
        draft = vault.draft()
        draft.append("people/ann.md", "She has a cat.")
        assert draft.commit("cat", {}, author) is not None
        editor.seek(0)
        editor.write("# Ann Lee\n" + text.removeprefix("# Ann\n"))
    draft = vault.draft()
    draft.write("other.md", "other\n")
    kept = draft.commit("other", {}, author)

    assert note.read_text() == "# Ann Lee\n\nAnn likes tea.\nShe lives in Bonn.\nShe has a cat.\n"
    assert kept is not None
    assert "both edits are in it" in kept.remarks[0]
    assert git("status", "--porcelain") == " M people/ann.md\n"
    draft = vault.draft()
    draft.append("people/ann.md", "And a dog.")
    kept = draft.commit("dog", {}, author)
    assert kept is not None
    assert kept.person is not None
    assert "+# Ann Lee" in git("show", kept.person)


def test_a_clash_with_a_late_save_keeps_both(vault: Vault) -> None:
    """Where a late save and the agent's text cannot be joined, the person's version gets a name of its own."""
    note = vault.root / "people/ann.md"
    was = note.read_bytes()
    late = Late(vault.git, vault.files)
    landing = Landing("main", "", {"people/ann.md": (vault.git.store(was), vault.git.store(b"agent\n"))})
    with note.open("w") as editor:
        editor.write(was.decode())
        editor.flush()
        old = vault.files.replace(("people", "ann.md"), b"agent\n", was)
        assert old is not None
        late.keep(old, "people/ann.md", landing.paths["people/ann.md"][0])
        editor.seek(0)
        editor.truncate()
        editor.write("person\n")

    assert "people/ann.by-hand-1.md" in late.bring()[0]
    assert note.read_text() == "agent\n"
    assert (vault.root / "people/ann.by-hand-1.md").read_text() == "person\n"
    assert not list(vault.own.glob("late-*"))


def test_a_file_that_is_being_saved_in_place_is_waited_for(vault: Vault, git: Git, author: Author) -> None:
    """A note that is empty for the moment in which an editor saves it is not taken for one that a person emptied."""
    note = vault.root / "people/ann.md"
    saver = subprocess.Popen(
        ["sh", "-c", f": > {note}; echo; sleep 0.08; echo 'Ann moved to Rome.' > {note}"], stdout=subprocess.PIPE
    )
    assert saver.stdout is not None
    saver.stdout.readline()
    draft = vault.draft()
    draft.append("people/ann.md", "She has a cat.")
    kept = draft.commit("cat", {}, author)
    saver.communicate()

    assert kept is not None
    assert kept.person is not None
    assert note.read_text() == "Ann moved to Rome.\nShe has a cat.\n"
    assert git("show", f"{kept.person}:people/ann.md") == "Ann moved to Rome.\n"
