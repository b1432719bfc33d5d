"""A vault and a bare repository on disk: both sides keep what they wrote, nothing is forced, nothing is hidden."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from tests.vault.remotes import NOW, Git, clean, log, noted, pushed, review_of, run
from vault import Author, Vault
from vault.sync import Remote, Sync, Synced
from vault.transport import SyncFailed


def test_what_is_here_is_pushed_and_then_nothing_more(vault: Vault, sync: Sync, remote: Path, git: Git) -> None:
    """The first exchange fills an empty remote; the next has nothing to do; no configuration is written."""
    before = (vault.root / ".git/config").read_bytes()

    assert sync.run() == Synced(pushed=1)
    assert sync.run() == Synced()
    assert run("git", "rev-parse", "main", cwd=remote).strip() == vault.head == sync.paper.commit()
    assert (vault.root / ".git/config").read_bytes() == before
    assert not (vault.root / ".git/trimtab/gate").exists()
    assert git("rev-parse", "trimtab/main").strip() == vault.head


def test_what_came_is_in_the_files(vault: Vault, sync: Sync, laptop: Path, git: Git) -> None:
    """A person's commit, with a new note, a changed instruction and a deletion, is taken as it is."""
    (laptop / "people/ann.md").unlink()
    pushed(laptop, "AGENTS.md", "You look after two hosts.\n")
    pushed(laptop, "plans/next.md", "# Next\n")

    assert sync.run() == Synced(taken=2)
    assert (vault.root / "AGENTS.md").read_text() == "You look after two hosts.\n"
    assert (vault.root / "plans/next.md").read_text() == "# Next\n"
    assert not (vault.root / "people/ann.md").exists()
    assert git("log", "-1", "--format=%an").strip() == "Ann Lee"
    clean(git)


def test_both_wrote_and_the_agent_goes_on_top(
    vault: Vault, sync: Sync, laptop: Path, remote: Path, author: Author, git: Git
) -> None:
    """Commits of both sides stand in one line, each under its own author, with trailers and both texts."""
    pushed(laptop, "people/ann.md", "# Ann\n\nAnn likes coffee.\nShe lives in Bonn.\n")
    old = noted(vault, author, "people/ann.md", "She has a cat.")
    noted(vault, author, "journal.md", "Looked.", "02RUN")

    done = sync.run()

    assert (done.taken, done.pushed, done.remarks) == (1, 2, ())
    assert "coffee" in (vault.root / "people/ann.md").read_text()
    assert "cat" in (vault.root / "people/ann.md").read_text()
    assert log(remote)[1:] == [
        "Ann Lee: write people/ann.md",
        "trimtab: note people/ann.md",
        "trimtab: note journal.md",
    ]
    assert run("git", "rev-list", "--merges", "main", cwd=remote) == ""
    assert "Trimtab-Run: 01RUN" in git("log", "-1", "--format=%B", done.moved[old])
    assert git("log", "-1", "--format=%at", done.moved[old]).strip() == str(int(author.when.timestamp()))
    clean(git)


def test_both_appended_to_one_page(vault: Vault, sync: Sync, laptop: Path, author: Author, git: Git) -> None:
    """Two entries at the end of one page are both kept, without a clash."""
    start = (laptop / "people/ann.md").read_text()
    pushed(laptop, "people/ann.md", start + "She sings.\n")
    noted(vault, author, "people/ann.md", "She has a cat.")

    assert sync.run().remarks == ()
    assert (vault.root / "people/ann.md").read_text() == start + "She sings.\nShe has a cat.\n"
    clean(git)


