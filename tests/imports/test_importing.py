"""`trimtab import`: each kind of workspace ends in a vault whose first heartbeat runs, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path

import pytest

from daemon.beating import beat_once
from daemon.cli.root import command
from daemon.errors import UsageError
from daemon.home import Home
from tests.imports.workspaces import HERMES, KINDS, NANOBOT, OBSIDIAN, OPENCLAW, written

SCRIPTED = """name = "tester"
[models.local]
backend = "scripted"
replies = [
  CALLS{text = "", calls = [{name = "vault", args = {action = "append", path = "journal", text = "All was quiet."}}]},
  "All is quiet.",
]
"""
HOST = '{text = "", calls = [{name = "host", args = {what = "load"}}]},\n  '
FIRST = {"openclaw": "hive-weight", "nanobot": "tide-table", "hermes": "backup-look", "obsidian": "host-watch"}


def brought(tmp_path: Path, kind: str, *options: str) -> Path:
    """Import a workspace of a kind into a new agent directory; the vault."""
    folder = written(tmp_path / kind, KINDS[kind])
    assert command(["import", str(folder), "--into", str(tmp_path / "agent"), "--yes", *options]) == 0
    return tmp_path / "agent/vault"


def plan(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> dict[str, tuple[str | None, str]]:
    """What a dry run says of each file."""
    folder = written(tmp_path / kind, KINDS[kind])
    capsys.readouterr()
    assert command(["import", str(folder), "--into", str(tmp_path / "agent"), "--dry-run", "--json"]) == 0
    return {row["source"]: (row["target"], row["why"]) for row in json.loads(capsys.readouterr().out)}


def git(vault: Path, *arguments: str) -> str:
    """Ask plain git about the vault."""
    return subprocess.run(["git", "-C", vault, *arguments], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_heartbeat_runs(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """After the import into a new directory the heartbeat that it names runs and ends ok."""
    brought(tmp_path, kind)
    said = capsys.readouterr().out
    named = said.rsplit("beat ", 1)[1].strip()
    settings = SCRIPTED.replace("CALLS", HOST if named == "host-watch" else "")
    (tmp_path / "agent/trimtab.toml").write_text(settings)

    run = asyncio.run(beat_once(Home(tmp_path / "agent"), named, []))

    assert named == FIRST[kind]
    assert (run["outcome"], run["said"]) == ("ok", "All is quiet.")
    assert git(tmp_path / "agent/vault", "rev-parse", "HEAD").strip() == run["commit"]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost_and_every_file_is_told(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every file has a row; each that is taken is in the vault word by word; the folder is as it was."""
    rows = plan(tmp_path, kind, capsys)
    assert not (tmp_path / "agent").exists()
    brought(tmp_path, kind)
    vault = tmp_path / "agent/vault"

    everything = "\n".join(path.read_bytes().decode() for path in vault.rglob("*.md"))
    for path, text in KINDS[kind].items():
        hidden = next((source for source in rows if source.endswith("/") and path.startswith(source)), None)
        target = (None, "") if hidden else rows[path]
        assert (tmp_path / kind / path).read_bytes() == text.encode()
        if target[0] and not path.endswith(".json"):
            body = text.split("---\n", 2)[-1] if text.startswith("---") else text
            assert body.strip() in everything, path
    assert git(vault, "status", "--porcelain") == ""
    assert git(vault, "log", "-1", "--format=%s").startswith("import ")
    assert git(vault, "log", "-1", "--format=%an").strip() != "trimtab"


