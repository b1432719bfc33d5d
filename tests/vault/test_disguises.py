"""More ways in which files of a vault attack plain git, and what the vault makes of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from vault import Author, NotAVault, Refused, Unwritable, Vault, VaultError

Git = Callable[..., str]


def test_a_bare_repository_in_a_folder_runs_nothing(vault: Vault, tmp_path: Path, author: Author) -> None:
    """Plain git run inside an embedded bare repository obeys its configuration; the vault only sees files."""
    mark = tmp_path / "ran"
    inner = vault.root / "inner"
    subprocess.run(["git", "init", "-q", "--bare", inner], check=True)
    with (inner / "config").open("a") as config:
        config.write(f'[core]\n\tbare = false\n\tworktree = {inner}\n\tfsmonitor = "touch {mark}; false"\n')
    subprocess.run(["git", "status"], cwd=inner, check=False, capture_output=True)
    assert mark.exists()
    mark.unlink()
    (inner / "note.md").write_text("inside\n")

    draft = vault.draft()
    draft.append("inner/note.md", "agent")
    assert draft.commit("agent", {}, author) is not None
    Vault.open(vault.root).close()

    assert not mark.exists()


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/x.md",
        ".GIT/x.md",
        "a/.git/x.md",
        "git~1/x.md",
        "GIT~2/x.md",
        ".g\u200cit/x.md",
        ".git\u200b/x.md",
        "．git/x.md",
        ".gitattributes.md",
        "../out.md",
        "a/../../out.md",
        "/etc/x.md",
        "~/x.md",
        "a\\..\\x.md",
        ".git::$INDEX_ALLOCATION/x.md",
        "a.md\n.git/config",
        "-.md/../x.md",
        "\ufeff.git/x.md",
        "a/\u202e.md",
    ],
)
def test_no_spelling_of_git_or_outside_is_a_note(vault: Vault, path: str) -> None:
    """Whatever a file system might take for .git or for a place outside is refused, and nothing is written."""
    before = sorted(vault.root.rglob("*"))
    draft = vault.draft()

    for attempt in (draft.write, draft.append):
        with pytest.raises(Refused) as refused:
            attempt(path, "x\n")
        assert "\n" not in str(refused.value)
    assert sorted(vault.root.rglob("*")) == before


def test_a_name_like_an_option_is_a_name(vault: Vault, git: Git, author: Author) -> None:
    """`--output=x` is written, listed and shown as a file; no command line ever sees it."""
    draft = vault.draft()
    draft.write("--output=x.md", "option\n")
    kept = draft.commit("--amend", {"Trimtab-Run": "x\nTrimtab-Forged: yes"}, author)

    assert kept is not None
    assert git("show", "HEAD:--output=x.md") == "option\n"
    assert "\nTrimtab-Forged" not in git("log", "-1", "--format=%B")
    assert [each.path for each in vault.git.changes(next(iter(vault.git.history(vault.head))))] == ["--output=x.md"]
    assert vault.git.find("--output=x") is None


def test_links_and_repositories_in_the_history_stay_what_they_are(vault: Vault, git: Git, author: Author) -> None:
    """A link or a nested repository that a person has committed is neither read nor written through, nor lost."""
    link = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"],
        input="/etc",
        cwd=vault.root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    head = git("rev-parse", "HEAD").strip()
    git("update-index", "--add", "--cacheinfo", f"120000,{link},out", "--cacheinfo", f"160000,{head},sub")
    git("commit", "-qm", "by hand")
    draft = vault.draft()
    draft.write("note.md", "agent\n")
    assert draft.commit("agent", {}, author) is not None

    modes = {line.split("\t")[1]: line.split()[0] for line in git("ls-tree", "HEAD").splitlines()}
    assert (modes["out"], modes["sub"]) == ("120000", "160000")


def test_control_characters_reach_no_log_line(vault: Vault, git: Git, author: Author) -> None:
    """Escapes, direction marks and newlines in a subject or an author are spelled out in the commit itself."""
    who = Author("ro\x1bbo\n<evil>", "a@b>\ncommitter x", author.when)
    draft = vault.draft()
    draft.write("note.md", "agent\n")
    kept = draft.commit("one\x1b[2J\u202etwo\nthree", {}, who)

    assert kept is not None
    raw = git("cat-file", "commit", kept.commit)
    assert raw.count("\ncommitter ") == 1
    assert "U+001B" in raw.split("\n\n", 1)[1]
    assert "\u202e" not in raw
    assert git("fsck", "--strict") == ""


def test_environment_variables_of_git_lead_nowhere(
    vault: Vault, git: Git, author: Author, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GIT_DIR and its kin send plain git elsewhere; the vault stays where it is."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    opened = Vault.open(vault.root)
    draft = opened.draft()
    draft.write("note.md", "agent\n")
    assert draft.commit("agent", {}, author) is not None
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"):
        monkeypatch.delenv(name)

    assert git("status", "--porcelain") == ""
    assert git("show", "HEAD:note.md") == "agent\n"
    assert not (tmp_path / "elsewhere").exists()


def test_names_that_are_no_text_stay_in_tree_and_index(vault: Vault, git: Git, author: Author) -> None:
    """Files whose names are not UTF-8, committed by hand, are carried along by every commit of ours."""
    Path(os.fsdecode(os.fsencode(vault.root) + b"/bad-\xff.md")).write_text("x\n")
    git("add", "-A")
    git("commit", "-qm", "by hand")
    draft = vault.draft()
    draft.write("c.md", "agent\n")
    assert draft.commit("agent", {}, author) is not None

    assert '"bad-\\377.md"' in git("ls-tree", "--name-only", "HEAD")
    assert git("status", "--porcelain") == ""


def test_a_huge_file_among_the_notes_costs_nothing(vault: Vault, git: Git, author: Author) -> None:
    """A gigabyte dropped in by hand is neither read nor taken into a commit; notes beside it are written as ever."""
    with (vault.root / "people/huge.md").open("wb") as file:
        file.truncate(1 << 30)
    draft = vault.draft()
    draft.append("people/ann.md", "agent")
    with pytest.raises(Refused, match="left alone"):
        draft.append("people/huge.md", "agent")
    assert draft.commit("agent", {}, author) is not None

    assert git("ls-tree", "--name-only", "HEAD", "people/").split() == ["people/ann.md"]


@pytest.mark.parametrize(
    "text", ["---\n: : :\n---\nx\n", "---\nread_only: [\n---\n", "---\nnever closed\n", "\ufeff---\na: b\n"]
)
def test_broken_front_matter_is_a_note_all_the_same(vault: Vault, author: Author, text: str) -> None:
    """A person's note whose front matter cannot be read is read, listed and appended to; none of it is lost."""
    (vault.root / "broken.md").write_text(text)
    draft = vault.draft()
    assert draft.read("broken.md") == text
    try:
        draft.append("broken.md", "agent")
    except Refused as refused:
        assert "\n" not in str(refused)  # noqa: PT017
        return
    assert draft.commit("agent", {}, author) is not None
    assert (vault.root / "broken.md").read_text().startswith(text)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_permission_is_said_in_one_line(vault: Vault) -> None:
    """A vault that may not be written to is refused when it is opened, by name."""
    vault.root.chmod(0o500)
    try:
        with pytest.raises(Unwritable, match="permission"):
            Vault.open(vault.root)
    finally:
        vault.root.chmod(0o700)


