"""How texts become words: the index and a question must cut them alike."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault.excerpt import excerpt
from vault.fulltext import SCHEMA, Entry, find, put
from vault.words import folded, indexed, plain, typed

TEXTS = st.text(max_size=60) | st.text(alphabet="ab天気サー서버ฝนé\u0301ß_-. 1", max_size=30)


def index_of(text: str) -> sqlite3.Connection:
    """An index of one note."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in SCHEMA.split(";"):
        connection.execute(statement)
    put(connection, Entry("a.md", text, 0.0, 0))
    return connection


@settings(max_examples=400, deadline=None)
@given(text=TEXTS, cut=st.integers(0, 60))
def test_what_a_note_says_finds_it(text: str, cut: int) -> None:
    """Every piece of a note between blanks is found by asking for just that, in any case, and shown with its words."""
    connection = index_of(text)
    chunks = text.split()
    for chunk in chunks[cut % len(chunks) :][:1] if chunks else []:
        for terms in (plain(chunk), plain(chunk.upper())):
            found, telling = find(connection, terms, 5)

            assert bool(found) is bool(terms)
            assert not terms or excerpt("a.md", text, telling) is not None
    connection.close()


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet="ab天気 .-", min_size=1, max_size=20))
def test_a_phrase_of_a_note_finds_it(text: str) -> None:
    """Whole words of a note, in quotes, must stand in it and do."""
    connection = index_of(f"before {text} behind")
    terms = typed(f'"{text}"')

    assert bool(find(connection, terms, 5)[0]) is bool(terms)
    connection.close()


@given(st.text(max_size=80))
def test_folding_twice_is_folding_once(text: str) -> None:
    """A folded text stays as it is."""
    assert folded(folded(text)) == folded(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("天气预报", "天气 气预 预报 报"),
        ("天", "天"),
        ("abc天气def", "abc 天气 气 def"),
        ("Ünïted Straße", "united strasse"),
    ],
)
def test_words_of_the_index(text: str, words: str) -> None:
    """Characters without spaces come in pairs and the last one alone; accents and case are folded."""
    assert indexed(text).split() == words.split()


def test_a_question_is_read_up_to_a_limit() -> None:
    """However long a task is, what is asked of the index stays small."""
    terms = plain(" ".join(f"word{number}" for number in range(100_000)))

    assert len(terms) < 1_000
    assert find(index_of("word7 and more"), terms, 5)[0]
