"""Exchanges over http on loopback: a token, an expired one, a redirect, noise."""

from __future__ import annotations

import base64
import contextlib
import http.server
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.vault.remotes import both_ways, noted, sync_of
from vault import Author, Vault
from vault.address import Access, basic
from vault.transport import SyncFailed

NOW = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
TOKEN = "s3cr3t-t0k3n"


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
