"""One key at a time from a terminal, and pages that wait for one.  Standard library only; no screen is taken over.

Keys that were pressed before a question was on the screen are thrown away: nobody approves what they have not seen.
"""

from __future__ import annotations

import os
import re
import shutil
import termios
import tty
from collections.abc import Sequence
from typing import Final, TextIO

_STYLE: Final = re.compile(r"\x1b\[[0-9;]*m")
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
        """Ask for a line of text; the end of input is an empty one."""
        self._target.write(question)
        self._target.flush()
        return self._source.readline().strip()

    def page(self, lines: Sequence[str]) -> bool:
        """Show lines, a screen at a time; False when the person wants to end it all."""
        width, height = shutil.get_terminal_size()
        room = left = max(3, height - 3)
        for place, line in enumerate(lines):
            rows = max(1, -(-_columns(line) // max(1, width)))
            if rows > left and left < room:
                pressed = self.key(
                    f"-- {place} of {len(lines)} lines: space for more, d to decide, q to quit -- ", " \rdq"
                )
                if pressed in "dq":
                    return pressed == "d"
                left = room
            self.say(line)
            left -= rows
        return True

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


def _columns(line: str) -> int:
    return len(_STYLE.sub("", line).expandtabs())
