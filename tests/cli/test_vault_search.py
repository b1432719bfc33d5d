"""`trimtab vault search`, `links` and `stats`, as a person uses them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from daemon.cli.vault import app
from daemon.errors import UsageError
from vault import Vault


@pytest.fixture(autouse=True)
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    """The vault of an agent directory that the command line stands in, with notes that link to each other."""
    (tmp_path / "trimtab.toml").write_text("")
    monkeypatch.setenv("TRIMTAB_DIR", str(tmp_path))
    made = Vault.create(tmp_path / "vault", "trimtab", "t@localhost")
    text = "The boat lies in the harbour of the old town, it is blue and was built by [[Ann]] in the year 1973.\n"
    notes = {
        "AGENTS.md": "Watch.\n",
        "boat.md": text,
        "old/boat.md": text + "Sold to [[Carl]].\n",
        "people/ann.md": "---\ndescription: a friend\n---\nBuilds \u202eboats.\n",
    }
    made.plant(notes, "Begin")
    return made


def call(*arguments: str) -> Result:
    """The result of one command."""
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_words_need_no_quotes() -> None:
    """Several words are one question; a phrase in quotes must stand in the note."""
    assert [row["path"] for row in json.loads(call("search", "sold", "carl", "--json").stdout)] == ["old/boat.md"]
    assert [row["path"] for row in json.loads(call("search", '"sold to"', "boat", "--json").stdout)] == ["old/boat.md"]
    assert json.loads(call("search", '"to sold"', "--json").stdout) == []
    assert len(json.loads(call("search", "harb*", "--json").stdout)) == 2


def test_a_hit_has_the_keys_of_a_listing() -> None:
    """Path, line, excerpt, score and the words found; hidden characters are spelled out for a terminal."""
    (row,) = json.loads(call("search", "builds", "--json").stdout)

    assert row["path"] == "people/ann.md"
    assert row["line"] == 4
    assert row["words"] == ["builds"]
    assert row["score"] > 0
    assert call("search", "builds").stdout == "people/ann.md:4: Builds <U+202E>boats.\n"


def test_the_index_can_be_made_anew(vault: Vault) -> None:
    """--rebuild reads every file first."""
    assert call("search", "builds", "--rebuild").stdout.startswith("people/ann.md:4")


def test_no_words_are_wrong_usage() -> None:
    """An empty question is answered with what is missing."""
    with pytest.raises(UsageError, match="at least one word"):
        call("search", " ")


def test_links_go_both_ways() -> None:
    """What a note links to, what is no note, and what links to it, by name or by path."""
    assert call("links", "old/boat").stdout == "to: people/ann.md\nto: [[Carl]], which is no note\n"
    assert call("links", "Ann").stdout == "from: boat.md\nfrom: old/boat.md\n"
    assert json.loads(call("links", "people/ann.md", "--json").stdout)[0] == {
        "path": "people/ann.md",
        "direction": "from",
        "name": None,
        "other": "boat.md",
    }
    with pytest.raises(UsageError, match="no note Carl"):
        call("links", "Carl")


def test_stats_say_what_could_be_tidied() -> None:
    """Counts first, then what is large, unread, double, badly linked or without a description."""
    lines = call("stats").stdout.splitlines()

    assert lines[0].startswith("4 notes, ")
    assert lines[1].startswith("commits in the week from 2")
    assert "never read: not known yet; reads are counted from the first one on" in lines
    assert any(line.startswith("  boat.md and old/boat.md (") for line in lines)
    assert "  old/boat.md to [[Carl]]" in lines
    assert lines[lines.index("without a description: 2") + 1 :] == ["  boat.md", "  old/boat.md"]


def test_stats_as_json_are_one_object(vault: Vault) -> None:
    """Scripts get everything, with reads once there are any."""
    vault.draft().was_read("boat.md")
    (found,) = json.loads(call("stats", "--json").stdout)

    assert found["notes"] == 4
    assert found["unread"] == ["old/boat.md", "people/ann.md"]
    assert found["broken"] == [{"path": "old/boat.md", "name": "Carl"}]
    assert found["alike"][0]["one"] == "boat.md"
