"""`trimtab vault review` and its sisters in a script: what is shown, what is decided, what the agent hears of it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from daemon.app import opened
from daemon.beating import beat_in
from daemon.cli.vault import app
from daemon.errors import StorageError, UsageError
from daemon.home import Home
from daemon.models.scripted import Scripted
from tests.cli.reviewed_agent import INJECTION, beaten, by_hand, call, git, lived_in, made


def vault(home: Home, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Result:
    """The result of a command on this agent."""
    monkeypatch.setenv("TRIMTAB_DIR", str(home.path))
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


def rows(result: Result) -> list[dict[str, Any]]:
    """What a command printed as JSON."""
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


@pytest.fixture
def small(tmp_path: Path) -> Home:
    """An agent whose three runs wrote a note each; the second read a page and proposed an instruction."""
    append = {"action": "append", "path": "people/ann.md"}
    return made(
        tmp_path / "agent",
        [
            [call("clock"), call("vault", **append, text="Ann likes tea.")],
            [
                call("page"),
                call("vault", **append, text="Ann hates tea\u200b."),
                call("vault", action="append", path="AGENTS.md", text="Be brief."),
            ],
            [call("vault", **append, text="Ann has a boat.")],
            [],
        ],
    )


def test_the_review_is_what_plain_git_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """30 commits of the agent's and 5 by hand in the order of history, one proposal behind them."""
    home = lived_in(tmp_path / "agent")
    shown = rows(vault(home, monkeypatch, "review", "--json"))
    commits = [row["commit"] for row in shown if row["proposal"] is None]

    assert commits == git(home, "log", "--reverse", "--format=%H", "main").split()
    assert [sum(row["state"] == state for row in shown) for state in ("open", "by_hand", "waiting")] == [30, 6, 1]
    hostile = next(row for row in shown if row["changes"][0]["path"] == "people/rules.md")
    assert hostile["read"] == [{"tool": "page", "calls": 1, "untrusted": True}]
    assert "U+202E RIGHT-TO-LEFT OVERRIDE" in hostile["changes"][0]["hidden"]
    assert "p<U+0430>inted red.<U+202E><U+200B>" in hostile["changes"][0]["patch"]
    lines = vault(home, monkeypatch, "review").stdout
    assert lines.isascii()
    assert "\x1b" not in lines
    assert lines.endswith("36 commits since the mark 'reviewed' and 1 proposal\n")


