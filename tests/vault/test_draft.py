"""The pending notes of a run and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from vault import Author, NoSuchNote, Refused, Vault

Git = Callable[..., str]


def everything(root: Path) -> dict[str, bytes]:
    """Every file of the worktree and its content."""
    files = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def test_nothing_touches_the_disk_before_the_commit(vault: Vault, git: Git) -> None:
    """Writes are seen by the draft alone: read, list and search show them, files and git do not."""
    before, head = everything(vault.root), vault.head
    draft = vault.draft()
    draft.write("projects/boat.md", "The boat is blue.\n")
    draft.append("people/ann.md", "Her birthday is in May.")

    assert draft.read("projects/boat.md") == "The boat is blue.\n"
    assert draft.read("people/ann.md").endswith("Bonn.\nHer birthday is in May.\n")
    assert "projects/boat.md" in draft.list("projects")
    assert [hit.path for hit in draft.search("boat")] == ["projects/boat.md"]
    assert draft.paths == ("projects/boat.md", "people/ann.md")
    assert everything(vault.root) == before
    assert vault.head == head
    assert git("status", "--porcelain") == ""
    assert vault.draft().list("projects") == []


def test_a_commit_reaches_history_files_and_index(vault: Vault, git: Git, author: Author) -> None:
    """One commit with trailers; files hold it; `git status` is clean; trailers are read by git itself."""
    draft = vault.draft()
    draft.write("projects/boat.md", "Blue.\n")
    kept = draft.commit(
        "host-watch: projects/boat.md", {"Trimtab-Run": "01AB", "Trimtab-Heartbeat": "host-watch"}, author
    )

    assert kept is not None
    assert kept.person is None
    assert git("log", "-1", "--format=%H %an %s|%(trailers:key=Trimtab-Run,valueonly)").startswith(
        f"{kept.commit} trimtab host-watch: projects/boat.md|01AB"
    )
    assert (vault.root / "projects/boat.md").read_text() == "Blue.\n"
    assert git("status", "--porcelain") == ""
    assert git("diff-tree", "--name-only", "-r", "--no-commit-id", "HEAD").split() == ["projects/boat.md"]
    assert git("fsck", "--full", "--strict") == ""


def test_an_empty_draft_makes_no_commit(vault: Vault, author: Author) -> None:
    """A run that wrote nothing, or wrote back what was there, leaves no commit."""
    head = vault.head
    draft = vault.draft()
    assert draft.commit("nothing", {}, author) is None
    text = draft.read("people/ann.md")
    draft.append("people/ann.md", "More.")
    draft.write("people/ann.md", text)

    assert draft.commit("nothing", {}, author) is None
    assert vault.head == head


def test_a_commit_message_cannot_be_forged(vault: Vault, git: Git, author: Author) -> None:
    """Text from outside stays on its line and shows its control characters."""
    draft = vault.draft()
    draft.write("a.md", "a\n")
    draft.commit(
        "x\n\nTrimtab-Run: forged\x1b[2J\u202e",
        {"Trimtab-Run": "real\nTrimtab-Heartbeat: forged", "Bad key": "x"},
        author,
    )
    message = git("log", "-1", "--format=%B")

    assert (
        git("log", "-1", "--format=%(trailers:key=Trimtab-Run,valueonly)").strip() == "real Trimtab-Heartbeat: forged"
    )
    assert message.splitlines()[0] == "x Trimtab-Run: forged<U+001B>[2J<U+202E>"
    assert "Bad key" not in message


def test_a_persons_edit_comes_first_and_under_their_name(vault: Vault, git: Git, author: Author) -> None:
    """What the person changed by hand in a touched note is a commit of their own; other edits are not touched."""
    with (vault.root / "people/ann.md").open("a") as file:
        file.write("She has a cat.\n")
    (vault.root / "mine.md").write_text("private\n")
    draft = vault.draft()
    draft.append("people/ann.md", "Her birthday is in May.")
    kept = draft.commit("note", {}, author)

    assert kept is not None
    assert kept.person is not None
    assert git("log", "-2", "--format=%an <%ae> %s").splitlines() == [
        "trimtab <trimtab@localhost> note",
        "Ann Lee <ann@example.org> edit people/ann.md by hand",
    ]
    assert git("show", "-s", "--format=%s", kept.person).strip() == "edit people/ann.md by hand"
    assert "+Her birthday" not in git("show", kept.person)
    assert "+She has a cat" not in git("show", kept.commit)
    assert git("status", "--porcelain") == "?? mine.md\n"


def test_an_edit_during_the_run_is_merged(vault: Vault, git: Git, author: Author) -> None:
    """A person's change of other lines after the run read the note is kept together with the run's."""
    path = vault.root / "long.md"
    path.write_text("".join(f"line {n}\n" for n in range(20)))
    draft = vault.draft()
    draft.write("long.md", draft.read("long.md").replace("line 2\n", "line two\n"))
    path.write_text(path.read_text().replace("line 15\n", "line fifteen\n"))
    kept = draft.commit("note", {}, author)

    assert kept is not None
    assert kept.remarks == ()
    assert "line two\n" in path.read_text()
    assert "line fifteen\n" in path.read_text()
    assert git("status", "--porcelain") == ""


def test_an_edit_between_reading_and_writing_is_kept(vault: Vault, git: Git, author: Author) -> None:
    """A note that a run read, a person edited and the run then wrote whole holds both edits, the person's first."""
    draft, note = vault.draft(), vault.root / "people/ann.md"
    text = draft.read("people/ann.md")
    note.write_text(f"{note.read_text()}Her cat is called Tom.\n")
    draft.write("people/ann.md", f"Ann, as far as known:\n{text}")

    kept = draft.commit("whole", {}, author)

    assert note.read_text() == f"Ann, as far as known:\n{text}Her cat is called Tom.\n"
    assert kept is not None
    assert kept.person is not None
    assert "+Her cat" in git("show", kept.person)
    assert "-Her cat" not in git("show", kept.commit)


