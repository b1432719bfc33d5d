"""The same exchanges over the git protocol, ssh and http on loopback, and remotes that hang, refuse or lie."""

from __future__ import annotations

import base64
import contextlib
import http.server
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.vault.test_sync import log, noted, pushed, review_of, run
from vault import Author, Vault
from vault.address import Access, basic, ssh_command
from vault.sync import Remote, Sync, Synced
from vault.transport import Limits, SyncFailed

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


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """An empty bare repository that git daemon and http-backend may serve, also to write."""
    run("git", "init", "-q", "--bare", "--initial-branch=main", "served.git", cwd=tmp_path)
    for key, value in (("daemon.receivepack", "true"), ("http.receivepack", "true")):
        run("git", "config", key, value, cwd=tmp_path / "served.git")
    (tmp_path / "served.git/git-daemon-export-ok").touch()
    return tmp_path / "served.git"


def sync_of(vault: Vault, url: str, access: Access | None = None, seconds: float = 30) -> Sync:
    """The vault's exchanges with an address."""
    return Sync(vault, Remote(url, "main", access or Access(), Limits(seconds)), review_of(vault), lambda: NOW)


def both_ways(vault: Vault, sync: Sync, bare: Path, author: Author) -> None:
    """Push, write on both sides, exchange again, and find both on both sides."""
    assert sync.run() == Synced(pushed=1)
    laptop = vault.root.parent / "laptop"
    run("git", "clone", "-q", bare, laptop, cwd=vault.root.parent)
    for key, value in (("user.name", "Ann Lee"), ("user.email", "ann@example.org")):
        run("git", "config", key, value, cwd=laptop)
    pushed(laptop, "plan.md", "# Plan\n")
    noted(vault, author, "journal.md", "Looked.")

    done = sync.run()

    assert (done.taken, done.pushed) == (1, 1)
    assert (vault.root / "plan.md").read_text() == "# Plan\n"
    assert log(bare)[1:] == ["Ann Lee: write plan.md", "trimtab: note journal.md"]


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


