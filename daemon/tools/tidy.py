"""The `tidy` tool: names one thing in the notes that could be tidied, and how; the `vault` tool does it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar

from daemon.errors import ToolError
from daemon.tools.base import Setting, Tool
from daemon.types import ToolSpec
from vault import VaultError

NOTHING = "Nothing to tidy."


class Tidy(Tool):
    """Looks for doubles, pages of the journal that are not summed up, and links to no note."""

    name: ClassVar[str] = "tidy"

    def spec(self) -> ToolSpec:
        """Return what the model is told."""
        parameters = {"type": "object", "properties": {}, "additionalProperties": False}
        about = "Names one thing to tidy in your notes and says how. Do it with the vault tool, nothing else."
        return ToolSpec("tidy", about, parameters, timeout_seconds=60.0)

    async def run(self, args: Mapping[str, Any], setting: Setting) -> str:
        """Return the first job, or that there is none."""
        try:
            return await asyncio.to_thread(setting.draft.to_tidy, setting.local.date()) or NOTHING
        except VaultError as refused:
            raise ToolError(str(refused)) from None
