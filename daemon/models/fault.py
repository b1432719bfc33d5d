"""What went wrong on the way to a provider, as one line for a person.  Pure; the texts that it is given hold no key."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

from daemon.errors import ModelUnavailable

_EXCERPT = 200
_AGAIN = frozenset({429, 500, 502, 503, 504, 529})
_ABOUT_THIS_PROMPT = frozenset({400, 404, 413, 422})


class Fault(ModelUnavailable):
    """No answer.  `again` when asking once more does nothing twice; `after` are the seconds that the server asked for.

    `provider` is False when another prompt might work at once, so that it says nothing about the provider's health;
    `status` is the HTTP status, None when there was none.
    """

    def __init__(
        self,
        line: str,
        *,
        again: bool = False,
        after: float | None = None,
        provider: bool = True,
        status: int | None = None,
    ) -> None:
        self.line, self.again, self.after, self.provider, self.status = line, again, after, provider, status
        super().__init__(line)


@dataclass(frozen=True, slots=True)
class Server:
    """Who is asked: the model's name in trimtab.toml, the host, and how its key is called (None: no key is set)."""

    name: str
    host: str
    model: str
    key: str | None

    def line(self, words: str) -> str:
        return f"{self.name}: the server at {self.host} {words}"


def refused(server: Server, status: int, headers: Mapping[str, str], text: str, now: datetime) -> Fault:
    """Return the fault for an answer that is not 200.  `text` is the start of its body, without the key."""
    said = excerpt(text)
    after = retry_after(headers.get("retry-after"), now)
    again = status in _AGAIN and headers.get("x-should-retry") != "false" and "insufficient_quota" not in text
    wait = "" if after is None else f" (it asks to wait {after:.0f} s)"
    line = server.line(f"answered {status}: {_why(server, status, headers, said)}{wait}")
    return Fault(line, again=again, after=after, provider=status not in _ABOUT_THIS_PROMPT, status=status)


def _why(server: Server, status: int, headers: Mapping[str, str], said: str) -> str:
    more = f": {said}" if said else ""
    if 300 <= status < 400:
        target = excerpt(headers.get("location", "nowhere"))
        return f"it points to {target}, which is not followed (a key goes only where the configuration says); check url"
    if status == 401:
        return f"the key in {server.key} is not accepted" if server.key else "it wants a key and api_key is not set"
    if status == 403:
        return f"{f'the key in {server.key}' if server.key else 'a call without a key'} may not do this{more}"
    if status == 404:
        return f"it does not know the model {server.model!r}, or the path is wrong; check model and url{more}"
    words = {400: "it refused the request", 413: "the prompt is too large for it", 422: "it refused the request"}
    words |= {402: "the account has no credit", 429: "too many requests, or no credit", 529: "it is overloaded"}
    return words.get(status, "it failed" if status >= 500 else "nothing useful") + more


def excerpt(text: str) -> str:
    """Return the error message inside `text`, else its start: one line of at most 200 characters without controls."""
    try:
        found = json.loads(text)
        while isinstance(found, dict) and (inner := found.get("error") or found.get("message") or found.get("detail")):
            found = inner
        text = found if isinstance(found, str) else text
    except (ValueError, RecursionError):
        pass
    line = " ".join(text.split())
    shown = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in line[:_EXCERPT])
    return shown[:_EXCERPT] + ("…" if len(line) > _EXCERPT or len(shown) > _EXCERPT else "")


def retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds that a `Retry-After` header (a number, or an HTTP date) asks for, None for nothing."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            at = parsedate_to_datetime(value)
        except (ValueError, IndexError):
            return None
        seconds = (at if at.tzinfo else at.replace(tzinfo=now.tzinfo)).timestamp() - now.timestamp()
    return max(0.0, seconds) if math.isfinite(seconds) else None
