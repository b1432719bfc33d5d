"""What happens when a guard trips: withhold, retry once with that guard's hint, then end the run.

Holds the guards of one thread for one run: what they have seen, their breakers, and which rung of the ladder is next.
It decides; the loop does.  It never sees a prompt and never calls a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import structlog

from daemon.stages import Clock, GuardStates, Observer
from daemon.types import Outcome, Reply, ToolResult, ToolSpec
from guards import Breaker, Call, CallResult, Level, Output, Panel, Spend, Verdict, Watch, worst

log = structlog.get_logger()

_BREAKER = "breaker:"
_SPENT = ("over_budget", "timed_out")


@dataclass(frozen=True, slots=True)
class Cure:
    """What to do about a trip: try the turn once more with a hint, or end the run."""

    verdict: Verdict
    rung: Literal["retry", "rest"]

    @property
    def outcome(self) -> Outcome:
        return Outcome(self.verdict.outcome)

    @property
    def reason(self) -> str:
        return f"{self.verdict.guard}: {self.verdict.reason}"


class Recovery:
    """The guards and breakers of one thread during one run.  `offered` are the tools that the model was shown."""

    def __init__(
        self, thread: str, panel: Panel, states: GuardStates, clock: Clock, cooldown: float, observer: Observer
    ) -> None:
        self._thread, self._panel, self._states = thread, panel, states
        self._clock, self._cooldown, self._observer = clock, cooldown, observer
        self._breakers: dict[str, Breaker] = {}
        self._watch: Watch | None = None
        self._cut: Verdict | None = None
        self._retried: set[str] = set()
        self._ended: Verdict | None = None
        self._turn, self._offered = "", frozenset[str]()

    async def open(self, turn: str, offered: Sequence[ToolSpec]) -> None:
        """Load what the guards of this thread remember."""
        self._turn, self._offered = turn, frozenset(tool.name for tool in offered)
        kept = await self._states.load(self._thread)
        self._panel.load({name: state for name, state in kept.items() if not name.startswith(_BREAKER)})
        self._breakers = breakers(kept, self._cooldown)
        for breaker in self._breakers.values():
            breaker.allows(self._clock.now().timestamp())  # one that has rested is half-open now: this run is its probe
        self._tell_breakers()

    def listen(self) -> None:
        """Begin to watch a new reply as it is written."""
        self._watch, self._cut = self._panel.watch(), None

    def stop(self, piece: str) -> bool:
        """Say whether the stream should end here."""
        if self._watch is not None and self._cut is None:
            self._cut = self._watch.feed(piece)
        return self._cut is not None

    def judge(self, reply: Reply) -> tuple[Verdict, ...]:
        """Show a whole reply to every guard, before anything acts on it."""
        spend = Spend(
            reply.usage.prompt - reply.usage.reused + reply.usage.completion, reply.usage.usd, reply.usage.seconds
        )
        calls = tuple(Call(call.name, call.args) for call in reply.calls)
        ts = self._clock.now().timestamp()
        verdicts = self._panel.update(
            Output(reply.text, calls, turn=self._turn, ts=ts, model=reply.model, spend=spend, offered=self._offered)
        )
        if self._cut is None:
            return verdicts
        return (*(v for v in verdicts if v.guard != self._cut.guard), self._cut)

    def hear(self, results: Sequence[ToolResult]) -> tuple[Verdict, ...]:
        """Show the guards what the tools said."""
        return self._panel.observe([CallResult(result.ok, result.text) for result in results])

    def answer(self, verdicts: Sequence[Verdict]) -> Cure | None:
        """Return what to do, None if nothing tripped.  Each guard is answered with one hint a run; then it ends it.

        A budget that is spent ends the run whatever else tripped: a retry would only spend more.
        """
        trips = [verdict for verdict in verdicts if verdict.level is Level.TRIP]
        verdict = worst(v for v in trips if v.outcome in _SPENT) or worst(trips)
        if verdict is None:
            return None
        if verdict.outcome not in _SPENT and verdict.guard not in self._retried and verdict.hint:
            self._retried.add(verdict.guard)
            log.warning("guard.tripped", guard=verdict.guard, score=verdict.score, reason=verdict.reason, rung="retry")
            return Cure(verdict, "retry")
        self._ended = verdict
        log.warning("guard.tripped", guard=verdict.guard, score=verdict.score, reason=verdict.reason, rung="rest")
        return Cure(verdict, "rest")

    async def close(self, outcome: Outcome) -> None:
        """Move the breakers as the run ended, and write down everything that the guards remember.

        Only a run that came to a good end closes a breaker: one without a model, or over its budget, proved nothing.
        """
        at, well = self._clock.now().timestamp(), outcome in (Outcome.OK, Outcome.NOTHING_TO_DO)
        if self._retried and (well or self._ended is not None):
            self._observer.recovered("retry", "failed" if self._ended else "worked")
        if self._ended is not None and self._ended.outcome == "tripped":
            breaker = self._breakers.setdefault(self._ended.guard, Breaker(self._cooldown))
            breaker.trip(at)
            self._observer.recovered("rest", "opened")
            log.warning("breaker.opened", guard=self._ended.guard, thread=self._thread, rest_seconds=breaker.rest)
        elif well:
            for breaker in self._breakers.values():
                breaker.passed(at)
        self._tell_breakers()
        states: dict[str, Mapping[str, Any]] = dict(self._panel.state())
        states |= {_BREAKER + guard: breaker.state() for guard, breaker in self._breakers.items()}
        await self._states.save(self._thread, states)

    def _tell_breakers(self) -> None:
        for guard, breaker in self._breakers.items():
            self._observer.breaker_changed(self._thread, guard, breaker.code)


def breakers(states: Mapping[str, Mapping[str, Any]], cooldown: float) -> dict[str, Breaker]:
    """Return the breakers that are among the kept states of a thread; one that cannot be read starts closed."""
    found: dict[str, Breaker] = {}
    for name, state in states.items():
        if name.startswith(_BREAKER):
            breaker = found[name.removeprefix(_BREAKER)] = Breaker(cooldown)
            try:
                breaker.load(state)
            except ValueError as damaged:
                log.warning("breaker.unreadable", breaker=name, reason=str(damaged))
    return found


async def resting(thread: str, states: GuardStates, clock: Clock, cooldown: float) -> str | None:
    """Return why a heartbeat on this thread must rest now, None if it may run (perhaps as a probe)."""
    at = clock.now().timestamp()
    for guard, breaker in sorted(breakers(await states.load(thread), cooldown).items()):
        if not breaker.allows(at):
            return f"breaker_open: {guard}"
    return None
