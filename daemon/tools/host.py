"""The `host` tool: facts of the machine that the daemon runs on.  The only place of the daemon that knows psutil."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

import psutil
from pydantic import BaseModel

from daemon.tools import host_facts as facts
from daemon.tools import systemd_facts
from daemon.tools.base import Setting, Tool
from daemon.types import ToolSpec

_NOT_A_DISK = {"squashfs", "iso9660", "tmpfs", "devtmpfs", "overlay", "ramfs", "autofs", "udf"}
_PARTS = ("load", "memory", "disks", "uptime", "units", "errors")
_PARAMETERS = {
    "type": "object",
    "properties": {"what": {"type": "string", "enum": ["all", *_PARTS], "default": "all"}},
    "additionalProperties": False,
}


class RealMachine:
    """This machine, as psutil and systemd tell it (implements host_facts.Machine)."""

    def load(self) -> tuple[tuple[float, float, float], int]:
        """Return the load averages and the number of cores."""
        return psutil.getloadavg(), psutil.cpu_count() or 1

    def memory(self) -> tuple[float, int]:
        """Return the percentage in use and the total in bytes."""
        memory = psutil.virtual_memory()
        return float(memory.percent), int(memory.total)

    def disks(self) -> Sequence[facts.Disk]:
        """Return every file system on a real disk, and the root in any case."""
        mounts = {part.mountpoint: part.device for part in psutil.disk_partitions() if part.fstype not in _NOT_A_DISK}
        mounts.setdefault("/", "root")
        found = []
        for mount, device in mounts.items():
            try:
                usage = psutil.disk_usage(mount)
            except OSError:
                continue
            if usage.total:
                found.append(facts.Disk(mount, device, float(usage.percent), usage.total, usage.free))
        return found

    def booted(self) -> float:
        """Return when the machine started, in seconds since the epoch."""
        return float(psutil.boot_time())

    def failed_units(self) -> Sequence[str] | None:
        """Return the names of the systemd units that have failed, None where systemd does not run."""
        return systemd_facts.failed_units()

    def errors(self) -> facts.Errors | None:
        """Return what the journal holds, None where it cannot be read."""
        return systemd_facts.errors()


class Host(Tool):
    """Tells how the machine is."""

    name: ClassVar[str] = "host"

    def __init__(self, options: BaseModel | None = None, machine: facts.Machine | None = None) -> None:
        super().__init__(options)
        self._machine = machine or RealMachine()

    def spec(self) -> ToolSpec:
        """Return what the model is told."""
        return ToolSpec(
            "host", "Facts of this machine: load, memory, disks, uptime, failed units, errors.", _PARAMETERS
        )

    async def run(self, args: Mapping[str, Any], setting: Setting) -> str:
        """Return the lines for one part or for all."""
        wanted = _PARTS if args["what"] == "all" else (str(args["what"]),)
        return "\n".join(await asyncio.to_thread(self._lines, wanted, setting.now))

    def _lines(self, wanted: Sequence[str], now: datetime) -> list[str]:
        machine = self._machine
        parts: Mapping[str, Callable[[], list[str]]] = {
            "load": lambda: facts.load_lines(*machine.load()),
            "memory": lambda: facts.memory_lines(*machine.memory()),
            "disks": lambda: facts.disk_lines(machine.disks()),
            "uptime": lambda: facts.uptime_lines(now - datetime.fromtimestamp(machine.booted(), UTC)),
            "units": lambda: facts.unit_lines(machine.failed_units()),
            "errors": lambda: facts.error_lines(machine.errors()),
        }
        return [line for part in wanted for line in parts[part]()]
