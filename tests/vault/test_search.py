"""Full-text search over the notes."""

from __future__ import annotations

import os

import pytest

from vault import Author, Vault


def fill(vault: Vault, notes: dict[str, str], age_days: dict[str, float] | None = None) -> None:
    """Write notes by hand, each as old as said."""
    for path, text in notes.items():
        file = vault.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        when = 1_795_000_000 - (age_days or {}).get(path, 0) * 86_400
        os.utime(file, (when, when))


def paths(vault: Vault, query: str, limit: int = 8) -> list[str]:
    """The notes found, best first."""
    return [hit.path for hit in vault.draft().search(query, limit)]


def test_the_note_with_more_of_the_words_comes_first(vault: Vault) -> None:
    """More words of the query in a note beat one word often."""
    fill(vault, {"a.md": "the boat is red", "b.md": "the boat has a blue sail", "c.md": "boat boat boat boat"})

    assert paths(vault, "blue boat sail")[0] == "b.md"


def test_a_rare_word_counts_more(vault: Vault) -> None:
    """A word that stands in one note tells more than a word that stands in all."""
    fill(vault, {f"n{n}.md": "server disk server" for n in range(6)} | {"rare.md": "quokka"})

    assert paths(vault, "server quokka")[0] == "rare.md"


def test_of_equal_notes_the_newer_comes_first(vault: Vault) -> None:
    """Recency breaks what words leave equal."""
    fill(vault, {"a.md": "boat", "b.md": "boat", "c.md": "boat"}, {"a.md": 90, "b.md": 1, "c.md": 30})

    assert paths(vault, "boat") == ["b.md", "c.md", "a.md"]


def test_a_hit_names_its_line_and_words(vault: Vault) -> None:
    """The line that fits best is shown, cut around the words where it is long."""
    fill(vault, {"a.md": "# Boats\n\nThe blue boat.\n" + "x" * 500 + " sail " + "y" * 500 + "\n"})
    hit = vault.draft().search("blue boat", 1)[0]
    long = vault.draft().search("sail", 1)[0]

    assert (hit.line, hit.excerpt, hit.words) == (3, "The blue boat.", ("blue", "boat"))
    assert "sail" in long.excerpt
    assert len(long.excerpt) < 210


def test_short_words_are_whole_words(vault: Vault) -> None:
    """`ann` is a name and not the beginning of `annual`; longer words match their forms."""
    fill(vault, {"a.md": "annual report", "b.md": "backups failed"})

    assert paths(vault, "ann") == ["people/ann.md"]
    assert paths(vault, "backup") == ["b.md"]


@pytest.mark.parametrize("query", ["", "   ", "?!", ".*", "(", "a" * 5000, "\0"])
def test_no_query_is_an_error(vault: Vault, query: str) -> None:
    """A query without words finds nothing; none is taken for a pattern."""
    assert vault.draft().search(query) == []


def test_a_changed_note_is_read_again(vault: Vault, author: Author) -> None:
    """What was remembered of a file is forgotten when the file changes or goes."""
    fill(vault, {"a.md": "boat"})
    assert paths(vault, "boat") == ["a.md"]
    fill(vault, {"a.md": "ship of the line"})
    assert paths(vault, "boat") == []
    assert paths(vault, "ship") == ["a.md"]
    (vault.root / "a.md").unlink()
    assert paths(vault, "ship") == []


def test_instructions_can_be_left_out(vault: Vault) -> None:
    """Recall asks for notes only; a plain search sees all."""
    draft = vault.draft()

    assert {hit.path for hit in draft.search("host")} == {"AGENTS.md", "heartbeats/host-watch.md"}
    assert draft.search("host", without_instructions=True) == []
