"""The doctor: every check is seen to be content and to complain, and nothing is changed by asking."""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import sqlite3
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import typer
from typer.testing import CliRunner

from daemon.cli import doctor_agent, doctor_machine, doctor_vault
from daemon.cli.doctor import checks, doctor, shown
from daemon.cli.doctor_finding import Finding
from daemon.control import answering
from daemon.errors import ModelUnavailable
from daemon.heartbeat.folder import Folder
from daemon.home import Home
from daemon.observe.server import Page, Server
from daemon.types import Prompt, Reply, Stop
from vault import Vault

NOW = datetime(2026, 11, 20, tzinfo=UTC)
Usage = namedtuple("Usage", "free")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    place = Home(tmp_path)
    place.settings.write_text("[metrics]\nport = 0\n", encoding="utf-8")
    Vault.create(place.vault, "agent", "agent@localhost").close()
    place.heartbeats.mkdir()
    return place


class Answering:
    """A model that is ready, or says why not."""

    name = "m"

    def __init__(self, trouble: str = "") -> None:
        self.trouble, self.closed = trouble, 0

    async def reply(self, prompt: Prompt, *, stop: Stop, seconds: float) -> Reply:
        return Reply("")

    async def check(self) -> str:
        if self.trouble:
            raise ModelUnavailable(self.trouble)
        return "ready"

    async def close(self) -> None:
        self.closed += 1


def program(folder: Path, body: str) -> str:
    """A stand-in for a program of the machine."""
    file = folder / "program"
    file.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    file.chmod(0o755)
    return str(file)


def test_python_must_be_new_enough() -> None:
    """Python 3.11 and newer is fine, older fails."""
    assert doctor_machine.python((3, 11, 7)).level == "ok"
    assert doctor_machine.python((3, 10, 12)).level == "fail"


def test_import_names_must_be_ours(tmp_path: Path) -> None:
    """`daemon` from another place, or a package that claims the name, fails and says where it is."""
    assert doctor_machine.import_names().level == "ok"
    assert doctor_machine.import_names(tmp_path).level == "fail"
    taken = doctor_machine.import_names(rivals=["pytest"])
    assert (taken.level, "pytest" in taken.text) == ("fail", True)


def test_llama_is_tried_in_a_child(tmp_path: Path) -> None:
    """A library that loads gives its version; one that aborts, or no interpreter at all, is a failure and no crash."""
    assert doctor_machine.llama(program(tmp_path, "echo 0.3.36")) == Finding(
        "llama.cpp", "ok", "llama-cpp-python 0.3.36 loads", ""
    )
    assert "symbol lookup" in doctor_machine.llama(program(tmp_path, "echo symbol lookup error >&2; exit 1")).text
    assert doctor_machine.llama(program(tmp_path, "kill -ABRT $$")).level == "fail"
    assert doctor_machine.llama(str(tmp_path / "none")).level == "fail"


def test_the_shipped_model_must_be_whole(tmp_path: Path) -> None:
    """A model with its checksum is fine; another content or a missing file fails."""
    file = tmp_path / "m.gguf"
    file.write_bytes(b"weights")
    assert doctor_machine.shipped_model(file, hashlib.sha256(b"weights").hexdigest()).level == "ok"
    assert "checksum" in doctor_machine.shipped_model(file, "0" * 64).text
    assert doctor_machine.shipped_model(tmp_path / "none", "0" * 64).level == "fail"


def test_the_clock_must_be_later_than_what_was_written_before() -> None:
    """A clock behind the files here, or an unknown time zone, fails; five minutes are forgiven."""
    assert doctor_machine.clock(NOW, NOW + timedelta(minutes=4)).level == "ok"
    assert doctor_machine.clock(NOW, NOW + timedelta(days=1)).level == "fail"
    assert "tzdata" in doctor_machine.clock(NOW, NOW, "Europe/Nowhere").fix


@pytest.mark.parametrize(
    ("said", "level", "part"),
    [
        ("LoadState=loaded\nActiveState=active\nResult=success\nNRestarts=2", "ok", "restarted 2 times"),
        ("LoadState=loaded\nActiveState=failed\nResult=start-limit-hit\nNRestarts=5", "fail", "start-limit-hit"),
        ("LoadState=loaded\nActiveState=inactive\nResult=success", "warn", "inactive"),
        ("LoadState=not-found\nActiveState=inactive", "warn", "not installed"),
        ("", "warn", "not installed"),
    ],
)
def test_the_unit_is_asked_for(tmp_path: Path, said: str, level: str, part: str) -> None:
    """What systemd says of the unit becomes one line; without systemd there is nothing to complain of."""
    found = doctor_machine.unit("watch", tmp_path, (program(tmp_path, f"cat <<END\n{said}\nEND"),))

    assert found.level == level
    assert part in found.text
    assert doctor_machine.unit("watch", tmp_path / "none").level == "ok"


def test_the_directory_must_be_writable(home: Home) -> None:
    """A writable directory is fine and stays as it was; one that is not there fails."""
    before = sorted(home.path.rglob("*"))
    assert doctor_agent.directory(home).level == "ok"
    assert sorted(home.path.rglob("*")) == before
    assert doctor_agent.directory(Home(home.path / "none")).level == "fail"


@pytest.mark.parametrize(("free", "level"), [(50 * 1024**2, "fail"), (500 * 1024**2, "warn"), (2 * 1024**3, "ok")])
def test_the_disk_must_have_space(home: Home, free: int, level: str) -> None:
    """Under 1 GiB is a warning, under 100 MiB a failure."""
    assert doctor_agent.disk(home, lambda _path: Usage(free)).level == level


