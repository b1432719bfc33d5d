"""What a tool is: a name, options, a specification for the model, and one coroutine.

A tool knows its arguments and the setting of the run, nothing of models, guards or other tools.  It raises ToolError
for what the model should hear, and leaves time and size limits to the toolbox.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict

from daemon.types import ToolSpec
from vault import Draft


@dataclass(frozen=True, slots=True)
class Setting:
    """Where and when a run happens: `now` is aware, `home` is the agent directory, `draft` holds the pending notes."""

    heartbeat: str
    run: str
    now: datetime
    timezone: ZoneInfo
    draft: Draft
    home: Path

    @property
    def local(self) -> datetime:
        """The run's time on the agent's own clock."""
        return self.now.astimezone(self.timezone)


class NoOptions(BaseModel):
    """The options of a tool that has none."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Tool(ABC):
    """One hand of the agent.  An instance serves every run, one call after another or at the same time."""

    name: ClassVar[str]
    Options: ClassVar[type[BaseModel]] = NoOptions
    written: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Its arguments that hold text for a person, by its name or one of its actions ("vault.append"): guards read it."""

    def __init__(self, options: BaseModel | None = None) -> None:
        self.options = options if options is not None else self.Options()

    @abstractmethod
    def spec(self) -> ToolSpec:
        """Return what the model is told, with the limits that the toolbox holds the tool to."""

    @abstractmethod
    async def run(self, args: Mapping[str, Any], setting: Setting) -> str:
        """Do it and return the text for the model; `args` fit the schema.  Raises ToolError."""