def test_a_clash_keeps_both_versions(vault: Vault, sync: Sync, laptop: Path, author: Author, git: Git) -> None:
    """Where both changed the same line, the remote's stays in the note and the agent's is beside it, and it is said."""
    text = (vault.root / "people/ann.md").read_text()
    pushed(laptop, "people/ann.md", text.replace("tea", "coffee"))
    draft = vault.draft()
    draft.write("people/ann.md", text.replace("tea", "water"))
    draft.commit("note", {"Trimtab-Run": "1"}, author)

    done = sync.run()

    assert (vault.root / "people/ann.md").read_text() == text.replace("tea", "coffee")
    assert (vault.root / "people/ann.agent-1.md").read_text() == text.replace("tea", "water")
    assert "people/ann.agent-1.md" in done.remarks[0]
    clean(git)


def test_a_clash_of_instructions_puts_none_into_force(vault: Vault, sync: Sync, laptop: Path, git: Git) -> None:
    """A person's instruction that clashes with one of the remote's goes where it instructs nobody."""
    pushed(laptop, "heartbeats/host-watch.md", "---\nevery: 1h\n---\nLook.\n")
    (vault.root / "heartbeats/host-watch.md").write_text("---\nevery: 2h\n---\nLook.\n")

    done = sync.run()

    assert "1h" in (vault.root / "heartbeats/host-watch.md").read_text()
    assert "2h" in (vault.root / "conflicts/heartbeats-host-watch.local-1.md").read_text()
    assert [each.name for each in (vault.root / "heartbeats").iterdir()] == ["host-watch.md"]
    assert git("log", "-1", "--format=%an", "--", "conflicts").strip() == "Ann Lee"
    assert len(done.remarks) == 1
    clean(git)


def test_what_a_person_has_not_committed_is_kept(
    vault: Vault, sync: Sync, laptop: Path, remote: Path, git: Git
) -> None:
    """An edit by hand of a note that also came is committed in the person's name and joined; another note waits."""
    text = (vault.root / "people/ann.md").read_text()
    pushed(laptop, "people/ann.md", text.replace("tea", "coffee"))
    (vault.root / "people/ann.md").write_text(text + "She sings.\n")
    (vault.root / "draft.md").write_text("not yet\n")

    sync.run()

    assert (vault.root / "people/ann.md").read_text() == text.replace("tea", "coffee") + "She sings.\n"
    assert log(remote)[-1] == "Ann Lee: edit people/ann.md by hand"
    assert git("status", "--porcelain") == "?? draft.md\n"


def test_a_note_that_was_deleted_there_and_changed_here_stays(
    vault: Vault, sync: Sync, laptop: Path, author: Author, git: Git
) -> None:
    """A deletion loses nothing that the other side has added."""
    (laptop / "people/ann.md").unlink()
    pushed(laptop, "other.md", "x\n")
    noted(vault, author, "people/ann.md", "She has a cat.")

    sync.run()

    assert "cat" in (vault.root / "people/ann.md").read_text()
    clean(git)


def test_a_rewritten_history_changes_nothing_until_a_person_accepts_it(
    vault: Vault, sync: Sync, laptop: Path, remote: Path, author: Author, git: Git
) -> None:
    """After a forced push that wiped notes they are all still here; `accept` goes on from there, and keeps the old."""
    noted(vault, author, "journal.md", "Looked.")
    sync.run()
    (laptop / "people/ann.md").unlink()
    run("git", "add", "-A", cwd=laptop)
    run("git", "commit", "-q", "--amend", "-m", "wipe", cwd=laptop)
    run("git", "push", "-q", "--force", "origin", "HEAD:main", cwd=laptop)
    wiped, head = run("git", "rev-parse", "main", cwd=remote), vault.head
    noted(vault, author, "journal.md", "Looked again.", "02RUN")

    with pytest.raises(SyncFailed, match="its history was rewritten") as failed:
        sync.run()
    assert failed.value.reason == "rewritten"
    assert (vault.root / "people/ann.md").exists()
    assert run("git", "rev-parse", "main", cwd=remote) == wiped

    done = sync.run(accept=True)

    assert (done.taken, done.pushed) == (1, 1)
    assert not (vault.root / "people/ann.md").exists()
    assert (vault.root / "journal.md").read_text().endswith("Looked again.\n")
    assert (
        git(
            "merge-base", "--is-ancestor", str(head), git("for-each-ref", "--format=%(objectname)", "refs/trimtab")[:40]
        )
        == ""
    )
    assert sync.run() == Synced()
    clean(git)


