"""Where a command works: the agent directory from `--dir`, from TRIMTAB_DIR, or the one that the person stands in."""

from __future__ import annotations

import os
from pathlib import Path

from daemon.errors import UsageError
from daemon.home import Home

VARIABLE = "TRIMTAB_DIR"


def directory_first(arguments: list[str]) -> list[str]:
    """Take `--dir DIR` out of wherever it stands among the arguments and remember it.  Raises UsageError."""
    rest: list[str] = []
    pending = iter(arguments)
    for argument in pending:
        if argument == "--":
            return [*rest, argument, *pending]
        if argument == "--dir":
            value = next(pending, None)
            if value is None:
                raise UsageError("--dir needs a directory")
            os.environ[VARIABLE] = value
        elif argument.startswith("--dir="):
            os.environ[VARIABLE] = argument.removeprefix("--dir=")
        else:
            rest.append(argument)
    return rest


def home() -> Home:
    """Return the agent directory of this command.  Raises UsageError when there is none."""
    path = Path(os.environ.get(VARIABLE) or ".").expanduser()
    found = Home(path.resolve())
    if not found.settings.exists():
        raise UsageError(
            f"{path} is not an agent directory (no trimtab.toml); `trimtab init DIR` makes one, `--dir DIR` names one"
        )
    return found