def test_a_note_that_cannot_be_written_waits(vault: Vault, git: Git, author: Author) -> None:
    """A folder closed before the commit keeps its note out of the files, not out of the history, and is named."""
    folder, draft = vault.root / "people", vault.draft()
    draft.append("people/ann.md", "agent")
    immutable = subprocess.run(["chattr", "+i", folder], check=False, capture_output=True)
    if immutable.returncode:
        pytest.skip("no file can be made immutable here")
    try:
        with pytest.raises(Refused, match="no permission to write in people"):
            vault.draft().append("people/ann.md", "agent")
        kept = draft.commit("agent", {}, author)
        assert kept is not None
        assert "people/ann.md" in kept.remarks[0]
    finally:
        subprocess.run(["chattr", "-i", folder], check=True)
    draft = vault.draft()
    draft.write("b.md", "b\n")
    draft.commit("b", {}, author)

    assert (vault.root / "people/ann.md").read_text().endswith("agent\n")
    assert git("status", "--porcelain") == ""


@pytest.mark.parametrize("state", ["cherry-pick", "revert", "rebase", "bisect"])
def test_what_a_person_has_begun_is_left_to_them(vault: Vault, git: Git, author: Author, state: str) -> None:
    """Half-done work of a person's git is named in one line, and nothing is written until it is done."""
    (vault.root / ".git" / f"{state.upper().replace('-', '_')}_HEAD").write_text(git("rev-parse", "HEAD"))
    if state == "rebase":
        (vault.root / ".git/rebase-merge").mkdir()
    if state == "bisect":
        (vault.root / ".git/BISECT_LOG").write_text("")
    draft = vault.draft()
    draft.write("a.md", "a\n")
    before = vault.head

    with pytest.raises(VaultError, match="in progress"):
        draft.commit("a", {}, author)
    assert vault.head == before
    assert not (vault.root / "a.md").exists()


def test_a_gitdir_that_is_a_link_is_no_vault(vault: Vault, tmp_path: Path) -> None:
    """A .git that leads elsewhere, by a link or by a file, is refused."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other/.git").symlink_to(vault.root / ".git")

    with pytest.raises(NotAVault):
        Vault.open(tmp_path / "other")
