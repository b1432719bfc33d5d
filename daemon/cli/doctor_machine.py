"""The doctor's checks of the machine: what every agent here stands on.  They change nothing."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import daemon
from daemon.cli.doctor_finding import Finding

OUR_NAMES: Final = ("daemon", "vault", "guards")
OLDEST_PYTHON: Final = (3, 11)
CHILD_SECONDS: Final = 60.0
_LOADS_LLAMA: Final = "import llama_cpp; llama_cpp.llama_backend_init(); print(llama_cpp.__version__)"


def python(version: Sequence[int] = sys.version_info[:3]) -> Finding:
    """Say whether this Python is new enough."""
    shown = ".".join(map(str, version))
    if tuple(version[:2]) < OLDEST_PYTHON:
        return Finding("python", "fail", f"Python {shown} is too old", "use Python 3.11 or newer")
    return Finding("python", "ok", f"{platform.python_implementation()} {shown} at {sys.executable}")


def import_names(ours: Path = Path(daemon.__file__).parents[1], rivals: Sequence[str] = ("python-daemon",)) -> Finding:
    """Say whether the generic import names belong to trimtab here, and to nobody else."""
    fix = "give trimtab an environment of its own, without packages of these names"
    for name in OUR_NAMES:
        spec = importlib.util.find_spec(name)
        where = Path(spec.origin).parents[1] if spec is not None and spec.origin else None
        if where != ours:
            return Finding("import names", "fail", f"`{name}` is {where or 'nowhere'}, not trimtab's in {ours}", fix)
    for rival in rivals:
        try:
            importlib.metadata.distribution(rival)
        except importlib.metadata.PackageNotFoundError:
            continue
        return Finding("import names", "fail", f"the package {rival} is installed here and claims the same name", fix)
    return Finding("import names", "ok", f"{', '.join(OUR_NAMES)} are trimtab's, in {ours}")


def llama(interpreter: str = sys.executable) -> Finding:
    """Say whether llama.cpp loads, in a child process because a bad library can end the one that loads it."""
    fix = "`make setup` in the checkout builds it; an agent that only calls servers can do without"
    try:
        done = subprocess.run(
            [interpreter, "-P", "-c", _LOADS_LLAMA], capture_output=True, text=True, check=False, timeout=CHILD_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as wrong:
        return Finding("llama.cpp", "fail", f"does not load: {wrong}", fix)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return Finding("llama.cpp", "fail", f"does not load: {last[:200]}", fix)
    return Finding("llama.cpp", "ok", f"llama-cpp-python {done.stdout.strip()} loads")


def shipped_model(path: Path, sha256: str) -> Finding:
    """Say whether the model that came with trimtab is whole."""
    fix = "install trimtab again"
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as wrong:
        return Finding("shipped model", "fail", f"{path}: {wrong.strerror}", fix)
    if found != sha256:
        return Finding("shipped model", "fail", f"{path.name} has another checksum than it was shipped with", fix)
    return Finding("shipped model", "ok", f"{path.name}, checksum as shipped")


def git(found: str | None = None) -> Finding:
    """Say whether a person can review the vault with plain git."""
    where = found or shutil.which("git")
    if where is None:
        return Finding("git", "warn", "there is no git command", "install git to review the vault with it")
    return Finding("git", "ok", where)


def clock(now: datetime, newest: datetime, zone: str = "Europe/Berlin") -> Finding:
    """Say whether the clock can be right, `newest` being a moment that is surely past, and time zones are known."""
    try:
        ZoneInfo(zone)
    except ZoneInfoNotFoundError:
        return Finding("clock", "fail", f"the time zone {zone} is not known", "install tzdata")
    if now < newest - timedelta(minutes=5):
        text = f"the clock says {now:%Y-%m-%d %H:%M} UTC, but files here are from {newest:%Y-%m-%d %H:%M}"
        return Finding("clock", "fail", text, "set the clock; heartbeats follow it")
    return Finding("clock", "ok", f"{now.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC, time zones known")


def unit(name: str, booted: Path = Path("/run/systemd/system"), systemctl: Sequence[str] = ("systemctl",)) -> Finding:
    """Say what systemd knows of the agent's unit."""
    if not booted.is_dir():
        return Finding("systemd unit", "ok", "this machine does not run systemd")
    service = f"trimtab@{name}"
    facts = _shown([*systemctl, "show", service]) or _shown([*systemctl, "--user", "show", service])
    if not facts:
        return Finding("systemd unit", "warn", f"{service} is not installed", "`trimtab service install` makes it one")
    state = f"{service} is {facts.get('ActiveState', 'unknown')}"
    if facts.get("ActiveState") == "failed":
        fix = f"read `journalctl -u {service} -e`, mend that, then `systemctl reset-failed {service}` and start it"
        return Finding("systemd unit", "fail", f"{state} ({facts.get('Result')})", fix)
    if facts.get("ActiveState") != "active":
        return Finding("systemd unit", "warn", state, f"`systemctl enable --now {service}` starts it")
    return Finding("systemd unit", "ok", f"{state}, restarted {facts.get('NRestarts', '0')} times")


def _shown(command: Sequence[str]) -> dict[str, str]:
    """Return what systemd says of a unit that is installed, nothing of one that is not."""
    wanted = "--property=LoadState,ActiveState,Result,NRestarts"
    try:
        done = subprocess.run([*command, wanted], capture_output=True, text=True, check=False, timeout=CHILD_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    facts = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    return facts if facts.get("LoadState") == "loaded" else {}
