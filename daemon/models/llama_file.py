"""Which file a local model is: the shipped one, a path, or a file of a Hugging Face repository, and whether it is that.

It looks at the outside of a file only (there, a GGUF, the right checksum); what is inside is for the child process.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from daemon.errors import ConfigError, ModelUnavailable

Tell = Callable[[int, int], None]
"""Called with (bytes so far, bytes in all) while a file is fetched; 0 in all when that is not known."""

_HUB = re.compile(r"hf:([\w.-]+/[\w.-]+)/((?:[\w.+-]+/)*[\w.+-]+\.gguf)")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a model file is, where it can be fetched from ((repository, file), or None), and what it must be."""

    path: Path
    hub: tuple[str, str] | None
    sha256: str | None


def locate(path: str, sha256: str | None, home: Path, key: str) -> Source:
    """Return what the `path` of a model's settings means; `key` names it in the ConfigError when it means nothing."""
    if path == "shipped":
        from daemon.models import shipped

        return Source(shipped.PATH, None, shipped.SHA256)
    if path.startswith("hf:"):
        named = _HUB.fullmatch(path)
        if named is None or ".." in path:
            raise ConfigError("trimtab.toml", key, f"expected hf:owner/repository/file.gguf, not {path!r}")
        return Source(home / "models" / named[1] / named[2], (named[1], named[2]), sha256)
    return Source((home / Path(path).expanduser()).absolute(), None, sha256)


def examine(source: Source) -> str:
    """Return the file's SHA-256.  Raises ConfigError with one line when it cannot be a model file, or not this one."""
    path = source.path
    with _opened(path) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if source.sha256 and digest != source.sha256.lower():
        raise ConfigError(path, "sha256", f"expected {source.sha256.lower()}, found {digest}: the file is not that one")
    return digest


def glance(source: Source) -> None:
    """Raise ConfigError when there is plainly no model file; one of the hub may still have to be fetched."""
    if source.hub is None:
        with _opened(source.path):
            pass


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BufferedReader]:
    """Open what begins like a GGUF file.  Raises ConfigError."""
    if path.is_dir():
        raise ConfigError(path, "", "expected a GGUF model file, found a directory")
    try:
        with path.open("rb") as file:
            start = file.read(8)
            if start[:4] != b"GGUF":
                found = "an empty file" if not start else f"a file that begins with {start[:4]!r}"
                raise ConfigError(path, "", f"expected a GGUF model file, found {found}")
            file.seek(0)
            yield file
    except FileNotFoundError:
        raise ConfigError(path, "", "expected a GGUF model file, found nothing there") from None
    except OSError as fault:
        raise ConfigError(path, "", f"expected a readable GGUF model file: {fault.strerror}") from fault


async def fetch(source: Source, tell: Tell) -> None:
    """Fetch a file of the hub to its place, in a process of its own that ends with the wait for it.

    Raises ModelUnavailable with one line when it cannot be had now.
    """
    assert source.hub is not None
    repository, name = source.hub
    folder = source.path.parents[name.count("/")]
    folder.mkdir(parents=True, exist_ok=True)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "daemon.models.llama_fetch", repository, name, str(folder),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    last: dict[str, str] = {}
    try:
        assert process.stdout is not None
        async for line in process.stdout:
            report = json.loads(line)
            if "done" in report:
                tell(report["done"], report["total"])
            else:
                last = report
        await process.wait()
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode != 0:
        raise ModelUnavailable(
            f"{repository}/{name} could not be fetched: {last.get('error', 'the download broke off')}"
        )
