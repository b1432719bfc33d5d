"""The index behind the search: it follows the files, and it may be lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vault import Author, Vault
from vault.following import Following
from vault.fulltext import SCHEMA, VERSION, stamps
from vault.search import FILE, Shelf
from vault.side_file import SideFile

Git = Callable[..., str]


def found(vault: Vault, query: str) -> list[str]:
    """The notes found, best first."""
    return [hit.path for hit in vault.draft().search(query)]


def torn(file: Path) -> None:
    """Overwrite the middle of every page."""
    data = bytearray(file.read_bytes())
    for at in range(200, len(data), 4096):
        data[at : at + 600] = os.urandom(600)
    file.write_bytes(data)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "missing": lambda file: file.unlink(),
    "empty": lambda file: file.write_bytes(b""),
    "no database": lambda file: file.write_bytes(b"not a database" * 1000),
    "cut": lambda file: os.truncate(file, 5000),
    "torn": torn,
    "another version": lambda file: _sql(file, "PRAGMA user_version = 999"),
    "a table is gone": lambda file: _sql(file, "DROP TABLE words"),
}


def _sql(file: Path, statement: str) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("is_open", [False, True])
def test_a_damaged_index_is_made_anew(vault: Vault, kind: str, is_open: bool) -> None:
    """Whatever became of the file, the next search finds what the notes say, and so does the one after a start."""
    assert found(vault, "tea") == ["people/ann.md"]
    if not is_open:
        vault.close()
    else:
        vault.shelf.read(lambda connection: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())
    DAMAGE[kind](vault.own / FILE)

    assert found(vault, "tea") == ["people/ann.md"]
    vault.close()
    with Vault.open(vault.root) as again:
        assert found(again, "tea") == ["people/ann.md"]


def test_a_place_that_cannot_be_written_is_searched_from_memory(vault: Vault) -> None:
    """Where the index can be no file, searches still work, and once it can be, it is."""
    vault.close()
    (vault.own / FILE).unlink(missing_ok=True)
    (vault.own / FILE).mkdir()
    assert found(vault, "tea") == ["people/ann.md"]

    (vault.own / FILE).rmdir()
    assert found(vault, "tea") == ["people/ann.md"]
    assert (vault.own / FILE).is_file()


def test_another_process_that_writes_keeps_nobody_from_searching(vault: Vault) -> None:
    """While another one holds the index, a search answers from what the index has."""
    shelf = Shelf(vault.own, Following(vault.files, vault.git, lambda: vault.head), busy_seconds=0.01)
    assert [hit.path for hit in shelf.search("tea", 8, {})] == ["people/ann.md"]
    other = sqlite3.connect(vault.own / FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    (vault.root / "new.md").write_text("more tea\n")

    for pending in ({}, {"unkept.md": "tea"}):
        assert [hit.path for hit in shelf.search("tea", 8, pending)] == ["people/ann.md"]
    other.execute("ROLLBACK")
    other.close()
    found_now = shelf.search("tea", 8, {"unkept.md": "tea"})
    assert sorted(hit.path for hit in found_now) == ["new.md", "people/ann.md", "unkept.md"]
    shelf.close()


def test_the_index_is_no_part_of_the_vault(vault: Vault, git: Git) -> None:
    """Git sees nothing of it, and a search changes no note."""
    found(vault, "tea")

    assert git("status", "--porcelain", "--ignored") == ""
    assert vault.draft().list() == ["AGENTS.md", "heartbeats/host-watch.md", "people/ann.md"]


def test_commits_say_where_to_look(vault: Vault, git: Git) -> None:
    """When looking at every file takes long, a commit of anybody's is followed by reading its notes alone."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in SCHEMA.split(";"):
        connection.execute(statement)
    follow = Following(vault.files, vault.git, lambda: vault.head).follow
    follow(connection)
    connection.execute("UPDATE fact SET value = 3600.0 WHERE name = 'took'")
    (vault.root / "unkept.md").write_text("not committed\n")
    (vault.root / "new.md").write_text("committed\n")
    (vault.root / "people/ann.md").unlink()
    git("add", "new.md", "people/ann.md")
    git("commit", "-q", "-m", "by hand")
    follow(connection)
    assert sorted(stamps(connection)) == ["AGENTS.md", "heartbeats/host-watch.md", "new.md"]

    follow(connection, all_now=True)
    assert sorted(stamps(connection)) == ["AGENTS.md", "heartbeats/host-watch.md", "new.md", "unkept.md"]
    connection.close()


