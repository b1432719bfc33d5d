"""Reading a transcript line by line, plain or gzip, in bounded memory; a bad row is named by its line."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from daemon.errors import UsageError
from guards.replay import Row, parse

LONGEST = 64 * 1024 * 1024
"""Bytes of one line; a longer one is a bad row and is passed over without being kept."""


class Reading:
    """The rows of one transcript.  `bad` counts the rows that were skipped, `first_bad` is the first one's line."""

    def __init__(self, file: str, *, skip_bad: bool = False) -> None:
        self.bad = 0
        self.first_bad = 0
        self._file = file
        self._skip = skip_bad

    def rows(self) -> Iterator[Row]:
        """Yield the rows.  Raises UsageError, with file and line, for what cannot be read."""
        found = 0
        for number, line in self._lines():
            try:
                row = _parse(line)
            except ValueError as wrong:
                if not self._skip:
                    raise UsageError(f"{self._file}:{number}: {wrong}") from None
                self.bad += 1
                self.first_bad = self.first_bad or number
                continue
            found += 1
            yield row
        if not found:
            bad = f" ({self.bad} bad ones skipped, the first at line {self.first_bad})" if self.bad else ""
            raise UsageError(f"{self._file}: there is no row in it{bad}; expected one JSON object a line")

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        number, begun = 0, False
        try:
            with contextlib.ExitStack() as stack:
                stream, begun = stack.enter_context(_opened(self._file)), True
                while line := stream.readline(LONGEST):
                    number += 1
                    if len(line) == LONGEST and not line.endswith(b"\n"):
                        while line and not line.endswith(b"\n"):
                            line = stream.readline(LONGEST)
                        line = b"too long"
                    if line.strip():
                        yield number, line
        except (OSError, EOFError, zlib.error) as wrong:
            why = getattr(wrong, "strerror", None) or str(wrong)
            place = f"{self._file}:{number + 1}" if begun else self._file
            raise UsageError(f"{place}: cannot be read: {why}") from None


@contextlib.contextmanager
def _opened(file: str) -> Iterator[BinaryIO | gzip.GzipFile]:
    with contextlib.ExitStack() as stack:
        plain = sys.stdin.buffer if file == "-" else stack.enter_context(Path(file).open("rb"))
        raw = plain if isinstance(plain, io.BufferedReader) else io.BufferedReader(cast("io.RawIOBase", plain))
        packed = raw.peek(2)[:2] == b"\x1f\x8b"
        yield stack.enter_context(gzip.GzipFile(fileobj=raw)) if packed else raw


def _parse(line: bytes) -> Row:
    """Return the row of a line; raises ValueError with what was expected."""
    if line == b"too long":
        raise ValueError(f"the line is longer than {LONGEST} bytes")
    try:
        value = json.loads(line.decode("utf-8-sig"))
        if b"\\ud" in line.lower():
            json.dumps(value, ensure_ascii=False).encode()
        return parse(value)
    except UnicodeEncodeError:
        raise ValueError("it holds a lone surrogate (half of a character, written as \\ud...)") from None
    except UnicodeDecodeError as wrong:
        raise ValueError(f"expected UTF-8, found the byte 0x{line[wrong.start]:02x}") from None
    except json.JSONDecodeError as wrong:
        raise ValueError(f"expected a JSON object: {wrong.msg.removesuffix(' at')} at column {wrong.colno}") from None
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
