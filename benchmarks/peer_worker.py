"""The Python half of the peers' workers: another system's own class, asked line by line over standard input.

It runs inside the other system's packages, without trimtab's. A line asks
`{"detector", "carried", "begin", "fresh", "text", "calls", "results"}` and gets `{"flag", "ns"}`.
"""

from __future__ import annotations

import json
import os
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol


class Detector(Protocol):
    """A system's detector between two prompts of its own."""

    def reset(self) -> None:
        """Do what the system does when a new prompt comes."""

    def take(self, asked: dict[str, Any]) -> bool:
        """Return whether the system would stop at this output."""


class Hermes:
    """hermes-agent's guardrail of tool calls, with hard stops as on its unattended platforms."""

    def __init__(self) -> None:
        from agent import tool_guardrails as own  # type: ignore[import-not-found]

        self._own = own.ToolCallGuardrailController(own.ToolCallGuardrailConfig(hard_stop_enabled=True))

    def reset(self) -> None:
        """Begin a turn."""
        self._own.reset_for_turn()

    def take(self, asked: dict[str, Any]) -> bool:
        """Show each call before and after it is made; it does not look at text."""
        stopped = False
        for call, result in _pairs(asked):
            stopped |= self._own.before_call(call["name"], call["args"]).should_halt
            if result is not None:
                after = self._own.after_call(call["name"], call["args"], result["text"], failed=not result["ok"])
                stopped |= after.should_halt
        return stopped


class OpenHands:
    """OpenHands' detector over a history of its own events; a new prompt is a new conversation."""

    UNUSED = ("controller", "controller.state", "events")
    """Packages of which only some modules are needed: their own beginnings import whole sandboxes and model clients."""

    def __init__(self) -> None:
        import openhands  # type: ignore[import-not-found]

        base = Path(next(iter(openhands.__path__)))
        for name in self.UNUSED:
            package = types.ModuleType(f"openhands.{name}")
            package.__path__ = [str(base.joinpath(*name.split(".")))]
            sys.modules.setdefault(package.__name__, package)
        state = types.ModuleType("openhands.controller.state.state")
        state.State = object  # type: ignore[attr-defined]
        sys.modules.setdefault(state.__name__, state)
        from openhands.controller.stuck import StuckDetector  # type: ignore[import-not-found]
        from openhands.events.action.commands import CmdRunAction  # type: ignore[import-not-found]
        from openhands.events.action.message import MessageAction  # type: ignore[import-not-found]
        from openhands.events.event import EventSource  # type: ignore[import-not-found]
        from openhands.events.observation.commands import CmdOutputObservation  # type: ignore[import-not-found]
        from openhands.events.observation.error import ErrorObservation  # type: ignore[import-not-found]

        self._agent, self._said, self._run = EventSource.AGENT, MessageAction, CmdRunAction
        self._shown, self._failed = CmdOutputObservation, ErrorObservation
        self._events: list[Any] = []
        history = types.SimpleNamespace(get_events=lambda: self._events)
        self._own = StuckDetector(types.SimpleNamespace(history=history, almost_stuck=0))

    def reset(self) -> None:
        """Begin a conversation."""
        self._events.clear()

    def take(self, asked: dict[str, Any]) -> bool:
        """Write what was said and done into the history, and ask after each step as the controller does."""
        if not asked["calls"]:
            self._add(self._said(asked["text"]))
            return bool(self._own.is_stuck())
        stuck, thought = False, asked["text"]
        for call, result in _pairs(asked):
            line = f"{call['name']} {json.dumps(call['args'], sort_keys=True)}"
            self._add(self._run(line, thought=thought))
            if result is not None:
                told = result["text"]
                self._add(self._shown(told, 0, line) if result["ok"] else self._failed(told))
            stuck, thought = stuck or bool(self._own.is_stuck()), ""
        return stuck

    def _add(self, event: Any) -> None:
        event._source = self._agent
        self._events.append(event)


DETECTORS: dict[str, Callable[[], Detector]] = {"hermes-agent": Hermes, "openhands": OpenHands}


def serve(peer: str) -> None:
    """Answer lines until there are none; whatever the packages print themselves goes to standard error."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        kept: dict[bool, Detector] = {}
        print('{"ready": true}', file=answers, flush=True)
        for line in sys.stdin:
            asked = json.loads(line)
            print(json.dumps(answer(DETECTORS[peer], kept, asked)), file=answers, flush=True)


def answer(make: Callable[[], Detector], kept: dict[bool, Detector], asked: dict[str, Any]) -> dict[str, object]:
    """Return what a detector says of an output and what that took; each scope has a detector of its own."""
    carried = asked["carried"]
    if asked["begin"] or carried not in kept:
        kept[carried] = make()
    detector = kept[carried]
    begun = time.perf_counter_ns()
    if asked["fresh"] and not carried:
        detector.reset()
    flag = detector.take(asked)
    return {"flag": flag, "ns": time.perf_counter_ns() - begun}


def _pairs(asked: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any] | None]]:
    results = [*asked["results"], *[None] * len(asked["calls"])]
    return list(zip(asked["calls"], results, strict=False))