def test_a_history_that_was_rewritten_is_no_trouble(vault: Vault, git: Git, author: Author) -> None:
    """When the commit that the index knows is gone, every file is looked at."""
    vault.commit({}, "", author, {})
    found(vault, "tea")
    vault.shelf.read(
        lambda connection: connection.execute(
            "UPDATE fact SET value = CASE name WHEN 'head' THEN ? ELSE 3600.0 END", ("0" * 40,)
        )
    )
    (vault.root / "new.md").write_text("more tea\n")

    assert sorted(found(vault, "tea")) == ["new.md", "people/ann.md"]


def test_notes_are_found_whatever_became_of_the_history(vault: Vault) -> None:
    """A branch that cannot be read keeps nobody from searching the files."""
    (vault.root / ".git/refs/heads/main").write_bytes(b"nonsense\n")

    assert found(vault, "tea") == ["people/ann.md"]


def test_a_huge_file_has_only_its_name(vault: Vault) -> None:
    """What is too large to be a note is found by its name and never loaded."""
    with (vault.root / "huge-log.md").open("wb") as file:
        file.truncate(1_000_000_000)

    assert found(vault, "huge") == ["huge-log.md"]


def test_rebuilding_reads_every_note(vault: Vault) -> None:
    """The index can be thrown away at will; it says how many notes it has then."""
    assert vault.shelf.rebuild() == 3
    assert found(vault, "tea") == ["people/ann.md"]


def test_reads_are_counted(vault: Vault) -> None:
    """Each time a note was shown counts; a damaged count begins anew."""
    draft = vault.draft()
    draft.was_read("people/ann.md")
    draft.was_read("people/ann.md", "AGENTS.md")
    counted = vault.reads.counted()
    assert counted.times == {"people/ann.md": 2, "AGENTS.md": 1}
    assert counted.since is not None
    assert datetime.fromisoformat(counted.since).tzinfo == UTC

    vault.close()
    (vault.own / "reads.db").write_bytes(b"x" * 9000)
    assert vault.reads.counted().times == {}


def test_two_kinds_of_side_files_do_not_mix(tmp_path: Path) -> None:
    """A file of an older version is made anew, one of ours is kept."""
    schema = "CREATE TABLE one (value)"
    first = SideFile(tmp_path / "x.db", schema, VERSION)
    first.work(lambda connection: connection.execute("INSERT INTO one VALUES (1)"))
    first.close()
    same, newer = SideFile(tmp_path / "x.db", schema, VERSION), SideFile(tmp_path / "x.db", schema, VERSION + 1)

    assert same.work(lambda connection: connection.execute("SELECT * FROM one").fetchall()) == [(1,)]
    same.close()
    assert newer.work(lambda connection: connection.execute("SELECT * FROM one").fetchall()) == []
    newer.close()


def test_a_kill_in_the_middle_of_building_is_no_trouble(vault: Vault, tmp_path: Path) -> None:
    """What was read before a kill stays, the rest is read by the next search."""
    for number in range(2_000):
        (vault.root / f"n{number}.md").write_text(f"number {number} of many\n")
    script = (
        "import os, sys, threading\nfrom vault import Vault\n"
        "threading.Timer(0.25, lambda: os._exit(9)).start()\n"
        "Vault.open(sys.argv[1]).draft().search('many')\nos._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(vault.root)], check=False)

    assert found(vault, "1999") == ["n1999.md"]
    assert found(vault, "0") == ["n0.md"]
