"""Full-text search over the notes."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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


def typed(vault: Vault, query: str) -> list[str]:
    """The notes found for what a person typed, best first."""
    return [hit.path for hit in vault.shelf.search(query, 8, {}, syntax=True)]


def test_the_note_with_more_of_the_words_comes_first(vault: Vault) -> None:
    """More words of the query in a note beat one word often."""
    fill(vault, {"a.md": "the boat is red", "b.md": "the boat has a blue sail", "c.md": "boat boat boat boat"})

    assert paths(vault, "blue boat sail")[0] == "b.md"


def test_a_rare_word_counts_more(vault: Vault) -> None:
    """A word that stands in one note tells more than a word that stands in all."""
    fill(vault, {f"n{n}.md": "server disk server" for n in range(30)} | {"rare.md": "quokka"})

    assert paths(vault, "server quokka") == ["rare.md"]
    assert len(paths(vault, "server")) == 8


def test_a_name_counts_more_than_the_text(vault: Vault) -> None:
    """The name of a note, its title, its description and its headings weigh more than what it mentions."""
    text = "\n\nOther words, more words, many words.\n"
    fill(
        vault,
        {
            "a.md": f"# Sea\n\nA boat.{text}",
            "b.md": f"# Sea\n\n## Boat{text}",
            "boat.md": f"# Sea{text}",
            "d.md": f"# Boat{text}",
            "e.md": f"---\ndescription: the boat\n---\n# Sea{text}",
            **{f"n{n}.md": f"# Sea{text}" for n in range(9)},
        },
    )

    assert sorted(paths(vault, "boat")[:2]) == ["boat.md", "d.md"]
    assert sorted(paths(vault, "boat")[2:4]) == ["b.md", "e.md"]
    assert paths(vault, "boat")[4:] == ["a.md"]


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
    """`ann` is a name and not the beginning of `annual`; longer words match their forms, with or without a plural."""
    fill(vault, {"a.md": "annual report", "b.md": "one backup failed", "c.md": "eine Rechnung"})

    assert paths(vault, "ann") == ["people/ann.md"]
    assert paths(vault, "backups") == paths(vault, "back") == ["b.md"]
    assert paths(vault, "Rechnungen") == ["c.md"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("明天北京的天气预报说会下雨。", "天气"),
        ("明天北京的天气预报说会下雨。", "北京天气怎么样？"),
        ("明天北京的天气预报说会下雨。", "雨"),
        ("サーバーの再起動が必要です", "再起動"),
        ("서버가 죽었다", "서버"),
        ("พรุ่งนี้ฝนจะตกหนัก", "ฝน"),
        ("Das Café in der Straße", "cafe STRASSE"),
        ("Cafe\u0301 zu", "café"),
        ("नमस्ते दुनिया", "दुनिया"),
        ("ＷＩＤＥ", "wide"),
        ("closed INC-4711 today", "what about INC-4711?"),
        ("trimtab_runs_total is 3", "runs"),
        ("see https://example.org/a/b?c=1", "example.org"),
    ],
)
def test_every_script_is_found(vault: Vault, text: str, query: str) -> None:
    """Words without spaces between them, accents, compatibility forms and identifiers are found as a person means."""
    fill(vault, {"a.md": f"{text}\n", "other.md": "quite another note\n"})
    hits = vault.draft().search(query)

    assert [hit.path for hit in hits] == ["a.md"]
    assert hits[0].words
    assert hits[0].excerpt == text


def test_an_identifier_is_found_as_it_stands(vault: Vault) -> None:
    """Its parts apart from each other count less, and a longer number is another one."""
    fill(vault, {"a.md": "INC-4711", "b.md": "4711 inc", "c.md": "INC-47110"} | {f"n{n}.md": "INC" for n in range(9)})

    assert paths(vault, "INC-4711", 2) == ["a.md", "b.md"]
    assert vault.draft().search("INC-4711", 1)[0].words == ("inc 4711",)


HOSTILE = ["", "   ", "?!", ".*", "(", "a" * 5000, "\0", '"', '""', "*", "NEAR(", "^x", "x:", "-", '" OR "', "\ud800"]


@pytest.mark.parametrize("query", HOSTILE)
def test_no_query_is_an_error(vault: Vault, query: str) -> None:
    """A query without words finds nothing; none is taken for a pattern, whoever asks."""
    assert vault.draft().search(query) == []
    assert vault.shelf.search(query, 8, {}, syntax=True) == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    query=st.text(max_size=40) | st.lists(st.sampled_from(['"', "tea", "*", "OR", "NEAR(", "天", "-"])).map(" ".join)
)
def test_whatever_is_asked_is_answered(vault: Vault, query: str) -> None:
    """Any text at all can be asked for; what is found is a note with one of its words, or nothing."""
    for hit in [*vault.draft().search(query), *vault.shelf.search(query, 8, {}, syntax=True)]:
        assert hit.words


def test_syntax_is_for_people(vault: Vault) -> None:
    """For a person a phrase must stand there and a star is a beginning; in a model's words neither has a meaning."""
    fill(vault, {"a.md": "the blue boat", "b.md": "boat, blue"})

    assert typed(vault, '"blue boat"') == ["a.md"]
    assert typed(vault, '"boat, blue" nothing') == ["b.md"]
    assert sorted(typed(vault, "boa*")) == ["a.md", "b.md"]
    assert sorted(paths(vault, '"blue boat"')) == ["a.md", "b.md"]
    assert paths(vault, "boa*") == []


def test_a_changed_note_is_read_again(vault: Vault, author: Author) -> None:
    """A person's edit, a new file and a removed one are found without a commit."""
    fill(vault, {"a.md": "boat"})
    assert paths(vault, "boat") == ["a.md"]
    fill(vault, {"a.md": "ship of the line"})
    assert paths(vault, "boat") == []
    assert paths(vault, "ship") == ["a.md"]
    (vault.root / "a.md").unlink()
    assert paths(vault, "ship") == []


def test_unkept_notes_are_found_and_leave_nothing(vault: Vault) -> None:
    """What a run has written is found by that run only, in place of what the file says."""
    draft = vault.draft()
    draft.write("people/ann.md", "# Ann\n\nAnn likes coffee.\nShe lives in Bonn.\n")

    assert [hit.path for hit in draft.search("coffee")] == ["people/ann.md"]
    assert [hit.path for hit in draft.search("tea")] == []
    assert paths(vault, "coffee") == []
    assert paths(vault, "tea") == ["people/ann.md"]


def test_instructions_can_be_left_out(vault: Vault) -> None:
    """Recall asks for notes only; a plain search sees all."""
    draft = vault.draft()

    assert {hit.path for hit in draft.search("host")} == {"AGENTS.md", "heartbeats/host-watch.md"}
    assert draft.search("host", without_instructions=True) == []


def test_a_note_named_in_a_link_comes_first(vault: Vault) -> None:
    """A wikilink in the query means that note, whatever its words."""
    fill(vault, {"a.md": "the boat of the boats", "b.md": "the sea"})
    hits = vault.draft().search("boat [[B]]")

    assert [(hit.path, hit.named) for hit in hits] == [("b.md", True), ("a.md", False)]