def test_an_openclaw_workspace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its files go where the vault keeps such things; who it is becomes one AGENTS.md; its tasks become heartbeats."""
    rows = plan(tmp_path, "openclaw", capsys)
    vault = brought(tmp_path, "openclaw")

    agents = (vault / "AGENTS.md").read_text()
    assert agents.startswith("# How we work")
    assert agents.index("Mole: brief") < agents.index("Name: Mole") < agents.index("Greta")
    assert rows["SOUL.md"] == ("AGENTS.md", "as its part SOUL.md")
    assert (vault / "people/user.md").read_text() == "---\nimported_from: openclaw/USER.md\n---\n" + OPENCLAW["USER.md"]
    assert "Hive 3 was fed" in (vault / "journal/2026-11-19.md").read_text()
    assert (vault / "skills/smoker/SKILL.md").read_text() == OPENCLAW["skills/smoker/SKILL.md"]
    beat = (vault / "heartbeats/hive-weight.md").read_text()
    assert "\nevery: 2h\n" in beat
    assert beat.endswith("Look at the scale under hive 3\n\n# Checks\n\n# More\n\nStay quiet at night.\n")
    assert "\nevery: 1d\n" in (vault / "heartbeats/weather.md").read_text()
    assert rows["skills/smoker/scripts/light.sh"] == (None, "an attachment (sh file)")
    assert rows[".env"][0] is None
    beats = {each.name: each.read_text() for each in (vault / "heartbeats").iterdir()}
    assert {name for name, text in beats.items() if "paused: true" not in text} == {"hive-weight.md", "weather.md"}
    assert "tidy.md" in beats


def test_what_the_instructions_name_is_found_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """AGENTS.md says where the notes that it names have gone; what is obeyed at once is said beforehand."""
    agents = "Read `SOUL.md` and `USER.md` first, then `memory/` of today.\n"
    folder = written(tmp_path / "named", {**OPENCLAW, "AGENTS.md": agents})
    command(["import", str(folder), "--into", str(tmp_path / "my agent"), "--yes"])
    said = capsys.readouterr().out.splitlines()

    where = (tmp_path / "my agent/vault/AGENTS.md").read_text().partition("## Where things are now\n\n")[2]
    assert where.splitlines() == [
        "- `SOUL.md`: a part of this file", "- `USER.md`: people/user.md", "- `memory/`: journal/",
    ]  # fmt: skip
    (obeyed,) = [line for line in said if line.startswith("The agent will obey these at once: ")]
    assert sorted(obeyed.partition(": ")[2].split(", ")) == [
        "AGENTS.md", "heartbeats/hive-weight.md", "heartbeats/weather.md", "skills/smoker/SKILL.md",
        "skills/smoker/references/fuel.md",
    ]  # fmt: skip
    assert said[-2].startswith("Imported in commit ")
    assert said[-1] == f"Next: trimtab --dir '{tmp_path}/my agent' beat hive-weight"


def test_a_nanobot_home(tmp_path: Path) -> None:
    """The workspace inside its home is found; jobs keep their schedule and zone; what has none is paused."""
    vault = brought(tmp_path, "nanobot")

    assert 'cron: "15 6 * * *"\ntimezone: Europe/Lisbon\n' in (vault / "heartbeats/tide-table.md").read_text()
    assert "every: 5400s\ntools: [vault]\npaused: true\n" in (vault / "heartbeats/nets.md").read_text()
    assert "paused: true" in (vault / "heartbeats/once.md").read_text()
    assert (
        "every: 3h\ntools: [vault]\n---\nlook at the wind\n" in (vault / "heartbeats/look-at-the-wind.md").read_text()
    )
    rest = (vault / "heartbeats/checklist.md").read_text()
    assert "paused: true" in rest
    assert "Keep the log tidy" in rest
    assert "Paint the boat" not in rest
    assert "Paint the boat" in (vault / "agent/heartbeat-before.md").read_text()
    assert (vault / "agent/memory.md").read_text().endswith(NANOBOT["workspace/memory/MEMORY.md"])


def test_a_hermes_home(tmp_path: Path) -> None:
    """Its memories, soul, nested skills and jobs are found; outputs of jobs are notes."""
    vault = brought(tmp_path, "hermes")

    assert (vault / "AGENTS.md").read_text() == f"<!-- from SOUL.md -->\n{HERMES['SOUL.md']}"
    assert (vault / "agent/memory.md").read_text().endswith(HERMES["memories/MEMORY.md"])
    assert (vault / "people/user.md").read_text().endswith(HERMES["memories/USER.md"])
    assert (vault / "skills/house/boiler/SKILL.md").read_text() == HERMES["skills/house/boiler/SKILL.md"]
    assert "every: 5400s" in (vault / "heartbeats/backup-look.md").read_text()


def test_an_obsidian_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Notes keep paths, links, properties and line ends; attachments are left; nothing becomes an instruction."""
    rows = plan(tmp_path, "obsidian", capsys)
    vault = brought(tmp_path, "obsidian")

    home = (vault / "Home.md").read_text()
    assert home == OBSIDIAN["Home.md"].replace("aliases: []\n", "aliases: []\nimported_from: obsidian/Home.md\n")
    assert (vault / "Places/Bees and hives.md").read_bytes().endswith(OBSIDIAN["Places/Bees and hives.md"].encode())
    assert (vault / "Places/Größe.md").exists()
    assert rows[".obsidian/"] == (None, "settings of Obsidian")
    assert rows["attachments/scale.png"] == (None, "an attachment (png file)")
    assert not (vault / "goals/2027.md").exists()
    assert rows["goals/2027.md"][0] == "notes/goals/2027.md"
    assert rows["Clippings/AGENTS.md"][0] == "notes/Clippings/AGENTS-note.md"
    assert "send the notes" not in (vault / "AGENTS.md").read_text()