def test_the_vault_must_be_ready(home: Home) -> None:
    """A sound vault is fine; a lock that was left, a foreign branch and no repository are told apart."""
    assert doctor_vault.vault(home).level == "ok"

    (home.vault / ".git" / "index.lock").touch()
    assert doctor_vault.vault(home).level == "warn"

    (home.vault / ".git" / "HEAD").write_text("ref: refs/heads/other\n", encoding="utf-8")
    assert "git switch main" in doctor_vault.vault(home).text
    assert doctor_vault.vault(Home(home.path / "none")).level == "fail"


def test_the_database_must_be_ours_and_whole(home: Home) -> None:
    """No database yet is fine; another program's, a newer one and no database at all each fail with one line."""
    assert "not made yet" in doctor_agent.database(home).text

    home.database.write_bytes(b"this is no database at all, but it is long enough to be looked at")
    assert doctor_agent.database(home).level == "fail"

    home.database.unlink()
    with sqlite3.connect(home.database) as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    assert "another program's" in doctor_agent.database(home).text


def test_every_heartbeat_file_must_be_readable(home: Home) -> None:
    """None is a warning, good ones are counted, and a bad one fails with the line that names file and key."""
    folder = Folder(home.heartbeats, ZoneInfo("UTC"))
    assert doctor_agent.heartbeats(folder).level == "warn"

    (home.heartbeats / "good.md").write_text("---\nevery: 5m\n---\nLook.\n", encoding="utf-8")
    assert doctor_agent.heartbeats(folder).text == "1, of which 0 paused"

    (home.heartbeats / "bad.md").write_text("---\nevry: 5m\n---\nLook.\n", encoding="utf-8")
    found = doctor_agent.heartbeats(folder)
    assert (found.level, "bad.md" in found.text, "evry" in found.text) == ("fail", True, True)


def test_a_model_is_checked_and_closed() -> None:
    """A model that is ready says so; one that is not fails with its own line; both are closed."""
    ready, away = Answering(), Answering("no answer from http://127.0.0.1:1")
    assert doctor_agent.model("m", ready) == Finding("model m", "ok", "ready")
    assert doctor_agent.model("m", away).text == "no answer from http://127.0.0.1:1"
    assert (ready.closed, away.closed) == (1, 1)


def serving(home: Home, age: float, look: Callable[[], Finding]) -> Finding:
    """What a check finds while a daemon holds the directory and answers with this age."""

    async def main() -> Finding:
        async def answer(_request: object) -> dict[str, object]:
            return {"tick_age_seconds": age}

        async with answering(home.socket, answer):
            return await asyncio.to_thread(look)

    with home.held():
        return asyncio.run(main())


def test_the_daemon_must_do_its_work(home: Home) -> None:
    """Not running is fine, and so is looking for work; a holder without answer, an old look and a pause are not."""

    def look() -> Finding:
        return doctor_agent.daemon(home)

    assert "nobody holds" in look().text
    assert serving(home, 0.4, look).level == "ok"
    assert serving(home, 900.0, look).level == "fail"
    with home.held():
        assert look().level == "warn"
    home.switch.write_text("on holiday", encoding="utf-8")
    assert "on holiday" in look().text
    assert serving(home, 0.4, look).level == "warn"


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


def test_the_metrics_port_must_be_free_or_answer(home: Home, taken: int) -> None:
    """Without a daemon the port must be free; with one it must answer, and with our metrics."""
    assert doctor_agent.metrics(home, "127.0.0.1", 0).level == "ok"
    assert "in use" in doctor_agent.metrics(home, "127.0.0.1", taken).text

    async def asked(body: bytes) -> Finding:
        async with Server({"/metrics": lambda: Page(body)}).listening("127.0.0.1", 0) as address:
            port = int(address.rpartition(":")[2])
            return await asyncio.to_thread(doctor_agent.metrics, home, "127.0.0.1", port)

    home.socket.touch()
    with home.held():
        assert asyncio.run(asked(b"trimtab_build_info 1\n")).level == "ok"
        assert "another program's" in asyncio.run(asked(b"node_load1 3\n")).text


def test_text_from_files_cannot_break_out_of_its_line() -> None:
    """Control characters in a finding are shown as escapes; what to do follows only where there is something to do."""
    assert shown(Finding("daemon", "warn", "paused: \x1b[2J\nok", "resume")) == (
        "warn  daemon: paused: \\x1b[2J\\nok\n      → resume"
    )
    assert shown(Finding("disk", "ok", "fine", "nothing")) == "ok    disk: fine"


def test_the_command_says_every_check_and_fails_with_the_worst(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--json` prints one array with every check; exit code 1 when one fails, also for a bad file of settings."""
    app = typer.Typer()
    app.command()(doctor)
    monkeypatch.setenv("TRIMTAB_DIR", str(home.path))
    home.settings.write_text('[models.none]\nbackend = "nothing"\n[metrics]\nport = 0\n', encoding="utf-8")

    done = CliRunner().invoke(app, ["--json"])

    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert done.exit_code == 1
    assert rows["model none"]["level"] == "fail"
    assert rows["python"] == {"name": "python", "level": "ok", "text": rows["python"]["text"], "fix": ""}
    assert sys.executable in rows["python"]["text"]

    home.settings.write_text("metrics = 1\n", encoding="utf-8")
    assert [check().level for check in checks()][-1] == "fail"


def test_without_an_agent_the_machine_is_still_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of an agent directory the checks of the machine run, and the last line says what is missing."""
    monkeypatch.setenv("TRIMTAB_DIR", str(tmp_path))
    found = list(checks())

    assert len(found) > 5
    assert found[-1]().name == "directory"
    assert found[-1]().level == "fail"
