"""Failed units and recent errors, asked of systemd's own programs.  Where systemd does not run, nothing is started."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from daemon.tools.host_facts import MOST_ERRORS, Errors

_RUNNING = Path("/run/systemd/system")
_SECONDS, _MOST_COUNTED = 5.0, 2_000
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
    "LC_ALL": "C.UTF-8",
    "SYSTEMD_COLORS": "0",
    "SYSTEMD_PAGER": "",
}
_NOT_READABLE = ("no journal files", "not seeing messages", "permission")


def failed_units() -> Sequence[str] | None:
    """Return the names of the failed units, None where systemd does not answer."""
    if not _RUNNING.is_dir():
        return None
    answer = _ask("systemctl", "list-units", "--failed", "--plain", "--no-legend", "--no-pager", "--full")
    return None if answer is None else units_in(answer[0])


def errors() -> Errors | None:
    """Return the journal's errors of the last hour, None where it is not readable by this user."""
    if not _RUNNING.is_dir():
        return None
    answer = _ask(
        "journalctl", "--since=-1h", "--priority=err", "--output=json", "--no-pager", f"--lines={_MOST_COUNTED}",
        "--output-fields=MESSAGE,SYSLOG_IDENTIFIER,_SYSTEMD_UNIT",
    )  # fmt: skip
    if answer is None or any(sign in answer[1].lower() for sign in _NOT_READABLE):
        return None
    return errors_in(answer[0])


def units_in(listing: str) -> Sequence[str]:
    """Return the unit names of a plain `systemctl list-units`."""
    return [line.split()[0] for line in listing.splitlines() if line.strip()]


def errors_in(journal: str) -> Errors:
    """Return the errors of a journal in JSON lines, oldest first as journalctl prints them."""
    lines = [line for line in journal.splitlines() if line.startswith("{")]
    newest = tuple(_error(line) for line in reversed(lines[-MOST_ERRORS:]))
    return Errors(len(lines), newest, more=len(lines) >= _MOST_COUNTED)


def _error(line: str) -> tuple[str, str]:
    try:
        entry = json.loads(line)
    except ValueError:
        return "journal", "an entry that cannot be read"
    unit = str(entry.get("_SYSTEMD_UNIT") or entry.get("SYSLOG_IDENTIFIER") or "unknown").removesuffix(".service")
    text = entry.get("MESSAGE")
    if isinstance(text, list):  # journald gives bytes that are no text as a list of numbers
        text = bytes(value for value in text if isinstance(value, int) and 0 <= value < 256).decode("utf-8", "replace")
    return unit, str(text or "")


def _ask(*command: str) -> tuple[str, str] | None:
    try:
        done = subprocess.run(
            command, env=_ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    return done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
