"""Other systems' packages in a cache folder: installed from the registries that npm and pip are configured for.

Nothing is installed into the checkout or its environment, no package's own script runs, and what cannot be had is said
in one line so that the others go on.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

MINUTES = 10
"""The longest that one installation may take."""
NODE = 22
"""The oldest major version of Node that all of the packages run on."""
NODE_PACKAGE = "node-linux-{}@24.21.0"
NPM = ("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--omit=optional")
PIP = ("-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--no-compile")


class Peer(NamedTuple):
    """Another system: its packages with their versions, and the detectors that its worker offers."""

    npm: bool
    packages: tuple[str, ...]
    detectors: tuple[str, ...]


PEERS = {
    "gemini-cli": Peer(True, ("@google/gemini-cli-core@0.61.0",), ("gemini-cli",)),
    "qwen-code": Peer(True, ("@qwen-code/qwen-code@0.24.4",), ("qwen-code, all on", "qwen-code, default")),
    "hermes-agent": Peer(False, ("hermes-agent==0.19.0", "pyyaml==6.0.3"), ("hermes-agent",)),
    "openhands": Peer(
        False,
        (
            "openhands-ai==0.9.8",
            "termcolor==3.3.0",
            "json_repair==0.64.5",
            "pydantic==2.14.3",
            "pydantic_core==2.50.4",
            "annotated-types==0.8.0",
            "typing-inspection==0.4.5",
            "typing_extensions==4.16.0",
        ),
        ("openhands",),
    ),
}
"""openhands-ai 0.9.8 is the last of that name for Python 3.11; openhands-sdk needs 3.12."""


class Absent(Exception):
    """A system could not be installed or does not run; the message says why."""


def cache() -> Path:
    """Return the folder for the packages when the user names none."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trimtab" / "peers"


def version(peer: str) -> str:
    """Return the version of a system's own package."""
    return re.split("==|(?<=.)@", PEERS[peer].packages[0])[-1]


def command(peer: str, folder: Path, install: bool) -> list[str]:
    """Return the command that starts a system's worker; raises Absent when the system is not there."""
    wanted, here = PEERS[peer], Path(__file__).resolve().parent
    if wanted.npm:
        node = _node(folder, install)
        return [node, str(here / "peer_worker.mjs"), peer, str(_package(peer, wanted, folder, install))]
    packages = _package(peer, wanted, folder, install)
    code = f"import sys; sys.path[:0] = {[str(packages), str(here)]!r}; import peer_worker; peer_worker.serve({peer!r})"
    return [sys.executable, "-I", "-S", "-c", code]


def _package(name: str, wanted: Peer, folder: Path, install: bool) -> Path:
    """Return the folder of installed packages; one that other versions were installed into is made again."""
    place = folder / name
    listed, said = place / "installed", "\n".join(wanted.packages)
    if listed.is_file() and listed.read_text() == said:
        return place
    if not install:
        raise Absent(f"not in {folder}; --install gets it")
    fresh = folder / f"{name}.new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    if wanted.npm:
        _run([*NPM, "--prefix", str(fresh), *wanted.packages])
    else:
        _run([sys.executable, *PIP, "--target", str(fresh), *wanted.packages])
    (fresh / "installed").write_text(said)
    shutil.rmtree(place, ignore_errors=True)
    fresh.rename(place)
    return place


def _node(folder: Path, install: bool) -> str:
    """Return a Node that is new enough: the machine's own, or one from the registry."""
    own = shutil.which("node")
    if own and _major(own) >= NODE:
        return own
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    wanted = Peer(True, (NODE_PACKAGE.format(machine),), ())
    found = _package("node", wanted, folder, install) / "node_modules" / f"node-linux-{machine}" / "bin" / "node"
    if not found.is_file():
        raise Absent(f"the package of Node holds no {found.name}")
    return str(found)


def _major(node: str) -> int:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False, timeout=60).stdout
    found = re.match(r"v(\d+)", said)
    return int(found[1]) if found else 0


def _run(arguments: Sequence[str]) -> None:
    if shutil.which(arguments[0]) is None:
        raise Absent(f"{arguments[0]} is not on this machine (Debian: apt-get install nodejs npm)")
    try:
        subprocess.run(arguments, check=True, capture_output=True, text=True, timeout=60 * MINUTES)
    except subprocess.TimeoutExpired:
        raise Absent(f"not installed within {MINUTES} minutes") from None
    except subprocess.CalledProcessError as wrong:
        lines = [line for line in str(wrong.stderr).splitlines() if line.strip()]
        raise Absent(f"not installed: {lines[-1][:200] if lines else f'exit code {wrong.returncode}'}") from None
