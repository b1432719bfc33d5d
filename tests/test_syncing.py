"""[sync] in trimtab.toml: what it may say, when exchanges happen, what is told of them."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from daemon.clock import HeldClock
from daemon.errors import ConfigError
from daemon.observe.prometheus import Metrics, Names
from daemon.syncing import Syncing, options_of
from vault import Author, Vault

START = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
AGENT = Author("trimtab", "t@localhost", START)


class Counted:
    """Hears of exchanges."""

    def __init__(self) -> None:
        self.exchanges: list[str] = []
        self.heard = asyncio.Event()

    def synced(self, at: datetime, taken: int = 0, pushed: int = 0) -> None:
        """Note one that came about."""
        self.exchanges.append(f"{taken} taken, {pushed} pushed")
        self.heard.set()

    def sync_failed(self, reason: str) -> None:
        """Note one that did not."""
        self.exchanges.append(reason)
        self.heard.set()

    async def next(self) -> str:
        """Wait until something is heard, and return the last of it."""
        await asyncio.wait_for(self.heard.wait(), 60)
        self.heard.clear()
        return self.exchanges[-1]


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """A vault with one note."""
    made = Vault.create(tmp_path / "vault", "trimtab", "t@localhost")
    made.plant({"AGENTS.md": "Watch.\n"}, "Begin")
    return made


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    """An empty bare repository."""
    return bare(tmp_path / "remote.git")


def bare(path: Path) -> Path:
    """Make an empty bare repository."""
    subprocess.run(["git", "init", "-q", "--bare", "--initial-branch=main", path], check=True)
    return path


def note(vault: Vault, text: str) -> None:
    """Let a run write a note."""
    draft = vault.draft()
    draft.append("journal.md", text)
    draft.commit("note", {"Trimtab-Run": "1"}, AGENT)


def syncing(vault: Vault, clock: HeldClock, **table: Any) -> Syncing:
    """The exchanges that a table asks for."""
    options = options_of(table)
    assert options is not None
    return Syncing(vault, options, vault.root.parent, clock)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"url": "ext::sh -c id"}, "sync.url: expected"),
        ({"url": "--upload-pack=id"}, "sync.url: expected"),
        ({"url": "ssh://-oProxyCommand=id/x"}, "sync.url: expected"),
        ({"url": "git@-oProxyCommand:x"}, "sync.url: expected"),
        ({"url": "relative/path"}, "sync.url: expected"),
        ({"url": "http://example.org/x.git"}, "sync.url: expected https://"),
        ({"url": "https://ann:hunter2@example.org/x.git"}, "sync.url: expected an address without a password"),
        ({"url": "/x", "branch": "-f"}, "sync.branch: expected"),
        ({"url": "/x", "every": "5s"}, "sync.every: expected a duration from 1m to 2h"),
        ({"url": "/x", "token": "hunter2"}, "sync.token: expected a table"),
        ({"url": "/x", "token": {"env": "T"}}, "sync.token: is for https"),
        ({"url": "git@example.org:x", "ssh_key": {"env": "K"}}, "sync.ssh_key: expected"),
        ({"branch": "main"}, "sync.url: expected field required"),
        ({"url": "/x", "evry": "1m"}, "sync.evry: unknown key; did you mean 'every'?"),
    ],
)
def test_a_wrong_table_is_one_line(table: Mapping[str, Any], said: str) -> None:
    """Whatever is wrong is told with its key, and a secret that was written there is not repeated."""
    with pytest.raises(ConfigError) as wrong:
        options_of(table)

    assert str(wrong.value).startswith(f"trimtab.toml: {said}")
    assert "hunter2" not in str(wrong.value)


@pytest.mark.parametrize(
    "url",
    ["/srv/vault.git", "file:///srv/vault.git", "git@example.org:ann/vault.git", "ssh://git@example.org:2222/vault.git",
     "https://example.org/ann/vault.git", "git://localhost/vault.git", "http://127.0.0.1:3000/vault.git",
     "ssh://git@[::1]:22/vault.git"],
)  # fmt: skip
def test_any_ordinary_address_will_do(url: str) -> None:
    """Paths, ssh in both its forms, https, the git protocol, and http on this machine."""
    assert options_of({"url": url}) is not None
    assert options_of({}) is None


def test_it_exchanges_at_once_then_after_commits_and_on_schedule(vault: Vault, remote: Path) -> None:
    """One exchange at the start, one soon after a commit, then on schedule; none while paused."""

    async def watched() -> list[str]:
        clock, told, paused = HeldClock(START), Counted(), list[str]()
        sync = syncing(vault, clock, url=str(remote), every="10m")
        task = asyncio.create_task(sync.run(told, lambda: paused[0] if paused else None))

        async def pass_(seconds: float) -> None:
            for _ in range(round(seconds / 5)):
                await clock.advance(5)
                await asyncio.sleep(0.01)

        async def heard() -> None:
            while not told.heard.is_set():
                await pass_(5)
            told.heard.clear()

        await heard()
        await pass_(60)
        note(vault, "Looked.")
        await heard()
        paused.append("by hand")
        await pass_(900)
        paused.clear()
        await heard()
        task.cancel()
        await asyncio.wait([task])
        return told.exchanges

    assert asyncio.run(watched()) == ["0 taken, 1 pushed", "0 taken, 1 pushed", "0 taken, 0 pushed"]


def test_a_failure_is_told_once_and_counted_each_time(vault: Vault, tmp_path: Path) -> None:
    """A remote that is not there is one warning; the task lives on, and says when it works again."""

    async def watched() -> None:
        clock, told = HeldClock(START), Counted()
        sync = syncing(vault, clock, url=str(tmp_path / "later.git"), every="1m")
        task = asyncio.create_task(sync.run(told, lambda: None))
        for number in range(3):
            if number == 2:
                await asyncio.to_thread(bare, tmp_path / "later.git")
            while not told.heard.is_set():
                await clock.advance(5)
                await asyncio.sleep(0.01)
            told.heard.clear()
        task.cancel()
        await asyncio.wait([task])
        assert told.exchanges == ["missing", "missing", "0 taken, 1 pushed"]

    with capture_logs() as logged:
        asyncio.run(watched())

    assert [each["cause"] for each in logged if each["log_level"] == "warning"] == ["missing"]
    assert "vault.synced_again" in [each["event"] for each in logged]


def test_the_daemon_does_not_wait_for_a_remote_that_hangs(vault: Vault) -> None:
    """An exchange in hand ends when its task is cancelled, long before its own time is over."""

    async def cancelled() -> float:
        loop, clock = asyncio.get_running_loop(), HeldClock(START)
        connected = asyncio.Event()
        server = await asyncio.start_server(lambda *_: connected.set(), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        task = asyncio.create_task(syncing(vault, clock, url=f"git://127.0.0.1:{port}/x").run(Counted(), lambda: None))
        while not connected.is_set():
            await clock.advance(5)
            await asyncio.sleep(0.01)
        began = loop.time()
        task.cancel()
        await asyncio.wait([task])
        server.close()
        return loop.time() - began

    assert asyncio.run(cancelled()) < 10


def test_the_last_exchange_is_known_after_a_restart(vault: Vault, remote: Path) -> None:
    """The time of the last exchange is kept with the vault; it shows in the metrics from the start."""
    clock = HeldClock(START)
    syncing(vault, clock, url=str(remote)).exchange()

    assert syncing(vault, clock, url=str(remote)).last() == START
    assert syncing(vault, clock, url="/elsewhere").last() is None


def test_a_key_that_cannot_be_read_is_told(vault: Vault, tmp_path: Path) -> None:
    """A missing key is named by its place before anything is started."""
    with pytest.raises(ConfigError, match=r"sync.ssh_key: the file gone cannot be read"):
        syncing(vault, HeldClock(START), url="git@localhost:x", ssh_key={"file": "gone"}).exchange()
    with pytest.raises(ConfigError, match=r"sync.token: the environment variable NO_TOKEN is not set"):
        syncing(vault, HeldClock(START), url="https://localhost/x", token={"env": "NO_TOKEN"}).exchange()


def test_the_metrics_say_when_and_why() -> None:
    """Last success, commits both ways and failures by reason are exported, from 0 for each reason."""
    metrics = Metrics(Names(), version="0")
    before = metrics.render().decode()
    metrics.synced(START, 2, 3)
    metrics.sync_failed("rewritten")
    metrics.sync_failed("made up")
    page = metrics.render().decode()

    assert "trimtab_vault_sync_last_success_timestamp_seconds NaN" in before
    assert 'trimtab_vault_sync_failures_total{reason="network"} 0.0' in before
    assert "trimtab_vault_sync_last_success_timestamp_seconds 1.795248e+09" in page
    assert 'trimtab_vault_sync_commits_total{direction="pushed"} 3.0' in page
    assert 'trimtab_vault_sync_failures_total{reason="rewritten"} 1.0' in page
    assert 'trimtab_vault_sync_failures_total{reason="other"} 1.0' in page
