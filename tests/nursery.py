"""Processes to kill: one that forks a child for each line it reads, so that one start of Python serves many kills.

The script of a test calls `rear`; the test holds the `Nursery`.  What a child says goes down a pipe that nothing else
writes to, in one write a line: `print` makes two where Python is unbuffered, and a kill between them left half a line.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).parent.parent

Say = Callable[[str], None]


def rear(life: Callable[[str, Say], None]) -> None:
    """Live `life(line, say)` in a child for each line of standard input, and tell how each child ended."""
    words = os.dup(1)
    os.dup2(2, 1)

    def say(line: str) -> None:
        os.write(words, f"{line}\n".encode())

    for line in sys.stdin:
        child = os.fork()
        if not child:
            say(f"born {os.getpid()}")
            life(line.strip(), say)
            os._exit(0)
        say(f"dead {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}")


class Nursery:
    """The test's side of `rear`: bears a child, hears what it says, kills it."""

    def __init__(self, module: str, *arguments: str) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._child = 0

    def __enter__(self) -> Nursery:
        self._process.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, wrong: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None:
            self._process.kill()
        self._process.__exit__(kind, wrong, at)

    def bear(self, line: str = "go") -> None:
        """Start a child; it lives for this line."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        self._child = int(self._heard().removeprefix("born "))

    def kill(self) -> None:
        """Kill the child as nothing can prepare for."""
        os.kill(self._child, signal.SIGKILL)

    def said(self) -> str:
        """Wait for the next line of a child that lives; AssertionError when it died by itself."""
        line = self._heard()
        assert not line.startswith("dead"), f"the child ended by itself: {line}"
        return line

    def last_words(self) -> Iterator[str]:
        """Yield each line of a child that is being killed until it is dead; AssertionError when it died otherwise."""
        while not (line := self._heard()).startswith("dead"):
            yield line
        assert line == f"dead {-signal.SIGKILL}", f"the child ended by itself: {line}"

    def _heard(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process that bears the children ended"
        return line.strip()
