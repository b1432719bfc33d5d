"""Server-sent events out of bytes, however the network cut them.  Knows nothing of what the events say.

Lines end only where the format says (httpx's own line splitting also cuts at U+2028 and friends, which JSON may hold).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_MOST_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its name ("message" when the server gave none) and its data."""

    name: str
    data: str


class Events:
    """Feed it bytes, take events; bounded, so that a server without line ends cannot fill the memory."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._name, self._data = "", list[str]()
        self._held = 0
        self._first = True

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """Yield the events that end in `chunk`.  Raises ValueError when one event is larger than 8 MiB."""
        self._rest += chunk
        *lines, rest = self._rest.split(b"\n")
        self._rest = rest
        for line in lines:
            self._held += len(line)
            if self._held > _MOST_BYTES:
                break
            if event := self._line(line.removesuffix(b"\r").decode("utf-8", "replace")):
                yield event
        if self._held + len(self._rest) > _MOST_BYTES:
            raise ValueError(f"one event of more than {_MOST_BYTES:,} bytes")

    def end(self) -> Iterator[Event]:
        """Yield the event that no blank line followed; half a line is dropped, because nobody knows the other half."""
        if event := self._line(""):
            yield event

    def _line(self, line: str) -> Event | None:
        if self._first:
            self._first, line = False, line.removeprefix("\ufeff")
        if not line:
            name, data = self._name or "message", self._data
            self._name, self._data, self._held = "", [], 0
            return Event(name, "\n".join(data)) if data else None
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        return None
