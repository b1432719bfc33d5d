"""The tidy tool: one job at a time, and an end to it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from daemon.heartbeat.folder import Folder
from daemon.home import create, plant
from daemon.tools import TOOLS
from daemon.tools.base import Setting
from daemon.tools.tidy import NOTHING, Tidy
from daemon.tools.toolbox import Toolbox
from daemon.tools.vault import VaultTool
from daemon.types import Heartbeat, ToolCall
from vault import Vault


def ask(setting: Setting, name: str, **args: Any) -> str:
    """The text of one call."""
    return asyncio.run(Toolbox([Tidy(), VaultTool()], setting).run(ToolCall("1", name, args))).text


def test_a_settled_page_is_summed_up_once(setting: Setting, vault: Vault) -> None:
    """The job names the page; the line that it asks for ends it, so that the next call has nothing left."""
    vault.plant({"journal/2026-11-01.md": "# 2026-11-01\n\n- 08:00 host-watch: disk 91 %\n"}, "Plant")
    told = ask(setting, "tidy")
    assert told.startswith("journal/2026-11-01.md is older than 7 days and not summed up.")
    assert "end the line with [[2026-11-01]]" in told

    ask(setting, "vault", action="append", path="agent/host.md", text="Disk was at 91 %. [[2026-11-01]]")
    assert setting.draft.commit("tidy", {}, vault.person(setting.now)) is not None
    assert ask(setting, "tidy") == NOTHING


def test_a_note_that_was_read_counts_as_read(setting: Setting, vault: Vault) -> None:
    """Reading with the vault tool is counted, a note that is not there is not."""
    ask(setting, "vault", action="read", path="people/ann.md")
    ask(setting, "vault", action="read", path="people/bob.md")

    assert vault.reads.counted().times == {"people/ann.md": 1}


def test_a_new_agent_has_a_paused_heartbeat_for_it(tmp_path: Path) -> None:
    """The starter's heartbeat is valid, paused, and expects that the tool was called."""
    home, notes = create(tmp_path / "agent", "UTC")
    plant(home, notes)
    folder = Folder(home.heartbeats, ZoneInfo("UTC"), ("local",), TOOLS)
    folder.look()
    tidy = folder.found["tidy"]

    assert isinstance(tidy, Heartbeat)
    assert (tidy.paused, tidy.tools, tidy.expect, tidy.thread) == (True, ("tidy", "vault"), ("tidy",), None)
    assert "at most a quarter" in tidy.instruction