def test_a_draft_goes_on_from_what_it_committed(vault: Vault, author: Author) -> None:
    """A second commit of one draft is no clash with its first."""
    draft = vault.draft()
    text = draft.read("people/ann.md")
    draft.write("people/ann.md", text.replace("Bonn", "Berlin"))
    draft.commit("first", {}, author)
    draft.write("people/ann.md", text.replace("Bonn", "Bremen"))

    draft.commit("second", {}, author)

    assert (vault.root / "people/ann.md").read_text() == text.replace("Bonn", "Bremen")
    assert vault.draft().list("people") == ["people/ann.md"]


def test_a_clash_keeps_both_versions(vault: Vault, git: Git, author: Author) -> None:
    """Where both changed the same line, the note is the person's and the agent's version lies beside it."""
    draft = vault.draft()
    draft.write("people/ann.md", draft.read("people/ann.md").replace("tea", "coffee"))
    path = vault.root / "people/ann.md"
    path.write_text(path.read_text().replace("tea", "water"))
    kept = draft.commit("note", {}, author)

    assert kept is not None
    assert "people/ann.agent-1.md" in kept.remarks[0]
    assert "water" in path.read_text()
    assert "coffee" in (vault.root / "people/ann.agent-1.md").read_text()
    assert git("status", "--porcelain") == ""


def test_two_runs_append_to_one_journal(vault: Vault, author: Author) -> None:
    """Runs at the same time each add their line, and the page begins once."""
    first, second = vault.draft(), vault.draft()
    first.append("journal/2026-11-20.md", "- one", start="# 2026-11-20\n\n")
    second.append("journal/2026-11-20.md", "- two", start="# 2026-11-20\n\n")
    first.commit("one", {}, author)
    second.commit("two", {}, author)

    assert (vault.root / "journal/2026-11-20.md").read_text() == "# 2026-11-20\n\n- one\n- two\n"


def test_a_note_that_the_person_took_away_can_come_back(vault: Vault, git: Git, author: Author) -> None:
    """A deletion by hand is the person's commit; a later write makes the note anew."""
    (vault.root / "people/ann.md").unlink()
    draft = vault.draft()
    with pytest.raises(NoSuchNote):
        draft.read("people/ann.md")
    draft.write("people/ann.md", "Ann.\n")
    draft.commit("note", {}, author)

    assert git("log", "-2", "--format=%an", "--", "people/ann.md").split("\n")[:2] == ["trimtab", "Ann Lee"]
    assert (vault.root / "people/ann.md").read_text() == "Ann.\n"


def test_what_a_person_has_staged_stays_staged(vault: Vault, git: Git, author: Author) -> None:
    """The index keeps the person's own additions; only the touched note is brought up to date."""
    (vault.root / "staged.md").write_text("mine\n")
    git("add", "staged.md")
    draft = vault.draft()
    draft.write("a.md", "a\n")
    draft.commit("note", {}, author)

    assert git("status", "--porcelain") == "A  staged.md\n"


def test_the_same_second_does_not_hide_a_later_edit(vault: Vault, git: Git, author: Author) -> None:
    """An edit of equal size right after git looked at a file is still seen by `git status` after our commit."""
    path = vault.root / "raced.md"
    path.write_text("aaaa\n")
    git("add", "raced.md")
    git("commit", "-q", "-m", "raced")
    path.write_text("bbbb\n")
    draft = vault.draft()
    draft.write("a.md", "a\n")
    draft.commit("note", {}, author)

    assert git("status", "--porcelain") == " M raced.md\n"


def test_an_edit_that_changes_nothing_is_refused(vault: Vault) -> None:
    """Writing what is there already is answered, not done."""
    draft = vault.draft()
    with pytest.raises(Refused, match="already says"):
        draft.write("people/ann.md", draft.read("people/ann.md"))
    draft.write("a.md", "a\n")
    with pytest.raises(Refused, match="already says"):
        draft.write("a.md", "a\n")


def test_shrinking_in_small_bites_is_one_shrink(vault: Vault) -> None:
    """The quarter is of what the note held before the run, not of the last write."""
    draft = vault.draft()
    text = draft.read("people/ann.md") + "x" * 500
    draft.write("people/ann.md", text)
    draft.write("people/ann.md", draft.read("people/ann.md")[: len(text) - 500])
    with pytest.raises(Refused, match="quarter"):
        draft.write("people/ann.md", "Ann.\n")


def test_an_executable_note_keeps_its_mode(vault: Vault, git: Git, author: Author) -> None:
    """Permissions of a file that is there are not changed."""
    path = vault.root / "run.md"
    path.write_text("one\n")
    path.chmod(0o755)
    git("add", "run.md")
    git("commit", "-q", "-m", "run")
    draft = vault.draft()
    draft.append("run.md", "two")
    draft.commit("note", {}, author)

    assert path.stat().st_mode & 0o777 == 0o755
    assert git("status", "--porcelain") == ""


def test_the_times_of_a_commit_are_the_callers(vault: Vault, git: Git, author: Author) -> None:
    """The commit bears the time and zone that it was given."""
    draft = vault.draft()
    draft.write("a.md", "a\n")
    draft.commit("note", {}, Author("trimtab", "t@localhost", author.when + timedelta(hours=1)))

    assert git("log", "-1", "--format=%aI %cI").split() == ["2026-11-20T22:17:00+00:00"] * 2
