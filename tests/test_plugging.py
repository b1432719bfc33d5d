"""What trimtab.toml says of guards, tools and the judge: a start refuses what the doctor would, in the same line."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from structlog.testing import capture_logs

from daemon.app import opened
from daemon.cli import doctor_agent
from daemon.cli.doctor_finding import Finding
from daemon.errors import ConfigError
from daemon.home import Home
from daemon.plugging import checked, panel, tools_of, unread
from daemon.settings import Settings, load
from daemon.tools.base import Setting, Tool
from daemon.types import ToolSpec
from vault import Vault


class Pager(Tool):
    """A tool of the user's own, without actions; it takes whatever comes."""

    name: ClassVar[str] = "pager"

    def spec(self) -> ToolSpec:
        return ToolSpec("pager", "Calls somebody.", {"type": "object", "properties": {"message": {"type": "string"}}})

    async def run(self, args: Mapping[str, Any], setting: Setting) -> str:
        return "called"


def settings_of(folder: Path, table: str) -> Settings:
    """Read a file of settings with a model that costs nothing and these lines."""
    lines = f'{table}\n[models.local]\nbackend = "scripted"\nreplies = ["Well."]\n'
    (folder / "trimtab.toml").write_text(lines, encoding="utf-8")
    return load(folder)


async def start(home: Path) -> None:
    """Open an agent, as `run` and `beat` do."""
    async with opened(Home(home)):
        pass


WRONG = [
    ("[guards.loop]\nx = 1", "guards.loop: guard 'loop' has no option 'x'; it knows copies"),
    ("[guards.loop]\nenabled = false\nx = 1", "guards.loop: guard 'loop' has no option 'x'"),
    ("[guards.loop]\ncopies = 0", "guards.loop: guard 'loop': option 'copies' should be a number of at least"),
    ("[guards.loop]\nenabled = 'no'", "guards.loop.enabled: expected true or false, not 'no'"),
    ("[guards.lop]", "guards.lop: expected a guard, one of loop, repeat, "),
    ("[guards.lop]", "budget; or `written`"),
    ("[guards.expect]\ntools = ['vualt.append']", "guards.expect.tools: expected a tool, one of clock, host, "),
    ("[guards.facts]\nsources = ['hots']", "guards.facts.sources: expected a tool, one of clock, host, "),
    ("[guards.facts]\nsources = 'host'", "guards.facts: guard 'facts': option 'sources' should be a list"),
    ("[guards.written]\nvualt = 'text'", "guards.written.vualt: expected a tool, one of clock, host, "),
    ("[guards.written]\nvault = 3", "guards.written.vault: expected the name of an argument that holds text"),
    ("[judge]\nmodel = 'frontier'", "judge.model: expected one of local"),
]


@pytest.mark.parametrize(("table", "says"), WRONG)
def test_a_start_and_the_doctor_say_the_same_line(tmp_path: Path, table: str, says: str) -> None:
    """File, key and what was expected, in one line, with the exit code of a wrong file; nothing is made before."""
    settings = settings_of(tmp_path, table)
    with pytest.raises(ConfigError) as wrong:
        asyncio.run(start(tmp_path))
    found = doctor_agent.guards(settings)

    assert says in str(wrong.value)
    assert str(wrong.value).startswith("trimtab.toml: ")
    assert "\n" not in str(wrong.value)
    assert (78, ["trimtab.toml"]) == (wrong.value.exit_code, [path.name for path in tmp_path.iterdir()])
    assert ("fail", str(wrong.value)) == (found.level, found.text)
    assert found.fix


def test_a_tool_that_cannot_be_made_is_one_line_and_not_two(tmp_path: Path) -> None:
    """The tools' line names it; the guards', which need the tools, point there."""
    settings = settings_of(tmp_path, "[tools.vault]\nx = 1")

    assert doctor_agent.tools(settings).text == "trimtab.toml: tools.vault.x: unknown key; known: none"
    assert "fail" == doctor_agent.tools(settings).level
    assert ("warn", "not checked: the tools come first") == (
        doctor_agent.guards(settings).level,
        doctor_agent.guards(settings).text,
    )


def test_what_is_right_is_told_in_one_line_each(tmp_path: Path) -> None:
    """Which tools there are, how many guards watch, and which a person switched off."""
    settings = settings_of(tmp_path, "[guards.loop]\nenabled = false\n[guards.budget]\nusd_per_day = 1")

    assert Finding("tools", "ok", "host, vault, clock, repo, tidy") == doctor_agent.tools(settings)
    assert Finding("guards", "ok", "15 watch; switched off: loop") == doctor_agent.guards(settings)
    assert Finding("guards", "ok", "16 watch") == doctor_agent.guards(settings_of(tmp_path, ""))
    assert "loop" not in {guard.name for guard in panel(settings, {}).guards}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("vault = ['text', 'body']", ["vault: vault has no argument 'body'; it has action, path, text, query"]),
        ("vault.write = 'page:whole'", ["vault.write: vault has no argument 'page'; it has action, path, text, query"]),
        ("vault.apend = []", ["vault.apend: vault has no action 'apend'; it has list, read, search, write, append"]),
        (
            "vault.apend = 'txt'",
            [
                "vault.apend: vault has no action 'apend'; it has list, read, search, write, append",
                "vault.apend: vault has no argument 'txt'; it has action, path, text, query",
            ],
        ),
        ("vault.append = ['text', 'path']", []),
        ("vault = 'text:whole'", []),
    ],
)
def test_a_name_that_no_call_can_have_is_a_warning(tmp_path: Path, line: str, says: list[str]) -> None:
    """The agent starts all the same; the doctor says which name the tool does not have, and what it has."""
    settings = settings_of(tmp_path, f"[guards.written]\n{line}")
    lines = [f"trimtab.toml: guards.written.{one}" for one in says]

    assert lines == unread(checked(settings), settings)
    found = doctor_agent.guards(settings)
    if lines:
        assert ("warn", lines[0] + (" (and 1 more)" if len(lines) > 1 else "")) == (found.level, found.text)
    else:
        assert "ok" == found.level


def test_a_start_logs_what_is_not_read(tmp_path: Path) -> None:
    """The daemon's log has the doctor's line too, at the level of a warning."""
    settings_of(tmp_path, "[guards.written]\nvault = 'txt'")
    Vault.create(tmp_path / "vault", "agent", "agent@localhost").close()
    with capture_logs() as logged:
        asyncio.run(start(tmp_path))

    (told,) = [line for line in logged if line["event"] == "guards.unread"]
    assert "warning" == told["log_level"]
    assert "trimtab.toml: guards.written.vault: vault has no argument 'txt'" in told["what"]


def test_a_tool_without_actions_has_none(tmp_path: Path) -> None:
    """A tool of the user's own is held to its schema too."""
    settings = settings_of(tmp_path, "[guards.written]\npager.now = ['message', 'text']")
    tools = {**tools_of(settings), "pager": Pager()}

    assert unread(tools, settings) == [
        "trimtab.toml: guards.written.pager.now: pager has no action 'now'; it has none",
        "trimtab.toml: guards.written.pager.now: pager has no argument 'text'; it has message",
    ]
