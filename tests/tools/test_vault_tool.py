"""The vault tool: the exact words that the shipped model was trained on, and the journal."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from daemon.tools.base import Setting
from daemon.tools.toolbox import Toolbox
from daemon.tools.vault import VaultTool
from daemon.types import ToolCall


def ask(setting: Setting, **args: Any) -> str:
    """The text of one call."""
    return asyncio.run(Toolbox([VaultTool()], setting).run(ToolCall("1", "vault", args))).text


def test_a_journal_entry_has_its_time_and_heartbeat(setting: Setting) -> None:
    """The page begins with its date; each entry is an item with the local time and who wrote it."""
    assert ask(setting, action="append", path="journal", text="load 0.31") == "appended to journal/2026-11-20.md"
    ask(setting, action="append", path="journal", text="- disk 55 %\n\n  all fine\n")

    assert ask(setting, action="read", path="journal") == (
        "# 2026-11-20\n\n- 21:17 host-watch: load 0.31\n- 21:17 host-watch: disk 55 %\n  all fine\n"
    )


def test_the_journal_has_the_agents_own_days(setting: Setting) -> None:
    """In a zone where it is tomorrow already, the entry goes to tomorrow's page."""
    there = replace(setting, timezone=ZoneInfo("Asia/Tokyo"))

    assert ask(there, action="append", path="journal", text="x") == "appended to journal/2026-11-21.md"
    assert "- 06:17 host-watch: x" in there.draft.read("journal/2026-11-21.md")


def test_writing_and_appending_notes(setting: Setting) -> None:
    """The answers name the note."""
    assert ask(setting, action="write", path="projects/boat.md", text="Blue.\n") == "written projects/boat.md"
    assert ask(setting, action="append", path="people/ann.md", text="Birthday in May.") == "appended to people/ann.md"
    assert ask(setting, action="read", path="people/ann.md") == "Ann likes tea.\nBirthday in May.\n"


def test_listing_and_searching(setting: Setting) -> None:
    """A listing is one path a line; a search shows each note with its best line."""
    assert ask(setting, action="list") == "AGENTS.md\npeople/ann.md"
    assert ask(setting, action="list", path="people") == "people/ann.md"
    assert ask(setting, action="list", path="nowhere") == "no notes in nowhere"
    assert ask(setting, action="search", query="tea") == "people/ann.md: Ann likes tea."
    assert ask(setting, action="search", query="quokka") == "nothing found"


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({"action": "read", "path": "people/bob.md"}, "error: no such note: people/bob.md"),
        (
            {"action": "read"},
            "error: read needs 'path': a note such as people/ann.md, or journal for the page of today",
        ),
        ({"action": "append", "path": "journal"}, "error: append needs 'text': what to write or append"),
        (
            {"action": "append", "path": "journal", "text": " \n "},
            "error: append needs 'text': what to write or append",
        ),
        ({"action": "search"}, "error: search needs 'query': words to search for"),
        ({"action": "write", "path": "journal", "text": "x"}, "error: the journal only grows: use append"),
        ({"action": "read", "path": "/etc/passwd"}, "error: '/etc/passwd' is not a path below the vault"),
        ({"action": "list", "path": "../.."}, "error: '../..' is not a folder of the vault"),
        ({"action": "list", "path": ".git"}, "error: '.git' is not a folder of the vault"),
        ({"action": "delete"}, "error: argument 'action' is \"delete\": expected one of list, read"),
    ],
)
def test_refusals_are_data(setting: Setting, args: dict[str, Any], told: str) -> None:
    """What cannot be done is told in one line, and nothing is pending after it."""
    assert ask(setting, **args).startswith(told)
    assert setting.draft.paths == ()


def test_an_instruction_is_proposed_and_goes_on_being_read_as_it_is(setting: Setting) -> None:
    """The model is told that it waits; reading shows what is in force, and saying it again is refused."""
    text = setting.draft.read("AGENTS.md") + "Be kind.\n"
    before = ask(setting, action="read", path="AGENTS.md")

    assert ask(setting, action="write", path="AGENTS.md", text=text) == (
        "proposed AGENTS.md: it waits for a person's approval and changes nothing until then"
    )
    assert ask(setting, action="append", path="heartbeats/new.md", text="Look.").startswith(
        "proposed heartbeats/new.md"
    )
    assert ask(setting, action="read", path="AGENTS.md") == before
    assert "already says exactly that" in ask(setting, action="write", path="AGENTS.md", text=text)
    assert setting.draft.paths == ()
    assert setting.draft.held == ("AGENTS.md", "heartbeats/new.md")


def test_a_long_listing_says_how_much_more(setting: Setting) -> None:
    """At most 200 names are listed."""
    for number in range(250):
        setting.draft.write(f"n/{number}.md", f"{number}\n")
    lines = ask(setting, action="list", path="n").splitlines()

    assert len(lines) == 201
    assert lines[-1] == "and 50 more: name a folder"
