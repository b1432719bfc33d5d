"""Which file a model is, and whether it is that: from the outside, without llama.cpp."""

from __future__ import annotations

import asyncio
import hashlib
import http.server
import threading
from pathlib import Path

import pytest
from pydantic import ValidationError

from daemon.errors import ConfigError, ModelUnavailable
from daemon.models import shipped
from daemon.models.llama_cpp import LlamaCpp
from daemon.models.llama_file import examine, locate

KEY = "models.local.path"


def test_the_shipped_file_is_what_its_checksum_says() -> None:
    """The file in the package is the one whose checksum is written beside it; no setting replaces that checksum."""
    source = locate("shipped", "0" * 64, Path("home"), KEY)

    assert examine(source) == shipped.SHA256
    assert source.path.name == f"{shipped.NAME}.gguf"


def test_paths_are_relative_to_the_agent_directory(tmp_path: Path) -> None:
    """A relative path begins at the agent directory, an absolute one stands, and a hub file lives below `models/`."""
    assert locate("models/a.gguf", None, tmp_path, KEY).path == tmp_path / "models/a.gguf"
    assert locate("/srv/a.gguf", None, tmp_path, KEY).path == Path("/srv/a.gguf")
    hub = locate("hf:owner/repo/sub/a.gguf", None, tmp_path, KEY)
    assert (hub.path, hub.hub) == (tmp_path / "models/owner/repo/sub/a.gguf", ("owner/repo", "sub/a.gguf"))


@pytest.mark.parametrize("path", ["hf:", "hf:owner/repo", "hf:a/b/c.bin", "hf:../../x/y.gguf", "hf:a/b/../../c.gguf"])
def test_a_hub_path_that_is_none_is_one_line(tmp_path: Path, path: str) -> None:
    """A hub path of another form, or one that leads elsewhere, is refused with the key and the form."""
    with pytest.raises(ConfigError, match=r"trimtab.toml: models.local.path: expected hf:owner/repository/file.gguf"):
        locate(path, None, tmp_path, KEY)


@pytest.mark.parametrize(
    ("content", "found"),
    [(None, "nothing there"), (b"", "an empty file"), (b"hello", "a file that begins with b'hell'")],
)
def test_what_is_no_model_is_one_line(tmp_path: Path, content: bytes | None, found: str) -> None:
    """A missing, empty or foreign file is answered with its name, what was expected and what was found."""
    file = tmp_path / "x.gguf"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(ConfigError) as wrong:
        examine(locate("x.gguf", None, tmp_path, KEY))
    assert str(wrong.value) == f"{file}: expected a GGUF model file, found {found}"


def test_a_directory_is_no_model(tmp_path: Path) -> None:
    """A directory in place of the file is named as one."""
    with pytest.raises(ConfigError, match="found a directory"):
        examine(locate(".", None, tmp_path, KEY))


def test_a_checksum_is_held_to(tmp_path: Path) -> None:
    """A file with the stated checksum is accepted in either case of letters, another one is refused with both."""
    (tmp_path / "x.gguf").write_bytes(b"GGUF and more")
    right = hashlib.sha256(b"GGUF and more").hexdigest()

    assert examine(locate("x.gguf", right.upper(), tmp_path, KEY)) == right
    with pytest.raises(ConfigError, match=f"sha256: expected {'0' * 64}, found {right}"):
        examine(locate("x.gguf", "0" * 64, tmp_path, KEY))


def test_a_hub_file_that_is_here_needs_no_network(tmp_path: Path) -> None:
    """What was fetched before is used without asking the hub."""
    file = tmp_path / "models/o/r/x.gguf"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"GGUF and more")
    model = LlamaCpp("local", LlamaCpp.Options(path="hf:o/r/x.gguf"), tmp_path)

    assert asyncio.run(model.pull(lambda done, total: None)) == file


def test_a_fetch_that_fails_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a hub to talk to the model is unavailable, in one line that names the file."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    model = LlamaCpp("local", LlamaCpp.Options(path="hf:owner/repo/x.gguf"), tmp_path)

    async def check() -> None:
        try:
            await model.check()
        finally:
            await model.close()

    with pytest.raises(ModelUnavailable, match=r"owner/repo/x.gguf could not be fetched: no network") as wrong:
        asyncio.run(check())
    assert "\n" not in str(wrong.value)


class _Hub(http.server.BaseHTTPRequestHandler):
    """Answers for one file as the hub does: its commit and tag in headers, then its bytes."""

    body = b"GGUF" + bytes(300_000)

    def do_HEAD(self) -> None:
        self.send_response(200 if self.path.endswith("/resolve/main/x.gguf") else 404)
        for name, value in (("ETag", '"abc123"'), ("X-Repo-Commit", "c" * 40), ("Content-Length", str(len(self.body)))):
            self.send_header(name, value)
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_file_is_fetched_to_its_place_with_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub file that is not here is fetched, verified against its checksum, and used without the hub afterwards."""
    told: list[tuple[int, int]] = []
    digest = hashlib.sha256(_Hub.body).hexdigest()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Hub) as hub:
        threading.Thread(target=hub.serve_forever, daemon=True).start()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{hub.server_port}")
        model = LlamaCpp("local", LlamaCpp.Options(path="hf:owner/repo/x.gguf", sha256=digest), tmp_path)
        path = asyncio.run(model.pull(lambda done, total: told.append((done, total))))
        hub.shutdown()

    assert path == tmp_path / "models/owner/repo/x.gguf"
    assert path.read_bytes() == _Hub.body
    assert told[-1] == (len(_Hub.body), len(_Hub.body))
    assert asyncio.run(model.pull(lambda done, total: None)) == path


@pytest.mark.parametrize(
    "bad", [{"temperature": -1}, {"sha256": "abc"}, {"context": 1}, {"grammar": "maybe"}, {"x": 1}]
)
def test_settings_that_make_no_sense_are_refused(bad: dict[str, object]) -> None:
    """Options are checked when they are read, not when they are used."""
    with pytest.raises(ValidationError):
        LlamaCpp.Options.model_validate(bad)
