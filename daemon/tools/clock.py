"""The `clock` tool: the date, the time and the day of the week where the agent lives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from daemon.tools.base import Setting, Tool
from daemon.types import ToolSpec


class ClockTool(Tool):
    """Tells the time."""

    name: ClassVar[str] = "clock"

    def spec(self) -> ToolSpec:
        """Return what the model is told."""
        parameters = {"type": "object", "properties": {}, "additionalProperties": False}
        return ToolSpec(
            "clock", "The date and time now.", parameters, timeout_seconds=2.0, max_chars=100, untrusted=False
        )

    async def run(self, args: Mapping[str, Any], setting: Setting) -> str:
        """Return the run's time, such as `2026-11-20 21:17 UTC Friday`."""
        return f"{setting.local:%Y-%m-%d %H:%M} {setting.local:%Z %A}"
