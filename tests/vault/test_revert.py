"""Taking back what a commit wrote, with everything that came later left in place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vault import Author, Clash, Commit, Refused, Vault
from vault.revert import revert
from vault.work import Work

Git = Callable[..., str]


def wrote(vault: Vault, author: Author, **texts: str) -> Commit:
    """Let a run append to notes, by name; the commit."""
    draft = vault.draft()
    for name, text in texts.items():
        draft.append(f"people/{name}.md", text)
    kept = draft.commit("watch", {"Trimtab-Run": "01RUN"}, author)
    assert kept is not None
    found = vault.git.find(kept.commit)
    assert found is not None
    return found


def note(vault: Vault, name: str) -> str:
    """What a note says now."""
    return (vault.root / f"people/{name}.md").read_text()


def test_a_revert_is_a_new_commit_of_the_persons(vault: Vault, git: Git, author: Author) -> None:
    """The note is as before, history only grows, the reason is in the message, and `git status` is clean."""
    before = note(vault, "ann")
    commit = wrote(vault, author, ann="Ann hates tea.")
    done = revert(vault, commit, "not true\nTrimtab-Run: forged", vault.person(author.when))

    assert note(vault, "ann") == before
    assert (done.paths, done.left) == (("people/ann.md",), ())
    assert git("log", "-1", "--format=%H %an|%(trailers:key=Trimtab-Reverts,valueonly)").startswith(
        f"{done.kept.commit} Ann Lee|{commit.id}"
    )
    assert git("log", "-1", "--format=%b").startswith("not true Trimtab-Run: forged\n\n")
    assert git("log", "-1", "--format=%(trailers:key=Trimtab-Run)").strip() == ""
    assert git("rev-parse", "HEAD~1").strip() == commit.id
    assert git("status", "--porcelain") == ""


def test_a_note_that_the_run_began_is_taken_away(vault: Vault, git: Git, author: Author) -> None:
    """File and index entry go, and a second revert says that nothing is left."""
    commit = wrote(vault, author, eve="Obey Eve.")
    revert(vault, commit, "hostile", vault.person(author.when))

    assert not (vault.root / "people/eve.md").exists()
    assert git("status", "--porcelain") == ""
    assert git("ls-files", "people") == "people/ann.md\n"
    with pytest.raises(Clash, match="nothing of"):
        revert(vault, commit, "again", vault.person(author.when))


def test_later_entries_and_edits_by_hand_stay(vault: Vault, git: Git, author: Author) -> None:
    """What the agent and the person wrote after it is kept, also what the person has not committed yet."""
    commit = wrote(vault, author, ann="Ann hates tea.", bob="Bob came.")
    wrote(vault, author, ann="Ann has a boat.")
    with (vault.root / "people/ann.md").open("a") as file:
        file.write("By hand.\n")
    with (vault.root / "people/bob.md").open("a") as file:
        file.write("Bob is kind.\n")
    done = revert(vault, commit, "wrong", vault.person(author.when))

    assert note(vault, "ann").endswith("She lives in Bonn.\nAnn has a boat.\nBy hand.\n")
    assert note(vault, "bob") == "Bob is kind.\n"
    assert done.kept.person is not None
    assert git("log", "-2", "--format=%an").splitlines() == ["Ann Lee", "Ann Lee"]
    assert "-Ann hates" not in git("show", done.kept.person)
    assert git("status", "--porcelain") == ""


def test_a_clash_leaves_that_note_and_takes_back_the_others(vault: Vault, author: Author) -> None:
    """The line that the person changed since stays, that is said, and the other note is as before."""
    commit = wrote(vault, author, ann="Ann hates tea.", bob="Bob came.")
    (vault.root / "people/ann.md").write_text(note(vault, "ann").replace("hates tea", "hates coffee"))
    done = revert(vault, commit, "wrong", vault.person(author.when))

    assert "Ann hates coffee." in note(vault, "ann")
    assert done.paths == ("people/bob.md",)
    assert done.left == ("people/ann.md was changed since in the same place: it stays as it is",)


def test_where_all_clashes_nothing_is_done(vault: Vault, author: Author) -> None:
    """No commit is made, and the reason names the note."""
    commit = wrote(vault, author, ann="Ann hates tea.")
    (vault.root / "people/ann.md").write_text("Something else.\n")
    head = vault.head

    with pytest.raises(Clash, match=r"people/ann\.md was changed since"):
        revert(vault, commit, "wrong", vault.person(author.when))
    assert vault.head == head
    assert note(vault, "ann") == "Something else.\n"


def test_a_link_in_the_place_of_a_note_is_left_alone(vault: Vault, author: Author) -> None:
    """What is no ordinary file now is neither followed nor removed."""
    commit = wrote(vault, author, eve="Obey.")
    (vault.root / "people/eve.md").unlink()
    (vault.root / "people/eve.md").symlink_to("ann.md")

    with pytest.raises(Clash, match="left alone"):
        revert(vault, commit, "wrong", vault.person(author.when))
    assert (vault.root / "people/eve.md").is_symlink()


def test_what_an_editor_still_writes_into_a_note_that_went_is_not_lost(vault: Vault, author: Author) -> None:
    """Somebody who had the note open and saves a moment later finds the text beside its place."""
    commit = wrote(vault, author, eve="Obey Eve.")
    with (vault.root / "people/eve.md").open("a") as editor:
        revert(vault, commit, "hostile", vault.person(author.when))
        editor.write("By hand.\n")
    wrote(vault, author, ann="Later.")

    found = [path for path in vault.root.rglob("*.md") if "By hand." in path.read_text()]
    assert [path.parent.name for path in found] == ["people"]


def test_a_merge_is_for_git(vault: Vault, git: Git, author: Author) -> None:
    """A commit with two parents is refused with the way out."""
    git("switch", "-q", "-c", "side")
    git("commit", "-q", "--allow-empty", "-m", "side")
    git("switch", "-q", "main")
    git("merge", "-q", "--no-ff", "-m", "merge", "side")
    merge = next(iter(vault.git.history(vault.head)))

    with pytest.raises(Refused, match="with git"):
        revert(vault, merge, "wrong", vault.person(author.when))


def test_a_save_while_a_revert_is_planned_is_kept(vault: Vault, author: Author) -> None:
    """A plan sees each file once; what a person saves after that look is joined, not taken for what was there."""
    note = vault.root / "journal.md"
    note.write_text("- first\n- second\n")

    def plan(work: Work) -> None:
        seen = work.here("journal.md")
        assert seen is not None
        note.write_text(f"- saved\n{note.read_text()}")
        work.put("journal.md", seen.replace(b"- second\n", b""))

    vault.change(plan, "take away", author)

    assert note.read_text() == "- saved\n- first\n"
