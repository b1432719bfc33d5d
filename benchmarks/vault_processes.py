"""What the processes around one vault have in common: where they work, how they tell, and what they leave when killed.

Each tells over a pipe what has been done, one line with a word and numbers for each act, and only when it has been
done.  What it is about to do where either outcome is right (`approving`, `reverting` ...) it tells before.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType

from daemon.home import Home

NOTES = ("journal.md", "people/ann.md", "projects/boat/plan.md")
"""The notes that the agent and both people write at the same time."""
FIRST = "# Note\nstate: none 0\n"
STEP_BYTES, ACT_BYTES = 240, 16
stopping = threading.Event()
"""Set in a process that is asked to stop."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where it all happens: the agent's directory, the bare repository that it syncs to, a laptop's clone of that."""

    home: Home
    remote: Path
    laptop: Path

    @property
    def root(self) -> Path:
        return self.home.vault

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """Keep the people from doing anything while the vault is looked at, or the other way round."""
        with (self.home.path / "pause").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def git(root: Path, *arguments: str) -> str:
    """Run plain git and return what it says, errors among it."""
    command = ["git", "-C", str(root), *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.stdout.decode("utf-8", "replace")


def worked(root: Path, *arguments: str) -> bool:
    """Run plain git and say whether it did what was asked."""
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=False)
    return done.returncode == 0


class Told:
    """A pipe from a process that may die at any moment; a line is written in one piece."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def __call__(self, word: str, *numbers: int) -> None:
        for start in range(0, len(numbers), 300):
            text = " ".join(map(str, numbers[start : start + 300]))
            os.write(self._handle, f"{word}|{text}\n".encode())


def forked(act: Callable[[Told], None]) -> tuple[int, int]:
    """Start a process that acts, and return its id and where it tells what it has done."""
    told, done = os.pipe()
    os.set_blocking(told, False)
    child = os.fork()
    if child == 0:
        os.close(told)
        code = 1
        try:
            signal.signal(signal.SIGTERM, lambda *_: stopping.set())
            act(Told(done))
            code = 0
        except BaseException as wrong:  # noqa: BLE001  # it is told, and the exit code says so
            sys.excepthook(type(wrong), wrong, wrong.__traceback__)
        finally:
            os._exit(code)
    os.close(done)
    return child, told


@dataclass(slots=True)
class Aim:
    """Where a process kills itself: inside calls whose `file.function` one of `marks` begins, after `left` events.

    An event is a call or a return, also of what is written in C, so that every system call has one on each side.
    """

    marks: tuple[str, ...]
    left: int

    def meets(self, stack: list[bytes]) -> bool:
        """Count an event; whether it is the one."""
        if any(name.startswith(mark.encode()) for name in stack for mark in self.marks):
            self.left -= 1
        return self.left <= 0


def watched(shared: mmap.mmap, aim: Aim | None = None) -> None:
    """From now on leave in shared memory where in our code this thread is: it can be read after the process is dead."""
    names, stack = dict[CodeType, bytes](), list[bytes]()

    def name_of(code: CodeType) -> bytes:
        file = Path(code.co_filename)
        ours = file.parent.name == "vault" or "/daemon/" in code.co_filename
        return f"{file.stem}.{code.co_name}".encode() if ours else b""

    def note(frame: FrameType, event: str, _: object) -> None:
        if aim is not None and aim.meets(stack):
            os.kill(os.getpid(), signal.SIGKILL)
        if event not in {"call", "return"}:
            return
        code = frame.f_code
        name = names.get(code)
        if name is None:
            name = names[code] = name_of(code)
        if not name:
            return
        if event == "call":
            stack.append(name)
        elif stack:
            stack.pop()
        shared[:STEP_BYTES] = b">".join(stack[-12:])[-STEP_BYTES:].ljust(STEP_BYTES, b"\0")

    sys.setprofile(note)


def doing(shared: mmap.mmap, act: str) -> None:
    """Leave in shared memory which act is in hand."""
    shared[STEP_BYTES : STEP_BYTES + ACT_BYTES] = act.encode()[:ACT_BYTES].ljust(ACT_BYTES, b"\0")


def heard(told: int, into: dict[str, set[int]]) -> None:
    """Add what a process has told since."""
    text = b""
    with contextlib.suppress(BlockingIOError):
        while part := os.read(told, 65536):
            text += part
    for line in text.decode().splitlines():
        word, _, numbers = line.partition("|")
        into.setdefault(word, set()).update(map(int, numbers.split()))
