"""Opening a vault in every state that a person or a crash can leave it in."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from vault import Author, Corrupt, NotAVault, NotReady, Refused, Vault, VaultError

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


def test_a_folder_that_cannot_be_made_is_refused(vault: Vault, author: Author) -> None:
    """A person's file where the note needs a folder keeps the note out; once it is gone the note can be written."""
    (vault.root / "place").write_text("mine\n")
    draft = vault.draft()
    with pytest.raises(Refused, match="place"):
        draft.write("place/note.md", "x\n")
    (vault.root / "place").unlink()
    draft.write("place/note.md", "x\n")
    draft.commit("x", {}, author)

    assert (vault.root / "place/note.md").read_text() == "x\n"


def test_a_strange_history_can_be_read(vault: Vault, git: Git) -> None:
    """Names and messages that are no text, and times far away, are shown as well as they can be."""
    tree = git("rev-parse", "HEAD^{tree}").strip()
    raw = f"tree {tree}\nauthor \xff <x> 99999999999 +2359\ncommitter c <c> 1 +0000\n\n\xfe\n".encode("latin-1")
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        cwd=vault.root,
        input=raw,
        capture_output=True,
        check=True,
    )
    (commit,) = vault.git.history(made.stdout.decode().strip())

    assert (commit.author.name, commit.message) == ("\ufffd", "\ufffd\n")
