"""The `reviewed` mark: what is new since it, and how far it may move."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vault import Author, Commit, NotReady, Vault
from vault.review import REVIEWED, Review

Git = Callable[..., str]


def by_agent(commit: Commit) -> bool:
    """Whether the agent made it."""
    return commit.author.name == "trimtab"


def wrote(vault: Vault, author: Author, text: str) -> str:
    """Let a run append a line; the commit."""
    draft = vault.draft()
    draft.append("people/ann.md", text)
    kept = draft.commit(text, {"Trimtab-Run": text}, author)
    assert kept is not None
    return kept.commit


def test_the_mark_moves_over_what_is_decided(vault: Vault, git: Git, author: Author) -> None:
    """It stays before a skipped commit, and what was approved behind that is not asked again; then it goes on."""
    one, two, three = (wrote(vault, author, text) for text in ("one", "two", "three"))
    review = Review(vault, by_agent)
    review.approve([one])
    review.approve([three])

    assert vault.git.resolve(REVIEWED) == one
    assert [(item.commit.id, item.open) for item in review.items()] == [(two, True), (three, False)]
    assert git("log", "--format=%H", "reviewed..main").split() == [three, two]
    review.approve([two])
    assert vault.git.resolve(REVIEWED) == three
    assert (review.items(), review.approved()) == ([], set())


def test_a_persons_commits_need_no_approval(vault: Vault, git: Git, author: Author) -> None:
    """They are passed, however many, but a commit of the agent's behind them is not."""
    git("commit", "-q", "--allow-empty", "-m", "mine")
    mine = vault.head
    theirs = wrote(vault, author, "one")
    review = Review(vault, by_agent)
    review.approve([])

    assert vault.git.resolve(REVIEWED) == mine
    assert [item.commit.id for item in review.items() if item.open] == [theirs]


def test_a_mark_from_another_history_is_said(vault: Vault, git: Git) -> None:
    """After a history was rewritten the mark has to be set by the person."""
    git("switch", "-q", "--orphan", "other")
    git("commit", "-q", "--allow-empty", "-m", "x")
    git("tag", "reviewed")
    git("switch", "-q", "main")

    with pytest.raises(NotReady, match="git tag -f reviewed"):
        Review(vault, by_agent).items()


def test_a_merged_branch_does_not_take_the_mark_aside(vault: Vault, git: Git, author: Author) -> None:
    """With a branch that left before the mark, the mark stays on the line that it is on."""
    git("switch", "-q", "-c", "side")
    git("commit", "-q", "--allow-empty", "-m", "side")
    git("switch", "-q", "main")
    one = wrote(vault, author, "one")
    review = Review(vault, by_agent)
    review.approve([one])
    git("merge", "-q", "--no-ff", "-m", "merge", "side")
    two = wrote(vault, author, "two")
    review.approve([])

    assert vault.git.resolve(REVIEWED) is not None
    assert vault.git.descends(str(vault.git.resolve(REVIEWED)), one)
    assert [item.commit.id for item in review.items() if item.open] == [two]


def test_a_damaged_list_of_approvals_is_no_obstacle(vault: Vault, author: Author) -> None:
    """Then more is asked again, nothing less."""
    one = wrote(vault, author, "one")
    (vault.own / "approved").write_bytes(b"\xff\x00 garbage")
    review = Review(vault, by_agent)

    assert [item.commit.id for item in review.items() if item.open] == [one]
    review.approve([one])
    assert review.items() == []
