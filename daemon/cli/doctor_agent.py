"""The doctor's checks of one agent directory: what is in it, and who works with it now.  They mend nothing."""

from __future__ import annotations

import asyncio
import http.client
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from daemon.cli.doctor_finding import Finding
from daemon.control import ask
from daemon.errors import ConfigError, TrimtabError
from daemon.heartbeat.folder import Folder
from daemon.home import Home
from daemon.observe.server import Server
from daemon.plugging import checked, tools_of, unread
from daemon.settings import Settings
from daemon.stages import Model
from guards import GUARDS

FULL_BYTES: Final = 100 * 1024 * 1024
TIGHT_BYTES: Final = 1024 * 1024 * 1024
MODEL_SECONDS: Final = 120.0
STALE_SECONDS: Final = 60.0
ANSWER_SECONDS: Final = 3.0
_LOOKS = 2  # a file counts when two looks in a row see the same


def directory(home: Home) -> Finding:
    """Say whether the directory can be written, by its owner."""
    try:
        with tempfile.TemporaryFile(dir=home.path):
            pass
        owner = home.path.stat().st_uid
    except OSError as wrong:
        return Finding("directory", "fail", f"{home.path} cannot be written: {wrong.strerror}", f"`chown` {home.path}")
    if owner != os.geteuid():
        fix = "work as the user that the agent runs as (sudo -u), or files of another owner will come about"
        return Finding("directory", "warn", f"{home.path} belongs to another user (uid {owner}) than you", fix)
    return Finding("directory", "ok", f"{home.path} can be written")


def disk(home: Home, usage: Callable[[Path], Any] = shutil.disk_usage) -> Finding:
    """Say whether there is space left to remember in."""
    free = usage(home.path).free
    shown = f"{free / 1024**3:.1f} GiB free" if free >= TIGHT_BYTES else f"{free // 1024**2} MiB free"
    if free >= TIGHT_BYTES:
        return Finding("disk", "ok", shown)
    return Finding(
        "disk", "fail" if free < FULL_BYTES else "warn", shown, f"free some space on the disk of {home.path}"
    )


