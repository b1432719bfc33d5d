"""What needs approval waits on a branch of its own, and what a person can do with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from vault import Author, Clash, NoSuchProposal, NotReady, Refused, Vault, proposing
from vault.proposals import Proposals

Git = Callable[..., str]


def proposed(vault: Vault, author: Author, path: str, text: str, *, append: bool = True, run: str = "01RUN") -> str:
    """Let a run propose something; the proposal's name."""
    draft = vault.draft()
    (draft.append if append else draft.write)(path, text)
    kept = draft.commit("watch", {"Trimtab-Run": run}, author)
    assert kept is not None
    (name,) = kept.proposals
    return name


def state(root: Path) -> dict[str, bytes]:
    """Every file of the worktree."""
    return {str(p): p.read_bytes() for p in root.rglob("*") if p.is_file() and ".git" not in p.parts}


def test_a_proposal_changes_nothing_but_its_branch(vault: Vault, git: Git, author: Author) -> None:
    """Main, files and status are as before; the branch holds the change and leads to the run."""
    before, head = state(vault.root), vault.head
    name = proposed(vault, author, "AGENTS.md", "Be brief.")

    assert (state(vault.root), vault.head, git("status", "--porcelain")) == (before, head, "")
    assert name == "agents"
    assert git("diff", "main...proposals/agents").endswith("+Be brief.\n")
    assert git("log", "-1", "--format=%an %(trailers:key=Trimtab-Run,valueonly)", "proposals/agents").split() == [
        "trimtab",
        "01RUN",
    ]
    assert git("fsck", "--full", "--strict") == ""
    assert "proposals" not in git("reflog", "HEAD")


def test_each_instruction_is_a_proposal_of_its_own_and_notes_go_on(vault: Vault, git: Git, author: Author) -> None:
    """One run writes a note and two instructions: one commit and two proposals, which hold only their own file."""
    draft = vault.draft()
    draft.append("people/ann.md", "She has a cat.")
    draft.append("AGENTS.md", "Be brief.")
    draft.write("heartbeats/new.md", "---\nevery: 1h\n---\nLook.\n")
    kept = draft.commit("watch", {"Trimtab-Run": "01RUN"}, author)

    assert kept is not None
    assert kept.proposals == ("agents", "heartbeats-new")
    assert git("show", "--format=", "--name-only", kept.commit).split() == ["people/ann.md"]
    assert git("diff", "--name-only", "main...proposals/heartbeats-new").split() == ["heartbeats/new.md"]


def test_with_everything_held_a_runs_notes_are_one_proposal(vault: Vault, git: Git, author: Author) -> None:
    """`hold_all` keeps memory back too, and two pages of one journal that wait can both be approved."""
    for number in range(2):
        draft = vault.draft(hold_all=True)
        draft.append("journal/today.md", f"- {number}", start="# today\n\n")
        draft.append("people/ann.md", f"Line {number}.")
        kept = draft.commit("watch", {"Trimtab-Run": f"{number}"}, author)
        assert kept is not None
        assert kept.commit == ""
    assert not (vault.root / "journal").exists()

    desk = Proposals(vault)
    for waiting in desk.waiting():
        desk.approve(waiting, vault.person(author.when))
    assert (vault.root / "journal/today.md").read_text() == "# today\n\n- 0\n- 1\n"
    assert (vault.root / "people/ann.md").read_text().endswith("Line 0.\nLine 1.\n")
    assert git("status", "--porcelain") == ""


def test_approval_is_one_commit_of_the_persons(vault: Vault, git: Git, author: Author) -> None:
    """The file is in force, the branch is gone, and the commit names what it approves."""
    name = proposed(vault, author, "AGENTS.md", "Be brief.")
    desk = Proposals(vault)
    tip = desk.named(name).tip
    kept = desk.approve(desk.named(f"proposals/{name}"), vault.person(author.when), {"Trimtab-Proposed-In": "01RUN"})

    assert kept is not None
    assert (vault.root / "AGENTS.md").read_text() == "You look after this host.\nBe brief.\n"
    assert git("log", "-1", "--format=%an|%s|%(trailers:key=Trimtab-Approves,valueonly)").strip() == (
        f"Ann Lee|approve agents: AGENTS.md|{tip}"
    )
    assert (git("branch", "--list", "proposals/*"), git("status", "--porcelain"), desk.since()) == ("", "", [])


def test_approval_keeps_what_the_person_wrote_meanwhile(vault: Vault, author: Author) -> None:
    """Edits that came after the proposal, committed or not, are joined with it; where they clash nothing is done."""
    one = proposed(vault, author, "AGENTS.md", "Be brief.")
    other = proposed(vault, author, "heartbeats/host-watch.md", "---\nevery: 5m\n---\nLook twice.\n", append=False)
    (vault.root / "AGENTS.md").write_text("You look after this host.\nBy hand.\n")
    (vault.root / "heartbeats/host-watch.md").write_text("---\nevery: 5m\n---\nLook away.\n")
    desk = Proposals(vault)
    desk.approve(desk.named(one), vault.person(author.when))

    assert (vault.root / "AGENTS.md").read_text() == "You look after this host.\nBy hand.\nBe brief.\n"
    with pytest.raises(Clash, match="same place"):
        desk.approve(desk.named(other), vault.person(author.when))
    assert (vault.root / "heartbeats/host-watch.md").read_text().endswith("Look away.\n")
    assert len(desk.since()) == 1


