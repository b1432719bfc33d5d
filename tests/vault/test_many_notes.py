"""A question to an index of very many notes: what it costs does not grow without end, what matters is found."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from vault.fulltext import SCHEMA, Entry, find, put
from vault.words import plain

NOTES = 16_000


@pytest.fixture(scope="module")
def index() -> Iterator[sqlite3.Connection]:
    """Notes that all have one word; half of them have a second one, half a third, one a rare one."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in SCHEMA.split(";"):
        connection.execute(statement)
    connection.execute("BEGIN")
    for number in range(NOTES):
        more = "even" if number % 2 else "oddly"
        rare = " needle" if number == NOTES // 2 else ""
        put(connection, Entry(f"{number}.md", f"always {more}{rare}", float(number), 20))
    connection.execute("COMMIT")
    yield connection
    connection.close()


def test_the_rarest_words_are_asked_first(index: sqlite3.Connection) -> None:
    """The one note that has all words comes out, and the words that nearly everybody has are not asked for."""
    found, terms = find(index, plain("always even oddly needle"), 10)

    assert f"{NOTES // 2}.md" in {note.path for note in found}
    assert [term.asked for term in terms] == ["needle", "even"]


def test_a_word_that_all_have_finds_the_first_and_the_last_notes(index: sqlite3.Connection) -> None:
    """Of more notes than can be weighed, those written last and those that the index was begun with are looked at."""
    found, _ = find(index, plain("always"), NOTES)
    paths = {note.path for note in found}

    assert len(found) == 15_000
    assert {"0.md", f"{NOTES - 1}.md"} <= paths


def test_a_count_that_is_remembered_follows_the_notes(index: sqlite3.Connection) -> None:
    """A frequent word that becomes frequent in many new notes is counted again."""
    index.execute("BEGIN")
    try:
        find(index, plain("even always"), 1)
        for number in range(NOTES // 5):
            put(index, Entry(f"new/{number}.md", "always even", 0.0, 20))
        find(index, plain("even always"), 1)
        counts = index.execute("SELECT count FROM temp.frequent WHERE word = 'even'").fetchone()
    finally:
        index.execute("ROLLBACK")

    assert counts == (NOTES // 2 + NOTES // 5,)