class Backend(http.server.BaseHTTPRequestHandler):
    """git http-backend behind a password, as a hosting service has it."""

    root = Path()
    heard: list[str]

    def do_GET(self) -> None:
        """Serve a request, or ask for the password."""
        given = self.headers.get("Authorization", "")
        self.heard.append(given)
        if given != "Basic " + base64.b64encode(f"agent:{TOKEN}".encode()).decode():
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        facts = {
            "GIT_PROJECT_ROOT": str(self.root), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
            "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "REMOTE_USER": "agent", "REMOTE_ADDR": "127.0.0.1",
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }  # fmt: skip
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        environment = {**os.environ, **facts}
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=environment, check=False)
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        status = re.search(rb"^Status: (\d+)", head, re.MULTILINE)
        self.send_response(int(status[1]) if status else 200)
        for line in head.decode().splitlines():
            name, _, value = line.partition(": ")
            if name.lower() != "status":
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(rest)

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def answering(handler: type[http.server.BaseHTTPRequestHandler]) -> Iterator[int]:
    """An http server on loopback; its port."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield int(server.server_address[1])
        finally:
            server.shutdown()
            thread.join()


def test_over_http_with_a_token(vault: Vault, bare: Path, author: Author) -> None:
    """A token opens the remote and stands nowhere; one that has expired is told as such, without it."""
    handler = type("Served", (Backend,), {"root": bare.parent, "heard": []})
    with answering(handler) as port:
        url = f"http://127.0.0.1:{port}/served.git"
        both_ways(vault, sync_of(vault, url, Access(basic("agent", TOKEN))), bare, author)
        noted(vault, author, "journal.md", "Again.", "02RUN")
        with pytest.raises(SyncFailed) as failed:
            sync_of(vault, url, Access(basic("agent", "expired"))).run()
        with pytest.raises(SyncFailed) as nothing:
            sync_of(vault, url).run()

    assert (failed.value.reason, nothing.value.reason) == ("credentials", "credentials")
    secret = base64.b64encode(f"agent:{TOKEN}".encode()).decode()
    assert TOKEN not in repr(Access(basic("agent", TOKEN)))
    for file in (vault.root / ".git").rglob("*"):
        if file.is_file():
            assert secret.encode() not in file.read_bytes()
            assert TOKEN.encode() not in file.read_bytes()


def test_a_redirect_gets_no_token(vault: Vault) -> None:
    """A remote that sends us elsewhere is not followed, so that no other host hears the token."""
    heard: list[str] = []

    class Elsewhere(Backend):
        """Where the token must not arrive."""

        def do_GET(self) -> None:
            """Note what was heard."""
            heard.append(self.headers.get("Authorization", ""))
            self.send_error(404)

    with answering(Elsewhere) as there:

        class Redirect(Backend):
            """Sends everybody away."""

            def do_GET(self) -> None:
                """Redirect."""
                self.send_response(302)
                self.send_header("Location", f"http://127.0.0.1:{there}{self.path}")
                self.end_headers()

        with answering(Redirect) as port, pytest.raises(SyncFailed):
            sync_of(vault, f"http://127.0.0.1:{port}/x.git", Access(basic("agent", TOKEN))).run()
    assert heard == []


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


def test_a_remote_that_talks_nonsense(vault: Vault) -> None:
    """A server that answers with megabytes of noise or terminal escapes gives one clean line."""

    class Noise(Backend):
        """Says a lot."""

        def do_GET(self) -> None:
            """Answer with what looks like a protocol and is none."""
            self.send_response(200)
            self.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(b"001e# service=git-upload-pack\n0000" + b"\x1b[31mffff" * 400_000)

    with answering(Noise) as port, pytest.raises(SyncFailed) as failed:
        sync_of(vault, f"http://127.0.0.1:{port}/x.git").run()
    assert str(failed.value).isprintable()
    assert len(str(failed.value)) < 300


def test_kills_during_exchanges_lose_nothing(vault: Vault, bare: Path, author: Author, tmp_path: Path) -> None:
    """Killed at any moment of an exchange, the vault is whole, and the next exchange brings both sides together."""
    import random

    sync = sync_of(vault, str(bare))
    sync.run()
    laptop = tmp_path / "laptop"
    run("git", "clone", "-q", bare, laptop, cwd=tmp_path)
    for key, value in (("user.name", "Ann Lee"), ("user.email", "ann@example.org")):
        run("git", "config", key, value, cwd=laptop)
    script = (
        "import sys; from tests.vault.test_sync_wire import sync_of; from vault import Vault\n"
        "print('on', flush=True); sync_of(Vault.open(sys.argv[1]), sys.argv[2]).run()\n"
    )
    chance, environment = random.Random(4), {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    for number in range(8):
        pushed(laptop, f"ann-{number}.md", f"{number}\n")
        noted(vault, author, "journal.md", f"Look {number}.", f"{number}RUN")
        with subprocess.Popen(
            [sys.executable, "-c", script, str(vault.root), str(bare)], stdout=subprocess.PIPE, env=environment
        ) as child:
            assert child.stdout is not None
            child.stdout.readline()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(chance.uniform(0, 0.6))
            child.kill()
        Vault.open(vault.root).close()
        assert "missing" not in run("git", "fsck", "--full", cwd=vault.root)
        for _ in range(50):  # a git of the killed exchange may still be pushing
            with contextlib.suppress(SyncFailed):
                sync.run()
                break
            time.sleep(0.1)
        run("git", "pull", "-q", "--ff-only", "origin", "main", cwd=laptop)
    assert sorted(each.name for each in vault.root.glob("ann-*.md")) == [f"ann-{n}.md" for n in range(8)]
    assert (laptop / "journal.md").read_text().splitlines() == [f"Look {n}." for n in range(8)]
    assert run("git", "status", "--porcelain", cwd=vault.root) == ""