def test_a_proposal_holds_no_edit_by_hand(vault: Vault, git: Git, author: Author) -> None:
    """What the person had edited and not committed becomes a commit of the person's first."""
    (vault.root / "AGENTS.md").write_text("You look after this host.\nBy hand.\n")
    name = proposed(vault, author, "AGENTS.md", "Be brief.")

    assert git("log", "-1", "--format=%an|%s") == "Ann Lee|edit AGENTS.md by hand\n"
    shown = git("diff", f"main...proposals/{name}")
    assert "+Be brief." in shown
    assert "+By hand." not in shown


def test_the_same_is_not_proposed_twice(vault: Vault, author: Author) -> None:
    """A model that repeats itself is told that it waits; something else becomes a second proposal."""
    proposed(vault, author, "AGENTS.md", "Be brief.")
    with pytest.raises(Refused, match=r"proposed already \(agents\) and waits"):
        vault.draft().append("AGENTS.md", "Be brief.")
    assert proposed(vault, author, "AGENTS.md", "Be long.") == "agents-2"


def test_proposals_cannot_pile_up(vault: Vault, author: Author) -> None:
    """When as many instructions wait as a person reads, the next one is refused with a reason; notes still work."""
    for number in range(proposing.MOST_INSTRUCTIONS):
        proposed(vault, author, "AGENTS.md", f"Rule {number}.")
    with pytest.raises(Refused, match="wait for approval already"):
        vault.draft().append("AGENTS.md", "One more.")
    vault.draft().append("people/ann.md", "Fine.")


@pytest.mark.parametrize("path", ["AGENTS.md", "heartbeats/ä/../x.md", ".git/hooks/x.md", "heartbeats/x.sh"])
def test_the_rules_hold_for_proposals_too(vault: Vault, path: str) -> None:
    """Secrets, paths outside and what is not Markdown are refused before anything waits."""
    text = "AKIAIOSFODNN7EXAMPLE" if path == "AGENTS.md" else "x"
    with pytest.raises(Refused):
        vault.draft().append(path, text)
    assert Proposals(vault).since() == []


def test_a_read_only_instruction_is_not_even_proposed(vault: Vault) -> None:
    """`read_only` in the front matter closes it."""
    (vault.root / "goals").mkdir()
    (vault.root / "goals/a.md").write_text("---\nread_only: true\n---\nx\n")
    with pytest.raises(Refused, match="read_only"):
        vault.draft().append("goals/a.md", "y")


def test_plain_git_may_decide_too(vault: Vault, git: Git, author: Author) -> None:
    """A proposal that the person merged or deleted with git waits no longer."""
    for text in ("One.", "Two."):
        proposed(vault, author, "AGENTS.md", text)
    git("merge", "-q", "proposals/agents")
    git("branch", "-q", "-D", "proposals/agents-2")
    desk = Proposals(vault)

    assert (desk.waiting(), desk.since()) == ([], [])
    with pytest.raises(NoSuchProposal, match="none waits"):
        desk.named("agents")


def test_a_person_may_change_a_proposal(vault: Vault, git: Git, author: Author) -> None:
    """An amendment is the person's commit on the branch; what is approved is the amended text."""
    name = proposed(vault, author, "AGENTS.md", "Be brief.")
    desk = Proposals(vault)
    amended = desk.amend(desk.named(name), {"AGENTS.md": b"You look after this host.\nBe kind.\n"}, author.when)

    assert git("log", "-1", "--format=%an", f"proposals/{name}") == "Ann Lee\n"
    assert amended.made.author.name == "trimtab"
    desk.approve(amended, vault.person(author.when))
    assert (vault.root / "AGENTS.md").read_text() == "You look after this host.\nBe kind.\n"


def test_while_a_proposal_is_checked_out_nothing_is_written(vault: Vault, git: Git, author: Author) -> None:
    """A person may look at a proposal with `git switch`; the agent waits and says why."""
    name = proposed(vault, author, "AGENTS.md", "Be brief.")
    git("switch", "-q", f"proposals/{name}")
    draft = vault.draft()
    draft.append("people/ann.md", "x")

    with pytest.raises(NotReady, match="git switch main"):
        draft.commit("watch", {}, author)


def test_an_approval_that_was_killed_leaves_nothing_to_decide(vault: Vault, git: Git, author: Author) -> None:
    """A branch that an approval in the history names waits no longer, although notes have changed since."""
    name = proposed(vault, author, "AGENTS.md", "Be brief.")
    tip = git("rev-parse", f"proposals/{name}").strip()
    desk = Proposals(vault)
    desk.approve(desk.named(name), vault.person(author.when))
    other = proposed(vault, author, "AGENTS.md", "Be kind.")
    git("branch", f"proposals/{name}-left", tip)

    assert [each.name for each in desk.waiting()] == [other]
    assert len(desk.since()) == 1

    desk.clear()
    assert git("branch", "--list", "--format=%(refname:short)", "proposals/*").split() == [f"proposals/{other}"]


def test_a_proposal_stays_what_it_is_when_history_is_redone(vault: Vault, git: Git, author: Author) -> None:
    """A proposal on commits that the branch no longer has shows its own change and nothing of theirs."""
    old = vault.head
    draft = vault.draft()
    draft.append("journal.md", "Looked.")
    draft.commit("look", {"Trimtab-Run": "01RUN"}, author)
    name = proposed(vault, author, "AGENTS.md", "Be brief.", run="02RUN")
    git("reset", "-q", "--hard", str(old))

    found = Proposals(vault).named(name)

    assert found.paths == ("AGENTS.md",)
    assert "Trimtab-Run: 02RUN" in found.made.message
