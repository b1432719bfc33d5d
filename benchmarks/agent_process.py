"""A real daemon in a process of its own, for benchmarks: start it, ask it, measure it, kill it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from daemon.control import ask

_TICK = os.sysconf("SC_CLK_TCK")


class AgentProcess:
    """`trimtab run` on an agent directory.  READY comes over a notify socket, as systemd would hear it."""

    def __init__(self, home: Path, environment: Mapping[str, str] | None = None) -> None:
        self.home = home
        self._notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._address = "\0trimtab-" + os.urandom(6).hex()
        self._notify.bind(self._address)
        self.log = (home / "bench.log").open("ab")
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "daemon", "--dir", str(home), "run"],
            stdout=self.log,
            stderr=self.log,
            env={
                **os.environ,
                **(environment or {}),
                "NOTIFY_SOCKET": "@" + self._address[1:],
                "TRIMTAB_METRICS__PORT": "0",
            },
        )

    def wait_ready(self, seconds: float = 30) -> float:
        """Return the wall seconds from start to READY=1."""
        self._notify.settimeout(seconds)
        try:
            while b"READY=1" not in self._notify.recv(4096):
                pass
        except TimeoutError:
            tail = (self.home / "bench.log").read_text(errors="replace")[-2000:]
            raise SystemExit(f"the daemon was not ready within {seconds} s:\n{tail}") from None
        return time.perf_counter() - self.started

    def beat(self, name: str, seconds: float = 120) -> dict[str, Any]:
        """Run a heartbeat now and return the run."""
        answer = asyncio.run(ask(self.home / "trimtab.sock", {"do": "beat", "name": name}, seconds))
        if answer is None:
            raise SystemExit("the daemon does not listen")
        return answer

    def beats(self, name: str, times: int) -> list[dict[str, Any]]:
        """Run a heartbeat so many times, one after the other, in one event loop of ours."""

        async def all_of_them() -> list[dict[str, Any]]:
            return [
                await ask(self.home / "trimtab.sock", {"do": "beat", "name": name}, 120) or {} for _ in range(times)
            ]

        return asyncio.run(all_of_them())

    def cpu_seconds(self) -> float:
        """User and system time of the daemon and of its children, living and dead."""
        return sum(_cpu(pid) for pid in _tree(self.process.pid))

    def resident_mib(self) -> float:
        """Resident memory of the daemon and its living children."""
        pages = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in _tree(self.process.pid)]
        return sum(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def kill(self) -> None:
        """kill -9, as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._close()

    def stop(self) -> int:
        """SIGTERM, as systemd would; return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        self._close()
        return code

    def _close(self) -> None:
        self._notify.close()
        self.log.close()


def _tree(pid: int) -> Sequence[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(grandchild for child in children for grandchild in _tree(int(child)))]


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (
        sum(int(fields[i]) for i in (11, 12, 13, 14)) / _TICK
    )  # utime, stime, and those of children that were waited for


def make_agent(home: Path, settings: str, heartbeats: Mapping[str, str]) -> None:
    """Make an agent directory with these settings and exactly these heartbeats."""
    subprocess.run([sys.executable, "-m", "daemon", "init", str(home)], check=True, capture_output=True)
    (home / "trimtab.toml").write_text(settings)
    for old in (home / "vault/heartbeats").glob("*.md"):
        old.unlink()
    for name, text in heartbeats.items():
        (home / f"vault/heartbeats/{name}.md").write_text(text)
    person = ["git", "-C", str(home / "vault"), "-c", "user.name=person", "-c", "user.email=person@localhost"]
    subprocess.run([*person, "add", "-A"], check=True)
    subprocess.run([*person, "commit", "-q", "-m", "Other heartbeats"], check=True)
