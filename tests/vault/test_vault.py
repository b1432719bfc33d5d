"""Opening a vault in every state that a person or a crash can leave it in."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from vault import Author, Busy, Corrupt, NotAVault, NotReady, Unwritable, Vault, VaultError
from vault.locks import turn

Git = Callable[..., str]


def test_a_new_vault_is_an_ordinary_repository(tmp_path: Path) -> None:
    """Plain git works on a vault at once; nothing in it names the agent as the person."""
    vault = Vault.create(tmp_path / "new", "robo", "robo@localhost")

    def config(key: str) -> str:
        return subprocess.run(
            ["git", "config", "--local", key], cwd=vault.root, capture_output=True, text=True, check=False
        ).stdout

    assert vault.head is None
    assert vault.agent == ("robo", "robo@localhost")
    assert config("user.name") == ""
    assert config("trimtab.branch") == "main\n"
    assert (
        subprocess.run(["git", "status", "--porcelain"], cwd=vault.root, capture_output=True, check=True).stdout == b""
    )


def test_creating_twice_changes_nothing(vault: Vault) -> None:
    """A repository that is there is taken over with its notes and history."""
    again = Vault.create(vault.root, "other", "other@localhost")

    assert again.head == vault.head
    assert again.draft().list() == vault.draft().list()


def test_the_first_commit_can_be_the_agents(tmp_path: Path, author: Author) -> None:
    """A vault without a commit takes its first one like any other."""
    vault = Vault.create(tmp_path / "new", "robo", "robo@localhost")
    draft = vault.draft()
    draft.write("a/b/c.md", "x\n")
    kept = draft.commit("first", {}, author)

    assert kept is not None
    assert vault.head == kept.commit


def test_planting_leaves_what_is_there(vault: Vault) -> None:
    """Starter files never replace a person's."""
    assert vault.plant({"AGENTS.md": "other\n"}, "Begin") is None
    assert (vault.root / "AGENTS.md").read_text() == "You look after this host.\n"


@pytest.mark.parametrize("what", ["missing", "file", "plain folder", "bare", "linked worktree"])
def test_what_is_no_vault_is_said_in_one_line(vault: Vault, git: Git, tmp_path: Path, what: str) -> None:
    """A place that is no repository of its own with a worktree is refused, by name."""
    place = tmp_path / "other"
    if what == "file":
        place.write_text("x")
    elif what == "plain folder":
        place.mkdir()
    elif what == "bare":
        subprocess.run(["git", "clone", "-q", "--bare", str(vault.root), str(place)], check=True)
    elif what == "linked worktree":
        git("worktree", "add", "-q", str(place))

    with pytest.raises(NotAVault) as refused:
        Vault.open(place)
    assert str(place) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_detached_head_is_refused(vault: Vault, git: Git, author: Author) -> None:
    """Commits go to a branch; a detached HEAD is named, at the start and in the middle."""
    draft = vault.draft()
    draft.write("a.md", "a\n")
    git("checkout", "-q", "--detach")

    with pytest.raises(NotReady, match="detached"):
        Vault.open(vault.root)
    with pytest.raises(NotReady, match="detached"):
        draft.commit("a", {}, author)
    git("switch", "-q", "main")
    assert draft.paths == ("a.md",)
    assert draft.commit("a", {}, author) is not None


def test_a_foreign_branch_is_refused(vault: Vault, git: Git) -> None:
    """The agent writes to the branch that it began on; another one is named together with the way back."""
    git("switch", "-q", "-c", "experiment")

    with pytest.raises(NotReady, match="git switch main"):
        Vault.open(vault.root)


def test_a_merge_in_progress_is_refused(vault: Vault, git: Git) -> None:
    """A merge that a person has not finished is theirs to finish."""
    git("switch", "-q", "-c", "side")
    (vault.root / "people/ann.md").write_text("side\n")
    git("commit", "-qam", "side")
    git("switch", "-q", "main")
    (vault.root / "people/ann.md").write_text("main\n")
    git("commit", "-qam", "main")
    git("merge", "side", check=False)

    with pytest.raises(NotReady, match="merge"):
        Vault.open(vault.root)