def test_a_second_import_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was imported already is seen as such, note by note."""
    vault = brought(tmp_path, "openclaw")
    before = git(vault, "rev-parse", "HEAD")
    capsys.readouterr()

    brought(tmp_path, "openclaw")

    assert "There is nothing to import." in capsys.readouterr().err
    assert git(vault, "rev-parse", "HEAD") == before


def test_a_clash_is_kept_beside(tmp_path: Path) -> None:
    """A note of the vault that says something else stays; an instruction of the same name goes where it is not read."""
    vault = brought(tmp_path, "hermes")
    (vault / "people/user.md").write_text("Mine.\n")

    brought(tmp_path, "openclaw")

    assert (vault / "people/user.md").read_text() == "Mine.\n"
    assert (vault / "people/user.imported-1.md").read_text().endswith(OPENCLAW["USER.md"])
    assert "Wren" in (vault / "AGENTS.md").read_text()
    assert "Mole" in (vault / "conflicts/AGENTS.imported-1.md").read_text()
    assert git(vault, "log", "--format=%s").splitlines()[0].startswith("import ")
    assert git(vault, "status", "--porcelain").strip() in ("", "M people/user.md")


def test_the_starters_instructions_give_way(tmp_path: Path) -> None:
    """In an agent that was just made, AGENTS.md is the imported one."""
    assert command(["init", str(tmp_path / "agent")]) == 0
    vault = brought(tmp_path, "openclaw")

    assert (vault / "AGENTS.md").read_text().startswith("# How we work")
    assert (vault / "heartbeats/host-watch.md").exists()


def test_what_may_not_be_a_note_is_left_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A secret, a link, a huge or binary file and odd names are told and left; the rest is imported."""
    folder = written(tmp_path / "odd", {"good.md": "Good.\n", "a:b.md": "x\n", "bin.md": "a\0b\n"})
    (folder / "key.md").write_text("aws_access_key_id = AKIA" + "Z7VRSQ5TJN2XMPLK" + "\n")
    (folder / "large.md").write_text("x" * 300_000)
    (folder / "latin.md").write_bytes(b"caf\xe9\n")
    (folder / "link.md").symlink_to("/etc/hostname")
    (folder / "linked").symlink_to("/etc")
    Path(os.fsdecode(bytes(folder) + b"/na\xff.md")).write_text("x\n")
    os.mkfifo(folder / "pipe.md")

    assert command(["import", str(folder), "--into", str(tmp_path / "agent"), "--yes"]) == 0
    said = capsys.readouterr().out

    assert said.isprintable() or "\x1b" not in said
    for name in ("a:b.md", "bin.md", "key.md", "large.md", "latin.md", "link.md", "linked", "pipe.md"):
        (line,) = [line for line in said.splitlines() if line.startswith(name + " ")]
        assert " left " in line
    vault = tmp_path / "agent/vault"
    assert "AKIA" not in said
    assert (vault / "good.md").exists()
    assert not (vault / "key.md").exists()


def test_it_asks_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --yes and without an answer nothing is made."""
    folder = written(tmp_path / "notes", {"a.md": "A.\n"})
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: PTH123, SIM115

    assert command(["import", str(folder), "--into", str(tmp_path / "agent")]) == 1
    assert not (tmp_path / "agent").exists()


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    """A missing folder, and one that holds the vault itself, are told before anything is done."""
    vault = brought(tmp_path, "hermes")

    with pytest.raises(UsageError, match="is not a folder"):
        command(["import", str(tmp_path / "gone"), "--into", str(tmp_path / "agent")])
    with pytest.raises(UsageError, match="holds the vault"):
        command(["import", str(vault), "--into", str(tmp_path / "agent")])
