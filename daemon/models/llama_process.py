"""The daemon's end of the pipe to the process that holds a local model: start it, ask it, notice its death, end it.

It knows nothing of prompts; requests and answers are plain dictionaries.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

CLOSE_SECONDS = 2.0
_LONGEST_LINE = 2**26
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "LLAMA_CPP_LIB_PATH", "OMP_NUM_THREADS", "TMPDIR")
_SIGNALS = {one.value: one.name for one in signal.Signals}


class Died(Exception):
    """The process is gone; the text says how it ended."""


class Refused(Exception):
    """The process answered with an error.  `useless`: the same request would fail anywhere."""

    def __init__(self, text: str, *, useless: bool) -> None:
        super().__init__(text)
        self.useless = useless


class Child:
    """One running process.  Requests are numbered; several may be open, it works on one after the other."""

    def __init__(self, process: asyncio.subprocess.Process, grace: float) -> None:
        self._process, self._grace = process, grace
        self._numbers = itertools.count(1)
        self._open: dict[int, asyncio.Queue[dict[str, Any] | None]] = {}
        self._said = bytearray()
        self._tasks = (asyncio.create_task(self._read()), asyncio.create_task(self._overhear()))
        self._first: asyncio.Future[dict[str, Any] | None] = asyncio.get_running_loop().create_future()
        self.facts: dict[str, Any] = {}

    @classmethod
    async def start(cls, settings: Mapping[str, Any], seconds: float, grace: float) -> Child:
        """Return a process that has loaded its model within `seconds`.

        An answer may come `grace` seconds after its deadline before the process counts as hung.  Raises Died, or
        Refused when the file is no good.
        """
        root = str(Path(__file__).resolve().parents[2])
        known = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "daemon.models.llama_child",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            limit=_LONGEST_LINE, start_new_session=True, cwd="/",
            # No secret of the daemon goes in; waiting threads sleep instead of spinning beside other work.
            env={"PYTHONPATH": root, "OMP_WAIT_POLICY": "passive", **known},
        )  # fmt: skip
        child = cls(process, grace)
        try:
            async with asyncio.timeout(seconds):
                child._write({**settings, "parent": os.getpid()})
                first = await child._first
                if first is None or "fault" in first:
                    await child.kill()
            if first is None:
                raise Died(child.how_it_ended())
            if "fault" in first:
                raise Refused(first["fault"], useless=True)
        except TimeoutError:
            raise Died(f"it was not ready after {seconds:g} s") from None
        finally:
            if not child._first.done() or child._first.cancelled():
                await child.kill()
        child.facts = first["ready"]
        return child

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.returncode is None and not self._tasks[0].done()

    async def ask(
        self, op: str, request: Mapping[str, Any], *, seconds: float, hear: Callable[[str], bool] = lambda _: False
    ) -> Any:
        """Send a request and return its answer; `hear` gets each piece of text until it says True, which ends it.

        The process may have said a little more by then.  Leaving early, by whatever exception, cancels the request in
        the process.  Raises Died and Refused.
        """
        number, queue = next(self._numbers), asyncio.Queue[dict[str, Any] | None]()
        heard, tripped, open_ = 0, False, True
        self._open[number] = queue
        try:
            async with asyncio.timeout(seconds + self._grace) as limit:
                self._write({**request, "op": op, "id": number, "seconds": seconds})
                while True:
                    message = await queue.get() if self.alive or not queue.empty() else None
                    if message is None:
                        await self.kill()
                        open_ = False
                        raise Died(self.how_it_ended())
                    if "pieces" in message:
                        heard += len(message["pieces"])
                        if not tripped and (tripped := any(map(hear, message["pieces"]))):
                            self._write({"op": "stop", "id": number})
                        self._write({"op": "seen", "id": number, "pieces": heard})
                        continue
                    open_ = False
                    if "error" in message:
                        raise Refused(message["error"], useless=message["useless"])
                    return message["done"]
        except TimeoutError:
            if not limit.expired():
                raise
            await self.kill()
            raise Died(f"it hung and was killed {self._grace:g} s after the deadline") from None
        finally:
            del self._open[number]
            if open_:
                self._write({"op": "cancel", "id": number})

    async def close(self) -> None:
        """End the process; it leaves by itself when its input ends."""
        if self._process.stdin:
            self._process.stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._process.wait()
        await self.kill()

    async def kill(self) -> None:
        """End the process now and leave nothing of it behind."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)  # asyncio's own kill() would steal the exit code of a dead process
        if self._process.stdin:
            self._process.stdin.close()
        await self._process.wait()
        await asyncio.gather(*self._tasks)

    def how_it_ended(self) -> str:
        """One line: the signal or exit code, and the last thing that it printed."""
        code = self._process.returncode
        if code is not None and code < 0:
            how = f"killed by signal {-code} ({_SIGNALS.get(-code, 'unnamed')})"
        else:
            how = f"ended with exit code {code}"
        last = [line for line in self._said.decode("utf-8", "replace").splitlines() if line.strip()][-1:]
        return f"{how}: {last[0].strip()[:200]}" if last else how

    def _write(self, message: Mapping[str, Any]) -> None:
        if self._process.stdin and not self._process.stdin.is_closing():
            self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _read(self) -> None:
        """Give each line to the request that it answers, and at the end tell every request that it is over."""
        if self._process.stdout:
            with contextlib.suppress(ValueError, ConnectionError):  # a line too long, or half a line
                async for line in self._process.stdout:
                    message = json.loads(line)
                    if not self._first.done():
                        self._first.set_result(message)
                    elif queue := self._open.get(message.get("id")):
                        queue.put_nowait(message)
        if not self._first.done():
            self._first.set_result(None)
        for queue in self._open.values():
            queue.put_nowait(None)

    async def _overhear(self) -> None:
        """Keep the end of what the process prints: llama.cpp says there why it gave up."""
        while self._process.stderr and (chunk := await self._process.stderr.read(4096)):
            self._said += chunk
            del self._said[:-4096]
