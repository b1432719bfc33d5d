"""`trimtab vault`: what a person sees, and that nothing in a note can fool their terminal."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from daemon.cli.review import review
from daemon.cli.vault import app
from vault import Author, Vault

AGENT = Author("trimtab", "t@localhost", datetime(2026, 11, 20, 21, 17, tzinfo=UTC))


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    """The vault of an agent directory that the command line stands in, with one commit of a run."""
    (tmp_path / "trimtab.toml").write_text("")
    monkeypatch.setenv("TRIMTAB_DIR", str(tmp_path))
    made = Vault.create(tmp_path / "vault", "trimtab", "t@localhost")
    made.plant({"AGENTS.md": "Watch.\n"}, "Begin")
    note(made, "ann.md", "Ann likes tea\u202e and \u200bwater.\n", "01RUN")
    return made


def note(vault: Vault, path: str, text: str, run: str) -> None:
    """Let a run write a note."""
    draft = vault.draft()
    draft.write(path, text)
    draft.commit(f"host-watch: {path}", {"Trimtab-Run": run, "Trimtab-Heartbeat": "host-watch"}, AGENT)


def call(*arguments: str) -> Result:
    """The result of one command."""
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_log_names_run_and_heartbeat(vault: Vault) -> None:
    """The newest commit first, each with who wrote it and why."""
    rows = json.loads(call("log", "--json").stdout)

    assert [row["subject"] for row in rows] == ["host-watch: ann.md", "Begin"]
    assert (rows[0]["run"], rows[0]["heartbeat"], rows[1]["run"]) == ("01RUN", "host-watch", None)
    assert "trimtab: host-watch: ann.md" in call("log", "--limit", "1").stdout.splitlines()[0]


def test_search_shows_path_line_and_excerpt(vault: Vault) -> None:
    """A hit is `path:line: excerpt`, spelled out."""
    assert call("search", "tea").stdout == "ann.md:1: Ann likes tea<U+202E> and <U+200B>water.\n"
    assert json.loads(call("search", "quokka", "--json").stdout) == []


def test_review_shows_what_is_new_since_the_mark(vault: Vault) -> None:
    """The changes since the mark, hidden characters spelled out; `--done` moves the mark that plain git sees."""
    first = call("review")
    assert "+Ann likes tea<U+202E> and <U+200B>water." in first.stdout
    assert first.stdout.endswith("2 commits since the mark 'reviewed'\n")

    call("review", "--done")
    note(vault, "bob.md", "Bob.\n", "02RUN")
    rows = json.loads(call("review", "--json").stdout)
    plain = subprocess.run(
        ["git", "log", "--format=%H", "reviewed.."], cwd=vault.root, capture_output=True, text=True, check=True
    )

    assert [(row["run"], [change["path"] for change in row["changes"]]) for row in rows] == [("02RUN", ["bob.md"])]
    assert plain.stdout.split() == [row["commit"] for row in rows]


def test_the_mark_is_what_was_shown(vault: Vault) -> None:
    """A commit that comes while the review is being printed is not marked as reviewed."""
    shown = vault.head

    class Meanwhile(io.StringIO):
        """A terminal during whose first line the agent writes a note."""

        def write(self, text: str) -> int:
            if vault.head == shown:
                note(vault, "later.md", "Later.\n", "03RUN")
            return super().write(text)

    with contextlib.redirect_stdout(Meanwhile()):
        review(approve=True)

    assert vault.git.resolve("reviewed") == shown != vault.head


def test_times_are_in_utc_and_say_so(vault: Vault) -> None:
    """Every time in the JSON ends in Z."""
    assert "2026-11-20T21:17:00Z" == json.loads(call("log", "--json").stdout)[0]["time"]
