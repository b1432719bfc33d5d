"""Where an API key comes from: the environment, a file, or a systemd credential; never the configuration itself.

The key is read anew for each request, so that a rotated one is used without a restart.  It does not protect a key from
other processes of the same user.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from daemon.errors import ConfigError

_WAYS = (
    'a table: { env = "NAME" }, { file = "PATH" } or { credential = "NAME" }; a key itself never stands in this file'
)
_ENV = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,127}")
_MOST_BYTES = 16 * 1024


class _Hidden:
    """Stands where a key may have been written, so that no error message can show it."""

    def __repr__(self) -> str:
        return "what is there now"


def _hidden_unless(pattern: re.Pattern[str]) -> BeforeValidator:
    """Hide what does not look like a name: someone may have written the key in its place."""

    def look(value: Any) -> Any:
        named = isinstance(value, str) and pattern.fullmatch(value) is not None
        return value if named or value is None else _Hidden()

    return BeforeValidator(look)


class KeySource(BaseModel):
    """Exactly one place to read a key from; a relative file is looked for in the agent directory."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    env: Annotated[str | None, _hidden_unless(_ENV)] = None
    file: str | None = None
    credential: Annotated[str | None, _hidden_unless(_NAME)] = None

    @model_validator(mode="before")
    @classmethod
    def _one_place(cls, value: Any) -> Any:
        if isinstance(value, KeySource) or _is_a_place(value):
            return value
        raise ValueError(_WAYS)

    def __str__(self) -> str:
        if self.env is not None:
            return f"${self.env}"
        return f"the file {self.file}" if self.file is not None else f"the credential {self.credential}"

    def read(self, home: Path, where: str) -> str:
        """Return the key.  Raises ConfigError with `where` as its key; the message never holds a part of the key."""
        text, missing = self._text(home)
        key = text.strip() if text is not None else ""
        if not key:
            raise ConfigError("trimtab.toml", where, missing if text is None else f"{self} is empty")
        if not key.isascii() or not key.isprintable() or " " in key:
            raise ConfigError("trimtab.toml", where, f"{self} does not hold one line with a key and nothing else")
        return key

    def _text(self, home: Path) -> tuple[str | None, str]:
        """Return what is there, or None and why there is nothing."""
        if self.env is not None:
            return os.environ.get(self.env), f"the environment variable {self.env} is not set"
        if self.file is not None:
            return _first_bytes(home, self.file, str(self))
        folder = os.environ.get("CREDENTIALS_DIRECTORY")
        if not folder:
            needs = f"a systemd unit with LoadCredential={self.credential}:PATH"
            return None, f"{self} needs {needs} ($CREDENTIALS_DIRECTORY is not set)"
        return _first_bytes(Path(folder), str(self.credential), str(self))


def _first_bytes(folder: Path, name: str, called: str) -> tuple[str | None, str]:
    try:
        with (folder / Path(name).expanduser()).open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace"), ""
    except OSError as wrong:
        return None, f"{called} cannot be read: {wrong.strerror}"
    except (RuntimeError, ValueError):  # an unknown ~user, or a character that no path has
        return None, f"{called} cannot be read: not a path"


def _is_a_place(value: Any) -> bool:
    return isinstance(value, Mapping) and len(value) == 1 and set(value) <= set(KeySource.model_fields)


def _hidden_unless_a_place(value: Any) -> Any:
    return value if value is None or isinstance(value, KeySource) or _is_a_place(value) else _Hidden()


KeyOption = Annotated[KeySource | None, BeforeValidator(_hidden_unless_a_place)]
