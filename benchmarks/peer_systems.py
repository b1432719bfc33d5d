"""The systems of the side-by-side run: trimtab's panel here, each other system in a process of its own."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from peer_setup import PEERS, Absent, command, version
from peer_streams import Case

from guards.base import Level
from guards.panel import Panel
from guards.replay import Row

PATIENCE = 60.0
"""Seconds that a worker may take for one output, and to start."""
APART = ("unshare", "-rn")
"""Starts a program without a network, where the machine lets it."""


class System(Protocol):
    """A detector in one scope; it says of an output whether it would stop there, and how many nanoseconds that took."""

    name: str
    scope: str

    def take(self, row: Row, begin: bool, fresh: bool, piece: int) -> tuple[bool, int]:
        """Judge an output; `begin` starts another stream, `fresh` says that a new prompt came."""


class Trimtab:
    """The whole panel: its eye on the stream, the output, and the results of the calls."""

    name, scope = "trimtab, all guards", "as it is"

    def __init__(self) -> None:
        self._panel = Panel.standard()

    def take(self, row: Row, begin: bool, fresh: bool, piece: int) -> tuple[bool, int]:
        """Judge an output as the daemon does."""
        if begin:
            self._panel = Panel.standard()
        text = row.output.text
        begun = time.perf_counter_ns()
        watch = self._panel.watch()
        seen = [watch.feed(text[at : at + piece]) for at in range(0, len(text), piece)]
        said = [*self._panel.update(row.output), *(self._panel.observe(row.results) if row.results else ())]
        ns = time.perf_counter_ns() - begun
        return any(verdict is not None and verdict.level is Level.TRIP for verdict in (*seen, *said)), ns


class Worker:
    """Another system's process; ends with the block that it was opened in."""

    def __init__(self, peer: str, folder: Path, install: bool) -> None:
        started = command(peer, folder, install)
        self._process = subprocess.Popen(
            [*(APART if _runs([*APART, "true"]) else ()), *started],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={"PATH": os.environ.get("PATH", ""), "HOME": str(folder), "LANG": "C.UTF-8", "LOG_LEVEL": "CRITICAL"},
            cwd=folder,
        )
        self._rest = b""
        try:
            self._hear()
        except Absent:
            self.close()
            raise

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

    def ask(self, line: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a line; raises Absent when none comes in time."""
        assert self._process.stdin is not None
        try:
            whole = memoryview(json.dumps(line).encode() + b"\n")
            while whole:
                whole = whole[self._process.stdin.write(whole) or 0 :]
        except OSError:
            raise Absent("its process ended") from None
        return self._hear()

    def _hear(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        until = time.monotonic() + PATIENCE
        with selectors.DefaultSelector() as ready:
            ready.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not ready.select(max(0.0, until - time.monotonic())):
                    raise Absent(f"it gave no answer in {PATIENCE:.0f} s")
                found = self._process.stdout.read(65_536)
                if not found:
                    raise Absent("its process ended")
                self._rest += found
        answer, _, self._rest = self._rest.partition(b"\n")
        try:
            told = json.loads(answer)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            raise Absent("its worker answered with something else than a JSON object")
        return told


@dataclass(slots=True)
class Detector:
    """One detector of a worker in one scope."""

    name: str
    scope: str
    worker: Worker

    def take(self, row: Row, begin: bool, fresh: bool, piece: int) -> tuple[bool, int]:
        """Ask the worker."""
        asked = {
            "detector": self.name,
            "carried": self.scope == "carried",
            "begin": begin,
            "fresh": fresh,
            "piece": piece,
            "text": row.output.text,
            "calls": [{"name": call.name, "args": dict(call.args)} for call in row.output.calls],
            "results": [{"ok": result.ok, "text": result.text} for result in row.results],
        }
        told = self.worker.ask(asked)
        return bool(told["flag"]), int(told["ns"])


class Bench:
    """The systems that run, and what they said."""

    def __init__(self, folder: Path, install: bool, piece: int) -> None:
        self.systems: list[System] = [Trimtab()]
        self.piece = piece
        self.flags: dict[tuple[str, str], dict[str, set[int]]] = defaultdict(dict)
        self._folder, self._install = folder, install
        self._workers: list[Worker] = []

    def __enter__(self) -> Bench:
        """Start what is there, and say what is not."""
        if not _runs([*APART, "true"]):
            print("this machine does not let a program be cut off the network: theirs are not")
        for peer, wanted in PEERS.items():
            try:
                worker = Worker(peer, self._folder, self._install)
            except Absent as why:
                print(f"{peer} {version(peer)}: cannot be run: {why}")
                continue
            self._workers.append(worker)
            self.systems += [
                Detector(name, scope, worker) for name in wanted.detectors for scope in ("native", "carried")
            ]
            print(f"{peer} {version(peer)}: runs")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End every worker."""
        for worker in self._workers:
            worker.close()

    def show(self, case: Case) -> dict[tuple[str, str], list[int]]:
        """Show a stream to every system, output by output; return nanoseconds by system and output."""
        took: dict[tuple[str, str], list[int]] = defaultdict(list)
        flagged: dict[tuple[str, str], set[int]] = defaultdict(set)
        for number, (row, fresh) in enumerate(case.prompts()):
            turn = number % len(self.systems)
            for system in [*self.systems[turn:], *self.systems[:turn]]:
                key = (system.name, system.scope)
                try:
                    flag, ns = system.take(row, number == 0, fresh, self.piece)
                except Absent as why:
                    print(f"{system.name}, {system.scope}: left out from here on ({case.name}, output {number}): {why}")
                    self.systems.remove(system)
                    self.flags.pop(key, None)
                    continue
                took[key].append(ns)
                if flag:
                    flagged[key].add(number)
        for system in self.systems:
            self.flags[system.name, system.scope][case.name] = flagged[system.name, system.scope]
        return took


def _runs(arguments: Sequence[str]) -> bool:
    try:
        return subprocess.run(arguments, capture_output=True, check=False, timeout=10).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
