"""Edits of which the kernel tells: found by the next search in a large vault, without a look at every file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vault import Author, Vault
from vault.fulltext import remember
from vault.watching import Watch


@pytest.fixture
def watch(vault: Vault) -> Iterator[Watch]:
    """A watch that has begun."""
    made = Watch(vault.root)
    made.begin()
    if made.changed() is None:
        pytest.skip("this system does not tell of edits")
    yield made
    made.close()


def _in_place(root: Path) -> None:
    with (root / "people/ann.md").open("a") as note:
        note.write("By hand.\n")


def _renamed(root: Path) -> None:
    (root / "people/.ann.swp").write_text("By hand.\n")
    (root / "people/.ann.swp").rename(root / "people/ann.md")


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (_in_place, {"people/ann.md"}),
        (_renamed, {"people/ann.md"}),
        (lambda root: (root / "people/ann.md").unlink(), {"people/ann.md"}),
        (lambda root: (root / "people/ann.md").rename(root / "bob.md"), {"people/ann.md", "bob.md"}),
        (lambda root: (root / "new.md").write_text("x"), {"new.md"}),
        (lambda root: (root / "photo.jpg").write_text("x"), set()),
        (lambda root: (root / ".hidden.md").write_text("x"), set()),
        (lambda root: (root / ".obsidian").mkdir(), set()),
        (lambda root: (root / ".git/HEAD").touch(), set()),
        (lambda root: None, set()),
    ],
)
def test_notes_that_are_edited_are_named(
    vault: Vault, watch: Watch, edit: Callable[[Path], object], told: set[str]
) -> None:
    """Whichever way an editor saves; other files, hidden ones and git's own are passed over."""
    edit(vault.root)

    assert watch.changed() == frozenset(told)
    watch.taken(frozenset(told))
    assert watch.changed() == frozenset()


@pytest.mark.parametrize(
    "act",
    [
        lambda root: (root / "new").mkdir(),
        lambda root: (root / "people").rename(root / "folk"),
        lambda root: [(root / "people/ann.md").unlink(), (root / "people").rmdir()],
    ],
)
def test_a_folder_that_comes_or_goes_ends_the_watch(vault: Vault, watch: Watch, act: Callable[[Path], object]) -> None:
    """What lies in it is not known then: everything has to be looked at, and the watch begins anew."""
    act(vault.root)

    assert watch.changed() is None
    watch.begin()
    assert watch.changed() == frozenset()


def test_names_that_are_no_text_stop_nobody(vault: Vault, watch: Watch) -> None:
    """No note can have such a name, or lie in such a folder; whatever is written there comes to nothing."""
    folder = Path(os.fsdecode(os.fsencode(vault.root) + b"/d\xe9"))
    folder.mkdir()
    large(vault)
    for place in (vault.root, folder):
        Path(os.fsdecode(os.fsencode(place) + b"/caf\xe9.md")).write_text("yawl")
        (place / "fine.md").write_text("yawl")

    assert found(vault, "yawl") == ["fine.md"]


def test_many_folders_are_not_watched(vault: Vault) -> None:
    """A vault with more folders than may be watched is looked at as before."""
    watch = Watch(vault.root, most=2)
    watch.begin()

    assert watch.changed() is None


def large(vault: Vault) -> None:
    """Let the vault count as one in which a look takes a second, and the last one as long ago."""
    vault.shelf.search("tea", 1, {}, fresh=True)
    vault.shelf._side.work(lambda connection: remember(connection, {"looked": 0.0, "took": 1.0}))
    vault.shelf.search("tea", 1, {})
    vault.shelf._side.work(lambda connection: remember(connection, {"looked": time.time(), "took": 1.0}))


def found(vault: Vault, word: str) -> list[str]:
    """The notes that an ordinary search finds."""
    return [hit.path for hit in vault.shelf.search(word, 8, {})]


def test_an_edit_in_a_large_vault_is_found_at_once(vault: Vault, watch: Watch, author: Author) -> None:
    """The first search after it reads that note and no other: one that nobody told of stays as it was."""
    large(vault)
    (vault.root / "people/ann.md").write_text("# Ann\n\nAnn likes cocoa.\n")
    assert found(vault, "cocoa") == ["people/ann.md"]
    assert found(vault, "tea") == []

    draft = vault.draft()
    draft.append("people/ann.md", "And tea.")
    assert draft.commit("tea", {}, author) is not None
    assert found(vault, "tea") == ["people/ann.md"]
    (vault.root / "people/ann.md").unlink()
    assert found(vault, "cocoa") == []


def test_a_new_folder_in_a_large_vault_is_found_at_once(vault: Vault, watch: Watch) -> None:
    """It ends the watch, so that everything is looked at again as soon as that is due; commits are followed."""
    large(vault)
    (vault.root / "boats").mkdir()
    (vault.root / "boats/red.md").write_text("A yawl.\n")
    vault.shelf._side.work(lambda connection: remember(connection, {"looked": time.time() - 30, "took": 1.0}))
    assert found(vault, "yawl") == ["boats/red.md"]

    vault.shelf._side.work(lambda connection: remember(connection, {"looked": time.time(), "took": 1.0}))
    (vault.root / "boats/red.md").write_text("A ketch.\n")
    assert found(vault, "ketch") == ["boats/red.md"]


def test_a_search_after_closing_works(vault: Vault, watch: Watch) -> None:
    """The watch is given back with the index, and begins anew when it is needed."""
    large(vault)
    vault.shelf.close()
    (vault.root / "people/ann.md").write_text("Ann likes cocoa.\n")
    vault.shelf._side.work(lambda connection: remember(connection, {"looked": 0.0, "took": 1.0}))

    assert found(vault, "cocoa") == ["people/ann.md"]
