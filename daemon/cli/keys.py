"""One key at a time from a terminal, and pages that wait for one.  Standard library only; no screen is taken over.

Keys that were pressed before a question was on the screen are thrown away: nobody approves what they have not seen.
"""

from __future__ import annotations

import os
import re
import termios
import tty
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final, TextIO

_STYLE: Final = re.compile(r"(\x1b\[[0-9;]*m)")
_MORE: Final = "-- {} of {} lines: space for more, d to decide, q to quit -- "
_PLAIN: Final = "\x1b[0m"
_ENDS: Final = {"", "\x03", "\x04"}


class Terminal:
    """A terminal that a person sits at."""

    def __init__(self, source: TextIO, target: TextIO) -> None:
        self._source, self._target = source, target
        self._handle = source.fileno()

    def say(self, line: str = "") -> None:
        """Print a line."""
        self._target.write(line + "\n")
        self._target.flush()

    def key(self, question: str, allowed: str) -> str:
        """Ask until one of the allowed keys is pressed; the end of input and Ctrl-C are `q`."""
        before = termios.tcgetattr(self._handle)
        try:
            tty.setcbreak(self._handle, termios.TCSAFLUSH)
            self._target.write(question)
            self._target.flush()
            pressed = self._pressed(allowed)
        except KeyboardInterrupt:
            pressed = "q"
        finally:
            termios.tcsetattr(self._handle, termios.TCSADRAIN, before)
        self.say(pressed if pressed.isprintable() and pressed != " " else "")
        return pressed

    def line(self, question: str) -> str:
        """Ask for a line of text; the end of input and Ctrl-C are an empty one."""
        self._target.write(question)
        self._target.flush()
        try:
            return self._source.buffer.readline().decode("utf-8", "replace").strip()
        except KeyboardInterrupt:
            self.say()
            return ""

    def page(self, lines: Sequence[str]) -> bool:
        """Show lines, a screen at a time; False when the person wants to end it all."""
        left = self._room()
        for place, line in enumerate(lines):
            rows = list(_rows(line, self._size()[0]))
            pieces = [(line, len(rows))] if len(rows) <= self._room() else [(row, 1) for row in rows]
            for piece, takes in pieces:
                if takes > left:
                    pressed = self.key(_MORE.format(place, len(lines)), " \rdq")
                    if pressed in "dq":
                        return pressed == "d"
                    left = self._room()
                self.say(piece)
                left -= takes
        return True

    def _room(self) -> int:
        return max(3, self._size()[1] - 3)

    def _size(self) -> tuple[int, int]:
        """Columns and rows, as they are now; some terminals do not know."""
        try:
            columns, rows = os.get_terminal_size(self._handle)
        except OSError:
            columns, rows = 0, 0
        return (columns or 80, rows or 24)

    def _pressed(self, allowed: str) -> str:
        while True:
            pressed = os.read(self._handle, 1).decode("ascii", "replace").lower()
            if pressed == "\x1b":
                termios.tcflush(self._handle, termios.TCIFLUSH)  # the rest of an arrow or function key
            elif pressed == "\n" and "\r" in allowed:
                return "\r"
            elif pressed in _ENDS:
                return "q"
            elif pressed in allowed:
                return pressed


def _rows(line: str, width: int) -> Iterator[str]:
    """Give the rows that a line takes on a screen; a style goes on in the next row."""
    row, column, style = list[str](), 0, ""
    for piece in _STYLE.split(line):
        if _STYLE.fullmatch(piece):
            style = "" if piece == _PLAIN else piece
            row.append(piece)
            continue
        for c in piece:
            wide = 8 - column % 8 if c == "\t" else _columns(c)
            if column and column + wide > width:
                yield "".join(row) + (_PLAIN if style else "")
                row, column = [style], 0
            row.append(c)
            column += wide
    yield "".join(row)


def _columns(c: str) -> int:
    if c.isascii():
        return 1
    if unicodedata.category(c) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1
