"""A run told on a terminal as it happens: what was asked, called, answered, withheld.  Every text of it is escaped."""

from __future__ import annotations

import json
import sys
from datetime import datetime

from rich.console import Console
from rich.text import Text

from daemon.types import Run, Step
from guards import Level
from vault.escape import one_line

_WIDEST = 400
_NEXT = {
    "retry": "the turn is tried again with a hint",
    "quarantine": "the infected outputs leave the context",
    "sampler": "the model is sampled less greedily, this once",
    "model": "another model of the route is asked",
    "rest": "nothing helped; the run ends",
}


def plain(text: str) -> str:
    """Return untrusted text as one line that is safe to print."""
    return one_line(text, _WIDEST)


class Story:
    """Tells each step and each end of a run (implements stages.Observer)."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(file=sys.stderr, highlight=False, soft_wrap=True)
        self._told: str | None = None

    def step_done(self, run: Run, step: Step) -> None:
        if self._told != run.id:
            self._told = run.id
            task = next((m.text for m in reversed(step.sent) if m.role == "user"), "")
            first = plain(task.splitlines()[0]) if task else run.occurrence.heartbeat
            self._line("", f"\n{first}", "bold")
        if step.reply.text.strip():
            self._line("  says   ", plain(step.reply.text), "strike" if step.withheld else "")
        if step.reply.note:
            self._line("  note   ", plain(step.reply.note), "yellow")
        for call in step.reply.calls:
            self._line("  calls  ", plain(f"{call.name} {json.dumps(dict(call.args), ensure_ascii=False)}"), "cyan")
        for result in step.results:
            for line in result.text.splitlines()[:12]:
                self._line("         ", plain(line), "dim" if result.ok else "red")
        self._judged(step)

    def _judged(self, step: Step) -> None:
        for verdict in step.verdicts:
            if verdict.level is not Level.PASS:
                colour = "red" if verdict.level is Level.TRIP else "yellow"
                self._line(f"  {verdict.level!s:<6} ", f"{verdict.guard}: {plain(verdict.reason)}", colour)
        if step.rung:
            self._line("  next   ", _NEXT[step.rung], "yellow")
        if step.hint:
            self._line("  hint   ", plain(step.hint), "yellow")

    def run_finished(self, run: Run) -> None:
        colour = "green" if run.outcome in ("ok", "nothing_to_do") else "red"
        tail = f" ({plain(run.reason)})" if run.reason else ""
        commit = f", vault commit {run.commit[:10]}" if run.commit else ""
        self._line("  ended  ", f"{run.outcome}{tail}; {run.steps} steps, run {run.id}{commit}", colour)

    def occurrence_missed(self, heartbeat: str, reason: str, count: int) -> None:
        self._line(
            "", f"{heartbeat}: did not run ({plain(reason)})" + (f", {count} times" if count > 1 else ""), "yellow"
        )

    def next_due(self, heartbeat: str, at: datetime | None, lag_seconds: float | None) -> None:
        """A story tells what happened, not what will."""

    def heartbeat_removed(self, heartbeat: str) -> None:
        """Whoever took the file away knows."""

    def breaker_changed(self, thread: str, guard: str, state: int) -> None:
        if state == 2:
            self._line("", f"{thread}: the breaker of {guard} is open; its heartbeats rest", "red")

    def recovered(self, rung: str, result: str) -> None:
        """The steps have told it."""

    def model_state(self, model: str, up: bool) -> None:
        """A run that no model answers says so at its end."""

    def vault_committed(self, kind: str) -> None:
        """The end of a run names its commit."""

    def _line(self, head: str, text: str, style: str) -> None:
        self._console.print(Text(head, style="dim") + Text(text, style=style))
