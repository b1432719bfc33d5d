"""What is written down of a vault's exchanges with one remote: what it has, since when, why a later one failed."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from vault.durable import put_durably
from vault.escape import one_line

_FILE: Final = "remote.json"
_LONGEST_TEXT: Final = 400


@dataclass(frozen=True, slots=True)
class Failure:
    """The last exchange, where it did not come about: `reason` is one of a few words, `text` says it in a line."""

    at: datetime
    reason: str
    text: str


class Paper:
    """The paper of one remote in a vault's own directory; another address or branch begins a new one."""

    def __init__(self, own: Path, url: str, branch: str) -> None:
        self._file = own / _FILE
        self._name = {"url": url, "branch": branch}

    def commit(self) -> str | None:
        """Return the commit that the remote had at the end of the last exchange, None before the first."""
        found = self._facts().get("commit")
        return found if isinstance(found, str) else None

    def last(self) -> datetime | None:
        """Return when an exchange last came about, None before the first."""
        return _moment(self._facts().get("at"))

    def failure(self) -> Failure | None:
        """Return why the last exchange did not come about, None where it did."""
        found = self._facts().get("failed")
        if not isinstance(found, dict) or (at := _moment(found.get("at"))) is None:
            return None
        return Failure(at, str(found.get("reason")), str(found.get("text")))

    def keep(self, commit: str, at: datetime) -> None:
        """Write down what the remote has at the end of an exchange; on the disk when this returns."""
        self._write({"commit": commit, "at": at.isoformat()})

    def keep_seen(self, commit: str) -> None:
        """Write down what the remote has in the middle of one."""
        self._write({**self._facts(), "commit": commit})

    def keep_failure(self, failure: Failure) -> None:
        """Write down why an exchange did not come about, where that can be written."""
        said = one_line(failure.text, _LONGEST_TEXT)
        with contextlib.suppress(OSError):
            self._write(
                {**self._facts(), "failed": {"at": failure.at.isoformat(), "reason": failure.reason, "text": said}}
            )

    def _facts(self) -> dict[str, Any]:
        """Return what is written, nothing where there is nothing or what is of another remote."""
        try:
            facts = dict(json.loads(self._file.read_bytes()))
        except (OSError, ValueError, TypeError):
            return {}
        return facts if self._name.items() <= facts.items() else {}

    def _write(self, facts: Mapping[str, Any]) -> None:
        put_durably(self._file, json.dumps({**facts, **self._name}).encode())


def _moment(text: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found if found.tzinfo else None