def test_a_branch_that_is_gone_is_not_made_again(sync: Sync, laptop: Path, remote: Path) -> None:
    """A remote that lost its branch is one whose history was rewritten."""
    run("git", "update-ref", "-d", "refs/heads/main", cwd=remote)

    with pytest.raises(SyncFailed, match="rewritten"):
        sync.run()
    assert run("git", "for-each-ref", cwd=remote) == ""


def test_a_remote_with_a_history_of_its_own(vault: Vault, sync: Sync, remote: Path, tmp_path: Path, git: Git) -> None:
    """Two histories without anything in common are left alone until a person says that they belong together."""
    run("git", "init", "-q", "--initial-branch=main", "other", cwd=tmp_path)
    other = tmp_path / "other"
    (other / "README.md").write_text("Notes.\n")
    (other / "AGENTS.md").write_text("Somebody else's.\n")
    run("git", "add", "-A", cwd=other)
    run("git", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "-m", "Initial", cwd=other)
    run("git", "push", "-q", remote, "main", cwd=other)

    with pytest.raises(SyncFailed, match="shares nothing") as failed:
        sync.run()
    assert failed.value.reason == "unrelated"
    assert not (vault.root / "README.md").exists()

    sync.run(accept=True)
    assert (vault.root / "README.md").exists()
    assert (vault.root / "AGENTS.md").read_text() == "Somebody else's.\n"
    assert (vault.root / "conflicts/AGENTS.local-1.md").read_text() == "You look after this host.\n"
    clean(git)


def test_a_refused_push_leaves_local_work_going(
    vault: Vault, sync: Sync, laptop: Path, remote: Path, author: Author, git: Git
) -> None:
    """A hook that declines is one line with what it said about it; what came is taken, and the next push brings all."""
    hook = remote / "hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho 'closed on sundays \x1b[31m' >&2\nexit 1\n")
    hook.chmod(0o755)
    noted(vault, author, "journal.md", "Looked.")

    with pytest.raises(SyncFailed, match="pre-receive hook declined") as failed:
        sync.run()
    assert failed.value.reason == "refused"
    assert len(str(failed.value).splitlines()) == 1
    noted(vault, author, "journal.md", "Looked again.", "02RUN")
    hook.unlink()
    assert sync.run().pushed == 2
    clean(git)


def test_somebody_pushes_in_between(vault: Vault, laptop: Path, remote: Path, author: Author, git: Git) -> None:
    """A push that comes second fetches again, and both are there."""
    noted(vault, author, "journal.md", "Looked.")
    pushed(laptop, "early.md", "early\n")

    def meanwhile() -> datetime:
        """The clock is asked between the fetch and the push: the laptop uses the moment."""
        if not (laptop / "late.md").exists():
            pushed(laptop, "late.md", "late\n")
        return NOW

    done = Sync(vault, Remote(str(remote), "main"), review_of(vault), meanwhile).run()

    assert (done.taken, done.pushed) == (2, 1)
    assert log(remote)[-3:] == ["Ann Lee: write early.md", "Ann Lee: write late.md", "trimtab: note journal.md"]
    clean(git)


def test_an_empty_vault_takes_over_what_a_remote_has(vault: Vault, sync: Sync, remote: Path, tmp_path: Path) -> None:
    """A new vault without a commit begins with the remote's."""
    sync.run()
    fresh = Vault.create(tmp_path / "fresh", "trimtab", "trimtab@localhost")

    Sync(fresh, Remote(str(remote), "main"), review_of(fresh), lambda: NOW).run()

    assert fresh.head == vault.head
    assert (fresh.root / "people/ann.md").read_bytes() == (vault.root / "people/ann.md").read_bytes()