def test_stale_locks_are_removed_and_reported(vault: Vault, author: Author) -> None:
    """Locks that a crash left behind are gone after opening, and a commit works."""
    names = ["index.lock", "HEAD.lock", "refs/heads/main.lock", "packed-refs.lock"]
    for name in names:
        (vault.root / ".git" / name).write_text("")

    opened = Vault.open(vault.root)

    assert sorted(notice.split()[-1] for notice in opened.notices) == sorted(names)
    draft = opened.draft()
    draft.write("a.md", "a\n")
    assert draft.commit("a", {}, author) is not None


def test_a_lock_of_a_living_git_is_respected(vault: Vault, git: Git, author: Author) -> None:
    """While a person's git holds the index, the commit is made all the same, and the index follows later."""
    lock = vault.root / ".git/index.lock"
    lock.write_text("")
    sleeper = subprocess.Popen(["git", "cat-file", "--batch"], cwd=vault.root, stdin=subprocess.PIPE)
    try:
        draft = vault.draft()
        draft.write("a.md", "a\n")
        kept = draft.commit("a", {}, author)
        assert kept is not None
        assert lock.exists()
        assert "behind" in kept.remarks[0]
        assert (vault.root / "a.md").read_text() == "a\n"
    finally:
        sleeper.communicate()
    lock.unlink()
    draft = vault.draft()
    draft.write("b.md", "b\n")
    draft.commit("b", {}, author)

    assert git("status", "--porcelain") == ""


def test_a_branch_that_keeps_its_lock_makes_us_say_so(vault: Vault, author: Author) -> None:
    """A branch that another git keeps locked ends in Busy; the draft keeps its notes for another try."""
    lock = vault.root / ".git/refs/heads/main.lock"
    lock.write_text("")
    sleeper = subprocess.Popen(["git", "cat-file", "--batch"], cwd=vault.root, stdin=subprocess.PIPE)
    draft = vault.draft()
    draft.write("a.md", "a\n")
    try:
        with pytest.raises(Busy):
            draft.commit("a", {}, author)
    finally:
        sleeper.communicate()

    assert not (vault.root / "a.md").exists()
    assert draft.commit("a", {}, author) is not None


def test_files_that_cannot_be_written_come_later(vault: Vault, git: Git, author: Author) -> None:
    """When the disk refuses the file after the branch has moved, the commit stands and the next one brings the file."""
    obstacle = vault.root / ".git/trimtab/note.new"
    obstacle.mkdir()
    draft = vault.draft()
    draft.append("a.md", "one")
    kept = draft.commit("one", {}, author)
    assert kept is not None
    assert "next commit" in kept.remarks[0]
    assert not (vault.root / "a.md").exists()
    draft.append("a.md", "two")
    with pytest.raises(Unwritable):
        draft.commit("two", {}, author)
    obstacle.rmdir()
    draft.commit("two", {}, author)

    assert (vault.root / "a.md").read_text() == "one\ntwo\n"
    assert git("log", "--format=%an %s", "-2").splitlines() == ["trimtab two", "trimtab one"]
    assert git("status", "--porcelain") == ""


def test_two_processes_take_turns(vault: Vault) -> None:
    """A second writer waits for the first, and says so when that takes too long."""
    lock = vault.root / ".git/trimtab/lock"
    with turn(lock), pytest.raises(Busy, match="another process"), turn(lock, attempts=2, pause=0.0):
        raise AssertionError


def test_a_commit_that_came_in_between_is_built_upon(vault: Vault, git: Git, author: Author) -> None:
    """A person's commit after the draft was begun stays, and ours comes on top."""
    draft = vault.draft()
    draft.append("people/ann.md", "She has a cat.")
    with (vault.root / "people/ann.md").open("a") as file:
        file.write("By hand.\n")
    git("commit", "-qam", "by hand")
    kept = draft.commit("note", {}, author)

    assert kept is not None
    assert kept.person is None
    assert git("log", "-2", "--format=%s").split("\n")[:2] == ["note", "by hand"]
    assert (vault.root / "people/ann.md").read_text().endswith("By hand.\nShe has a cat.\n")


