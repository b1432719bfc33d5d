"""The same exchanges over the git protocol, ssh and http on loopback, and remotes that hang, refuse or lie."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.vault.remotes import both_ways, noted, run, sync_of
from vault import Author, Vault
from vault.address import Access, ssh_command
from vault.transport import SyncFailed

NOW = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
SSHD = shutil.which("sshd") or "/usr/sbin/sshd"
TOKEN = "s3cr3t-t0k3n"


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until something listens; skip where it cannot be started here."""
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    pytest.skip(f"{process.args!r} cannot be started here")


@contextlib.contextmanager
def serving(port: int, *command: str) -> Iterator[None]:
    """A server for as long as the block lasts."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(port, process)
            yield
        finally:
            process.terminate()


def test_over_the_git_protocol(vault: Vault, bare: Path, author: Author) -> None:
    """An exchange with `git daemon`; one that does not export the repository is told as missing."""
    port = free_port()
    address = f"--listen=127.0.0.1 --port={port} --base-path={bare.parent}".split()
    with serving(port, "git", "daemon", "--reuseaddr", *address, "--informative-errors"):
        both_ways(vault, sync_of(vault, f"git://127.0.0.1:{port}/served.git"), bare, author)
        with pytest.raises(SyncFailed) as failed:
            sync_of(vault, f"git://127.0.0.1:{port}/other.git").run()
    assert failed.value.reason == "missing"
    with pytest.raises(SyncFailed) as failed:
        sync_of(vault, f"git://127.0.0.1:{port}/served.git").run()
    assert failed.value.reason == "network"


@pytest.fixture
def ssh(tmp_path: Path) -> Iterator[int]:
    """The port of an sshd with keys of its own; the client's key is `key`, the known hosts are in `known`."""
    if not Path(SSHD).exists() or shutil.which("ssh-keygen") is None:
        pytest.skip("sshd is missing: apt-get install openssh-server")
    for name in ("host", "key", "stranger"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name, cwd=tmp_path)
    (tmp_path / "authorized").write_text((tmp_path / "key.pub").read_text())
    port = free_port()
    (tmp_path / "known").write_text(f"[127.0.0.1]:{port} {(tmp_path / 'host.pub').read_text()}")
    (tmp_path / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {tmp_path}/host\nAuthorizedKeysFile {tmp_path}/authorized\n"
        f"StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\nPidFile none\n"
    )
    with serving(port, SSHD, "-D", "-e", "-f", str(tmp_path / "sshd_config")):
        yield port


def test_over_ssh(vault: Vault, bare: Path, author: Author, ssh: int, tmp_path: Path) -> None:
    """An exchange with sshd; a stranger's key and an unknown host are told apart, and nobody is asked anything."""
    url = f"ssh://{Path.home().owner()}@127.0.0.1:{ssh}{bare}"
    known = tmp_path / "known"
    both_ways(vault, sync_of(vault, url, Access(ssh=ssh_command(tmp_path / "key", known))), bare, author)

    wrong = (("stranger", "known", "credentials"), ("key", "none", "host_key"), ("gone", "known", "credentials"))
    for key, hosts, reason in wrong:
        access = Access(ssh=ssh_command(tmp_path / key, tmp_path / hosts))
        with pytest.raises(SyncFailed) as failed:
            sync_of(vault, url, access).run()
        assert failed.value.reason == reason
    assert not (tmp_path / "none").exists()


@pytest.fixture
def hole() -> Iterator[int]:
    """The port of a server that accepts and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


@pytest.mark.parametrize("scheme", ["git", "http"])
def test_a_remote_that_hangs_is_left(vault: Vault, author: Author, hole: int, scheme: str) -> None:
    """After the set time the exchange ends, no process of it is left, and work goes on."""
    began = time.monotonic()
    with pytest.raises(SyncFailed) as failed:
        sync_of(vault, f"{scheme}://127.0.0.1:{hole}/x.git", seconds=0.5).run()

    assert failed.value.reason == "timeout"
    assert time.monotonic() - began < 10
    here = [line for line in run("ps", "-eo", "args", cwd=vault.root).splitlines() if f":{hole}/" in line]
    assert here == []
    assert noted(vault, author, "journal.md", "Looked.") == vault.head


def test_an_exchange_can_be_stopped(vault: Vault, author: Author, hole: int) -> None:
    """While an exchange hangs, runs commit; when the daemon ends, it ends."""
    stop, ends = threading.Event(), list[str]()

    def exchange() -> None:
        try:
            sync_of(vault, f"git://127.0.0.1:{hole}/x.git").run(stop=stop)
        except SyncFailed as failed:
            ends.append(failed.reason)

    thread = threading.Thread(target=exchange)
    thread.start()
    assert noted(vault, author, "journal.md", "Looked.") == vault.head
    stop.set()
    thread.join(20)
    assert ends == ["stopped"]
