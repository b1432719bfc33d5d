"""`trimtab beat` where a daemon answers."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from daemon.cli.root import command
from daemon.home import Home

RUN = {
    "run": "01RUN", "heartbeat": "look", "scheduled_for": "2026-03-02T08:00:00.000001Z", "outcome": "failed",
    "reason": "disk\x1b[2J full", "said": "", "steps": 2, "prompt_tokens": 40, "completion_tokens": 2,
    "reused_tokens": 0, "usd": 0.0, "model": "local", "commit": None,
}  # fmt: skip


class Daemon(socketserver.StreamRequestHandler):
    """Answers every request with the same run."""

    def handle(self) -> None:
        self.rfile.readline()
        self.wfile.write(json.dumps(RUN).encode() + b"\n")


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A daemon that listens in an agent directory."""
    home = Home(tmp_path)
    home.settings.write_text("")
    monkeypatch.setenv("TRIMTAB_DIR", str(tmp_path))
    with socketserver.UnixStreamServer(str(home.socket), Daemon) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_run_is_shown_as_two_lines(daemon: object, capsys: pytest.CaptureFixture[str]) -> None:
    """How it ended and which run it was, escaped; the exit code says that it did not end well."""
    assert 1 == command(["beat", "look"])

    assert ["look: failed (disk<U+001B>[2J full)", "  run 01RUN, 2 steps, 42 tokens"] == (
        capsys.readouterr().out.splitlines()
    )


def test_the_json_is_the_run_as_the_daemon_says_it(daemon: object, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` prints an array of one run under the keys of every listing."""
    assert 1 == command(["beat", "look", "--json"])

    assert [RUN] == json.loads(capsys.readouterr().out)