def test_a_landing_that_was_cut_off_is_ended(vault: Vault, git: Git, author: Author) -> None:
    """When a kill hit between the branch and the files, the next start writes the files, but not over a later edit."""
    draft = vault.draft()
    for name in ("plain.md", "edited.md", "gone.md"):
        draft.write(name, "agent\n")
    kept = draft.commit("note", {}, author)
    assert kept is not None
    was = {name: vault.git.identity(kept.commit, name) for name in kept.paths}
    git("rm", "-q", "--cached", *kept.paths)
    (vault.root / "plain.md").unlink()
    (vault.root / "edited.md").write_text("person\n")
    old = vault.git.store(b"old\n")
    (vault.root / "gone.md").unlink()
    paths = {
        "plain.md": (None, was["plain.md"]),
        "edited.md": (None, was["edited.md"]),
        "gone.md": (old, was["gone.md"]),
    }
    (vault.root / ".git/trimtab/landing.json").write_text(
        json.dumps({"branch": "main", "commit": kept.commit, "paths": paths})
    )

    opened = Vault.open(vault.root)

    assert (vault.root / "plain.md").read_text() == "agent\n"
    assert (vault.root / "edited.md").read_text() == "person\n"
    assert not (vault.root / "gone.md").exists()
    assert len(opened.notices) == 2
    assert git("status", "--porcelain").splitlines() == [" M edited.md", " D gone.md"]


@pytest.mark.parametrize(
    "paper", ["", "{", "[]", '{"branch": "main"}', '{"branch":"main","commit":"0","paths":{"a.md":[null,"1"]}}']
)
def test_a_torn_paper_does_not_stop_the_start(vault: Vault, paper: str) -> None:
    """What a power cut left of our own notes to ourselves is not trusted."""
    (vault.root / ".git/trimtab/landing.json").write_text(paper)

    assert Vault.open(vault.root).head == vault.head


@pytest.mark.parametrize("damage", ["branch", "HEAD", "tree", "commit", "config"])
def test_damage_is_one_clear_line(vault: Vault, git: Git, damage: str) -> None:
    """A repository that cannot be read is a VaultError of one line with its place, never a traceback."""
    inside = vault.root / ".git"
    what = {"branch": "refs/heads/main", "HEAD": "HEAD", "config": "config"}.get(damage)
    if what is None:
        found = git("rev-parse", "HEAD^{tree}" if damage == "tree" else "HEAD").strip()
        what = f"objects/{found[:2]}/{found[2:]}"
        (inside / what).chmod(0o644)
    (inside / what).write_bytes(b"\0broken")

    with pytest.raises(VaultError) as refused:
        Vault.open(vault.root)
    assert str(vault.root) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_empty_branch_file_is_corrupt_and_not_a_new_vault(vault: Vault) -> None:
    """A branch that a power cut emptied is never mistaken for a vault without commits."""
    (vault.root / ".git/refs/heads/main").write_bytes(b"")

    with pytest.raises(Corrupt, match="fsck"):
        Vault.open(vault.root)


def test_packed_and_shallow_repositories_work(vault: Vault, git: Git, tmp_path: Path, author: Author) -> None:
    """A vault after `git gc`, and a shallow clone, take commits like any other."""
    git("gc", "-q")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{vault.root}", str(clone)], check=True)
    for root in (vault.root, clone):
        draft = Vault.open(root).draft()
        draft.append("people/ann.md", "More.")
        assert draft.commit("more", {}, author) is not None
        assert subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, check=True).stdout == b""


def test_a_lost_index_is_made_anew(vault: Vault, git: Git, author: Author) -> None:
    """Without an index file, one that lists the whole commit is written, so that nothing seems deleted."""
    (vault.root / ".git/index").unlink()
    draft = vault.draft()
    draft.write("a.md", "a\n")
    draft.commit("a", {}, author)

    assert git("status", "--porcelain") == ""