def database(home: Home) -> Finding:
    """Say whether the database is of this version and whole."""
    from daemon.trajectories.connection import connect, explained
    from daemon.trajectories.schema import SCHEMA, check

    if not home.database.exists():
        return Finding("database", "ok", "not made yet; the first run makes it")
    fix = "move it away to start with an empty one, or put a backup back"
    try:
        with explained(home.database):
            connection = connect(home.database, read_only=True)
            try:
                found = check(connection, home.database)
                (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            finally:
                connection.close()
    except (TrimtabError, sqlite3.Error) as wrong:
        return Finding("database", "fail", str(wrong), fix)
    if verdict != "ok":
        return Finding("database", "fail", f"{home.database.name} is damaged: {verdict}", fix)
    if found < SCHEMA.head:
        return Finding("database", "ok", f"schema {found}; the next start brings it to {SCHEMA.head}")
    return Finding("database", "ok", f"schema {found}, whole, {home.database.stat().st_size / 1024**2:.1f} MiB")


def heartbeats(folder: Folder) -> Finding:
    """Say whether every heartbeat file can be read."""
    for _ in range(_LOOKS):
        folder.look()
    problems = [folder.problem] if folder.problem else list(folder.problems.values())
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return Finding("heartbeats", "fail", f"{problems[0]}{more}", "mend the file; the daemon sees it at once")
    if not folder.heartbeats:
        return Finding("heartbeats", "warn", f"there is none in {folder.path}", "write one, such as host-watch.md")
    paused = sum(heartbeat.paused for heartbeat in folder.heartbeats.values())
    return Finding("heartbeats", "ok", f"{len(folder.heartbeats)}, of which {paused} paused")


def tools(settings: Settings) -> Finding:
    """Say whether every tool is as the file says."""
    try:
        return Finding("tools", "ok", ", ".join(tools_of(settings)))
    except ConfigError as wrong:
        return Finding("tools", "fail", str(wrong), "mend the line; the agent does not start before")


def guards(settings: Settings) -> Finding:
    """Say whether the guards, and what they read of calls, are as the file says: the same lines as at a start."""
    if tools(settings).level == "fail":
        return Finding("guards", "warn", "not checked: the tools come first", "see the tools' line")
    try:
        lines = unread(checked(settings), settings)
    except ConfigError as wrong:
        return Finding("guards", "fail", str(wrong), "mend the line; the agent does not start before")
    if lines:
        more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
        return Finding("guards", "warn", f"{lines[0]}{more}", "mend the name, or nothing is read under it")
    off = [name for name, table in settings.guards.items() if table.get("enabled") is False]
    said = f"{len(GUARDS) - len(off)} watch"
    return Finding("guards", "ok", f"{said}; switched off: {', '.join(off)}" if off else said)


def model(name: str, one: Model) -> Finding:
    """Say whether a configured model is ready."""

    async def checked() -> str:
        try:
            return await asyncio.wait_for(one.check(), MODEL_SECONDS)
        finally:
            await one.close()

    try:
        return Finding(f"model {name}", "ok", asyncio.run(checked()))
    except TimeoutError:
        return Finding(f"model {name}", "fail", f"no answer in {MODEL_SECONDS:.0f} s", f"see [models.{name}]")
    except TrimtabError as wrong:
        return Finding(f"model {name}", "fail", str(wrong), f"see [models.{name}] in trimtab.toml")


def daemon(home: Home) -> Finding:
    """Say who holds the directory, and whether that daemon does its work."""
    paused = home.paused()
    if not home.running():
        if paused is not None:
            return Finding("daemon", "warn", f"not running, and paused: {paused}", "`trimtab resume` ends the pause")
        return Finding("daemon", "ok", "not running; nobody holds the directory")
    holder = f"process {home.holder()} holds the directory"
    try:
        status: Mapping[str, Any] | None = asyncio.run(ask(home.socket, {"do": "status"}, ANSWER_SECONDS))
    except (TrimtabError, TimeoutError) as wrong:
        return Finding("daemon", "fail", f"{holder} and does not answer: {wrong}", "look at its log; restart it")
    if status is None:
        return Finding(
            "daemon", "warn", f"{holder} and takes no requests", "a command is running, or it is just starting"
        )
    age = float(status.get("tick_age_seconds", 0.0))
    if age > STALE_SECONDS:
        return Finding("daemon", "fail", f"{holder}, but has looked for no due work for {age:.0f} s", "restart it")
    if paused is not None:
        return Finding("daemon", "warn", f"{holder}, but is paused: {paused}", "`trimtab resume` ends the pause")
    return Finding("daemon", "ok", f"{holder} and looked for due work {age:.0f} s ago")


def metrics(home: Home, host: str, port: int) -> Finding:
    """Say whether the metrics answer, or can: a daemon that runs must answer, otherwise the port must be free."""
    if port == 0:
        return Finding("metrics", "ok", "on any free port")
    if home.running() and home.socket.exists():
        return _answering(host, port)

    async def listen() -> None:
        async with Server({}).listening(host, port, file=home.settings):
            return

    try:
        asyncio.run(listen())
    except ConfigError as wrong:
        return Finding("metrics", "fail", str(wrong), "give this agent a port of its own under [metrics]")
    return Finding("metrics", "ok", f"{host}:{port} is free")


def _answering(host: str, port: int) -> Finding:
    fix = "compare [metrics] in trimtab.toml with what the daemon was started with; restart it after a change"
    connection = http.client.HTTPConnection(host, port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", "/metrics")
        ours = b"trimtab_build_info" in connection.getresponse().read()
    except (OSError, http.client.HTTPException) as wrong:
        return Finding("metrics", "fail", f"{host}:{port} does not answer: {wrong}", fix)
    finally:
        connection.close()
    if not ours:
        return Finding("metrics", "fail", f"{host}:{port} is another program's", fix)
    return Finding("metrics", "ok", f"{host}:{port} answers")
