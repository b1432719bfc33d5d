"""Wikilinks: which notes a note names, and which note is meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault import Vault
from vault.links import Link, meant, names_in


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[[Ann]] and [[people/bob]]", ["Ann", "people/bob"]),
        ("[[Ann|my friend]], [[Ann#Birthday]], ![[Ann]], [[Ann#^block|x]]", ["Ann"]),
        ("`[[code]]` and\n```\n[[fenced]]\n```\n~~~\n[[also]]\n~~~\n[[real]]", ["real"]),
        ("```\nnever closed [[x]]", []),
        ("[[]] [[ ]] [[a\nb]] [not] [[half]", []),
        ("[[[nested]]]", ["nested"]),
        ("[[#Heading here]]", []),
        ("[[北京]]", ["北京"]),
    ],
)
def test_links_are_read_as_editors_write_them(text: str, names: list[str]) -> None:
    """Aliases, headings and embeddings name the note; code and halves are no links."""
    assert names_in(text) == names


@given(st.text(alphabet="[]|#`~\n a", max_size=200))
def test_any_text_has_names_of_one_line(text: str) -> None:
    """Whatever a note says, a name is never empty and never spans lines or brackets."""
    for name in names_in(text):
        assert name.strip()
        assert not set(name) & set("[]\n|#")


def test_long_texts_are_read_in_time() -> None:
    """A megabyte of opening brackets and back quotes is no trap."""
    for piece in ("[[", "[[a", "`", "```\n", "[[a|", "~~~\n[["):
        assert len(names_in(piece * (1_000_000 // len(piece)))) <= 1


def test_the_shortest_path_is_meant() -> None:
    """A name means the note nearest to the top, a path the note at that path; case does not matter."""
    paths = ["people/old/ann.md", "people/ann.md", "friends/ann.md"]

    assert meant("Ann", paths) == "people/ann.md"
    assert meant("old/ann", paths) == "people/old/ann.md"
    assert meant("people/ann.md", paths) == "people/ann.md"
    assert meant("n", paths) is None


def test_links_and_backlinks(vault: Vault) -> None:
    """Both directions are known at once after an edit; a broken link has no note, and no note links back to itself."""
    (vault.root / "boat.md").write_text("Of [[Ann]], built by [[Bob]]; see [[boat]].\n")
    (vault.root / "log.md").write_text("Sailed with [[people/ann|her]].\n")

    named = [Link("Ann", "people/ann.md"), Link("Bob", None), Link("boat", "boat.md")]
    assert vault.shelf.links("boat.md") == (named, [])
    assert vault.shelf.links("people/ann.md") == ([], ["boat.md", "log.md"])
    (vault.root / "boat.md").unlink()
    assert vault.shelf.links("people/ann.md") == ([], ["log.md"])
    assert vault.shelf.named("ANN") == "people/ann.md"
    assert vault.shelf.named("boat") is None