def test_a_script_approves_and_takes_back(small: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """One call reverts one commit and approves the rest; plain git sees nothing new behind the mark."""
    beaten(small, 3)
    hated = git(small, "log", "--format=%H", "-1", "--skip", "1").strip()
    told = vault(small, monkeypatch, "review", "--approve", "--revert", hated[:10], "--why", "She does not.").stdout

    assert "taken back in commit" in told
    assert told.splitlines()[-1].startswith("2 approved; the mark is")
    assert (small.vault / "people/ann.md").read_text() == "Ann likes tea.\nAnn has a boat.\n"
    assert git(small, "log", "--format=%an", "reviewed..main").split() == []
    last = vault(small, monkeypatch, "review").stdout.splitlines()[-1]
    assert last == "0 commits since the mark 'reviewed' and 1 proposal"


def test_changed_words_are_marked_and_nothing_can_fake_the_marks(small: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """[-old-] and {+new+}, and the same signs inside a note have a backslash."""
    by_hand(small, "people/ann.md", "Ann likes [-tea-] a lot.\n")
    (small.vault / "people/ann.md").write_text("Ann likes [-tea-] a bit.\n")
    git(small, "commit", "-q", "-a", "-m", "x")
    shown = vault(small, monkeypatch, "review").stdout

    assert "-Ann likes \\[-tea\\-] a [-lot-].\n+Ann likes \\[-tea\\-] a {+bit+}.\n" in shown


def test_who_wrote_a_commit_and_what_it_had_read_is_plain(small: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person's commit says so; a run whose thread had read a page earlier names the run that read it."""
    beaten(small, 3)
    by_hand(small, "people/ann.md", "By hand.\n")
    shown = rows(vault(small, monkeypatch, "review", "--json"))
    lines = vault(small, monkeypatch, "review").stdout.splitlines()

    reader = shown[2]["run"]
    assert [row["read_before"] for row in shown[:4]] == [[], [], [], [{"tool": "page", "run": reader}]]
    assert f"its thread had read before: page (untrusted, last in run {reader})" in lines
    assert "! it had read: page (untrusted)" in lines
    assert sum(line.startswith("commit ") and line.endswith("  by hand: it needs no decision") for line in lines) == 2


def test_one_commit_may_be_chosen(small: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A beginning of an id shows and approves that one only; an unknown one is a clear error."""
    beaten(small, 3)
    newest = git(small, "rev-parse", "HEAD").strip()
    shown = rows(vault(small, monkeypatch, "review", newest[:12], "--json"))
    vault(small, monkeypatch, "review", newest[:12], "--approve")

    assert [row["commit"] for row in shown] == [newest]
    assert [row["state"] for row in rows(vault(small, monkeypatch, "review", "--json"))] == [
        "open",
        "open",
        "approved",
        "waiting",
    ]
    with pytest.raises(UsageError, match="no commit since the mark"):
        vault(small, monkeypatch, "review", "ffffffff")


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["review", "--skip", "--approve"], "--skip decides nothing"),
        (["review", "--revert", "HEAD"], "--why"),
        (["revert", "HEAD", "--why", "x"], "no commit of 'main'"),
        (["revert", "0123456"], "--why"),
        (["approve", "nothing"], "there is no proposal 'nothing'; none waits"),
        (["reject", "nothing"], "--why"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(
    small: Home, monkeypatch: pytest.MonkeyPatch, arguments: list[str], wrong: str
) -> None:
    """A wrong call changes nothing and says what was expected."""
    before = git(small, "rev-parse", "HEAD")
    with pytest.raises(UsageError, match=wrong):
        vault(small, monkeypatch, *arguments)
    assert git(small, "rev-parse", "HEAD") == before


def prompts(home: Home, times: int = 1) -> list[str]:
    """The task messages of the next runs of the heartbeat."""

    async def story() -> list[str]:
        async with opened(home) as agent:
            for _ in range(times):
                await beat_in(agent, "watch")
            model = agent.models["local"]
            assert isinstance(model, Scripted)
            return [prompt.messages[prompt.begins].text for prompt in model.prompts]

    return asyncio.run(story())


def test_the_agent_hears_once_what_was_decided_and_why(small: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reverts and rejections stand in the next prompt of the thread, in the person's words, and then no more."""
    beaten(small, 3)
    hated = git(small, "log", "--format=%H", "-1", "--skip", "1").strip()
    vault(small, monkeypatch, "revert", hated, "--why", "She\ndoes not.")
    vault(small, monkeypatch, "reject", "agents", "--why", "Long notes are fine.")
    (small.path / "script.jsonl").write_text('{"text": "The harbour is calm tonight."}\n{"text": "Ice on the pier."}\n')
    first, second = prompts(small, 2)

    assert 'wrote to:\n<data from="vault">\npeople/ann.md\n</data>\nWhy: She does not.\nDo not write it again.' in first
    assert "rejected what your run" in first
    assert "Why: Long notes are fine." in first
    assert "does not" not in second
    assert "Long notes" not in second


def test_a_revert_with_plain_git_is_told_too(small: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who uses `git revert` need not know of trimtab's own."""
    beaten(small, 1)
    git(small, "revert", "--no-edit", "HEAD")
    vault(small, monkeypatch, "review", "--skip")

    with sqlite3.connect(small.database) as database:
        found = database.execute("SELECT what, paths, why FROM feedback").fetchall()
    database.close()
    assert found == [("taken_back", '["people/ann.md"]', "")]


def test_an_instruction_that_is_taken_back_after_its_approval_is_told_too(
    small: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run that proposed it hears of both."""
    beaten(small, 2)
    vault(small, monkeypatch, "approve", "agents")
    vault(small, monkeypatch, "revert", git(small, "rev-parse", "HEAD").strip(), "--why", "Too terse.")
    (small.path / "script.jsonl").write_text('{"text": "The harbour is calm tonight."}\n')
    (told,) = prompts(small)

    assert (small.vault / "AGENTS.md").read_text() == "You keep watch.\n"
    assert told.index("approved what your run") < told.index("took back what your run")


def test_it_becomes_a_training_record(small: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """The export holds the person's words beside the prompt and the reply that they are about."""
    from io import StringIO

    from daemon.cli.trajectories import exported
    from daemon.trajectories.feedback_lines import FeedbackLines

    beaten(small, 3)
    hated = git(small, "log", "--format=%H", "-1", "--skip", "1").strip()
    vault(small, monkeypatch, "revert", hated, "--why", "She does not.")
    out = StringIO()

    assert exported(small.database, FeedbackLines().write, out) == 1
    row = json.loads(out.getvalue())
    assert (row["what"], row["why"], row["commit"], row["person"]) == ("taken_back", "She does not.", hated, "Ann Lee")
    assert "+Ann hates tea" in row["patch"]
    assert [reply["calls"][0]["args"]["text"] for reply in row["replies"]] == ["Ann hates tea\u200b."]
    assert row["prompt"][-1]["role"] == "tool"


def test_a_damaged_commit_is_one_line_and_nothing_is_decided(small: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be shown cannot be approved along with the rest; other commits can be chosen by id."""
    beaten(small, 3)
    tree = git(small, "rev-parse", "HEAD~1^{tree}").strip()
    before = git(small, "for-each-ref")
    (small.vault / f".git/objects/{tree[:2]}/{tree[2:]}").unlink()

    for arguments in (["review"], ["review", "--json"], ["review", "--approve"]):
        with pytest.raises(StorageError, match="see `git fsck`") as failed:
            vault(small, monkeypatch, *arguments)
        assert "\n" not in str(failed.value)
    assert git(small, "for-each-ref") == before
    oldest = git(small, "rev-parse", "HEAD~2").strip()
    assert "1 approved" in vault(small, monkeypatch, "review", oldest, "--approve").stdout


def test_decisions_stand_without_a_database(small: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the database was lost the vault's side works, and the agent has nothing to be told by."""
    beaten(small, 2)
    for file in small.path.glob("trimtab.db*"):
        file.unlink()
    head = git(small, "rev-parse", "HEAD").strip()

    assert "what it had read is not known" in vault(small, monkeypatch, "review").stdout
    assert "taken back" in vault(small, monkeypatch, "revert", head, "--why", "x").stdout
    assert "is in force" in vault(small, monkeypatch, "approve", "agents").stdout


def test_a_heartbeat_that_cannot_run_is_said_before_it_is_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proposed heartbeat with a wrong key is named with what is wrong; a good one is not."""
    bad, good = "---\nevery: soon\n---\nLook.\n", "---\nevery: 1h\n---\nLook.\n"
    calls = [call("vault", action="write", path=f"heartbeats/{n}.md", text=t) for n, t in (("a", bad), ("b", good))]
    home = made(tmp_path / "agent", [calls])
    beaten(home, 1)
    lines = vault(home, monkeypatch, "proposals").stdout.splitlines()

    said = "! it is no heartbeat that can run: heartbeats/a.md: every:"
    assert next(line for line in lines if "no heartbeat" in line).startswith(said)
    assert sum("no heartbeat" in line for line in lines) == 1


def test_proposals_are_listed_with_what_they_would_do(small: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Name, diff, what was read, and a warning that it instructs."""
    beaten(small, 2)
    lines = vault(small, monkeypatch, "proposals").stdout

    assert "proposal agents" in lines
    assert "it had read: page (untrusted)" in lines
    assert "! AGENTS.md instructs the agent: it will obey this text" in lines
    assert lines.endswith("+Be brief.\n\n1 proposal waits\n")
    (row,) = rows(vault(small, monkeypatch, "proposals", "--json"))
    assert (row["proposal"], row["state"], row["changes"][0]["path"]) == ("agents", "waiting", "AGENTS.md")
    assert INJECTION not in lines
