"""What a guard's trip leads to: which one counts, how each rung of the ladder did, and when the breaker opens.

Holds the guards of one thread for one run, what they have seen and their breakers.  It decides; the loop does.  It
never sees a prompt; the one model that it may ask is the judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import structlog

from daemon.hearing import Hearing, hear_again
from daemon.judge import Judge
from daemon.ladder import Rung
from daemon.panels import Lent
from daemon.stages import Clock, GuardStates, Observer
from daemon.types import Message, Outcome, Prompt, Reply, ToolResult, ToolSpec, Usage
from guards import Breaker, Call, CallResult, Level, Output, Spend, Verdict, Watch, worst
from guards.text import fingerprint
from guards.written import words

log = structlog.get_logger()

RELAPSE = 12
"""A guard that trips again within so many runs has relapsed: the rung that helped then is not tried first again."""

_BREAKER, _LADDER = "breaker:", "ladder:"
_SPENT = ("over_budget", "timed_out")


class Recovery:
    """The guards and breakers of one thread during one run.  `offered` are the tools that the model was shown."""

    def __init__(
        self,
        thread: str,
        lent: Lent,
        states: GuardStates,
        clock: Clock,
        cooldown: float,
        observer: Observer,
        judge: Judge | None = None,
    ) -> None:
        self._thread, self._lent, self._panel, self._states = thread, lent, lent.panel, states
        self._clock, self._cooldown, self._observer = clock, cooldown, observer
        self._hearing, self._since = Hearing(lent.panel), ""
        self._second = judge
        self._sequential = frozenset(guard.name for guard in lent.panel.guards if guard.kind == "sequential")
        self._breakers: dict[str, Breaker] = {}
        self._watch: Watch | None = None
        self._cut: Verdict | None = None
        self._trying: Rung | None = None
        self._tripped = ""
        self._lately: dict[str, tuple[Rung, int]] = {}
        self._asked = False
        self._ended: Verdict | None = None
        self._owed = Usage()
        self._kept: set[str] | None = None
        self._closed: Mapping[str, Mapping[str, Any]] | None = None
        self._turn, self._offered, self._standing = "", frozenset[str](), ""

    async def open(self, turn: str, offered: Sequence[ToolSpec]) -> None:
        """Load what the guards of this thread remember; a panel that stands at the last save remembers it already."""
        self._turn, self._offered = turn, frozenset(tool.name for tool in offered)
        stamp, kept = await self._states.glance(self._thread)
        if stamp and stamp == self._lent.stamp:
            self._since = stamp
        else:
            kept = await self._load()
        self._breakers = breakers(kept, self._cooldown)
        self._lately = _lately(kept)
        self._kept = {name for name in kept if name.startswith(_LADDER)}
        for breaker in self._breakers.values():
            breaker.allows(self._clock.now().timestamp())  # one that has rested is half-open now: this run is its probe
        self._tell_breakers()

    async def _load(self) -> Mapping[str, Mapping[str, Any]]:
        """Bring the panel to where the last save left it; return all states."""
        kept = await self._states.load(self._thread)
        ours = (_BREAKER, _LADDER)
        self._panel.load({name: state for name, state in kept.items() if not name.startswith(ours)})
        try:
            hear_again(self._panel, await self._states.heard(self._thread))
        except ValueError as damaged:
            log.warning("guards.unheard", thread=self._thread, reason=str(damaged))
        return kept

    def listen(self, prompt: Prompt) -> None:
        """Begin to watch a new reply as it is written.  A rung whose reply was let through has worked.

        The guards are told under which system message it speaks: what is normal under one is not so under another.
        """
        self._standing = f"{fingerprint(prompt.messages[0].text):08x}" if prompt.messages else ""
        self._watch, self._cut = self._panel.watch(), None
        if self._asked:
            self._settle("worked")
        self._asked = self._trying is not None

    def stop(self, piece: str) -> bool:
        """Say whether the stream should end here."""
        if self._watch is not None and self._cut is None:
            self._cut = self._watch.feed(piece)
        return self._cut is not None

    async def judge(self, reply: Reply, ends: float) -> tuple[Reply, tuple[Verdict, ...]]:
        """Show a whole reply to every guard, before anything acts on it; return what they say.

        Where there is a judge, and time until the run `ends` (monotonic seconds), the reply bears its cost too.
        """
        used, self._owed = reply.usage.plus(self._owed), Usage()
        spend = Spend(used.prompt - used.reused + used.completion, used.usd, used.seconds)
        calls = tuple(Call(call.name, call.args) for call in reply.calls)
        ts = self._clock.now().timestamp()
        output = Output(reply.text, calls, self._turn, ts, reply.model, spend, self._offered, self._standing)
        verdicts = self._hearing.update(output)
        if self._cut is not None:
            verdicts = (*(v for v in verdicts if v.guard != self._cut.guard), self._cut)
        left = ends - self._clock.monotonic()
        if self._second is None or left <= 0 or self._spent(verdicts):
            return reply, verdicts
        shown = "\n\n".join(self.texts(reply))
        verdicts, self._owed = await self._second.review(verdicts, shown, self._sequential, left)
        return replace(reply, usage=reply.usage.plus(self._owed)), verdicts

    def hear(self, results: Sequence[ToolResult], seconds: float) -> tuple[Verdict, ...]:
        """Show the guards what the tools said; the seconds that they took are spent with the next reply."""
        self._owed = self._owed.plus(Usage(seconds=seconds))
        return self._hearing.observe([CallResult(result.ok, result.text) for result in results])

    def tripped(self, verdicts: Sequence[Verdict]) -> Verdict | None:
        """Return the trip that counts, None if nothing tripped.

        A budget that is spent ends the run whatever else tripped: a retry would only spend more.
        """
        trips = [verdict for verdict in verdicts if verdict.level is Level.TRIP]
        return worst(v for v in trips if v.outcome in _SPENT) or worst(trips)

    def took(self, trip: Verdict, rung: Rung) -> None:
        """Hear which rung follows a trip; the one before it, if there was one, has failed."""
        self._settle("failed")
        log.warning("guard.tripped", guard=trip.guard, score=trip.score, reason=trip.reason, rung=rung)
        if rung == "rest":
            self._ended = trip
        else:
            self._trying, self._tripped = rung, trip.guard

    @property
    def lately(self) -> Mapping[str, Rung]:
        """Which rung last helped against which guard, in the few runs before this one."""
        return {guard: rung for guard, (rung, _) in self._lately.items()}

    def texts(self, said: Reply | Message) -> tuple[str, ...]:
        """Return the words of a reply that the guards judge: what it says, and what it writes through tools."""
        return tuple(text for text in (said.text, words(said.calls, self._panel.written)) if text.strip())

    @property
    def wordless(self) -> frozenset[str]:
        """The guards that do not judge words."""
        return frozenset(guard.name for guard in self._panel.guards if not guard.judges_words)

    async def close(self, outcome: Outcome) -> None:
        """Move the breakers as the run ended, and write down what the guards heard, or everything that they remember.

        What could not be written may be closed again: nothing moves twice.  A run whose guards were never read has
        nothing to write.  Raises StorageError.
        """
        if self._kept is None:
            return
        if self._closed is None:
            self._closed = self._states_after(outcome)
        for name in sorted(self._kept - self._closed.keys()):
            await self._states.forget(self._thread, name)
        stamp = self._since and await self._states.add(self._thread, self._since, self._hearing.events, self._closed)
        stamp = stamp or await self._states.save(self._thread, {**self._panel.state(), **self._closed})
        self._lent.give_back(stamp)

    def _states_after(self, outcome: Outcome) -> Mapping[str, Mapping[str, Any]]:
        """Return what is kept beside the guards' memory.

        Only a good end closes a breaker: one without a model or over budget proves nothing.
        """
        at, well = self._clock.now().timestamp(), outcome in (Outcome.OK, Outcome.NOTHING_TO_DO)
        if well:
            self._settle("worked")
        if self._ended is not None and self._ended.outcome == "tripped":
            self._rest(self._ended.guard, at)
        elif well:
            for breaker in self._breakers.values():
                breaker.passed(at)
        self._tell_breakers()
        states = {_BREAKER + guard: breaker.state() for guard, breaker in self._breakers.items()}
        rungs = {
            _LADDER + guard: {"rung": rung, "ago": ago + 1}
            for guard, (rung, ago) in self._lately.items()
            if ago < RELAPSE
        }
        return states | rungs

    def _rest(self, guard: str, at: float) -> None:
        """Open a breaker.  When it first opens that is an error in the log, and a failed probe after it only news."""
        breaker = self._breakers.setdefault(guard, Breaker(self._cooldown))
        told = log.info if breaker.code else log.error
        breaker.trip(at)
        self._observer.recovered("rest", "opened")
        told("breaker.opened", guard=guard, thread=self._thread, rest_seconds=breaker.rest)

    def _settle(self, result: str) -> None:
        if self._trying is not None:
            self._observer.recovered(self._trying, result)
            if result == "worked":
                self._lately[self._tripped] = (self._trying, 0)
        self._trying, self._asked = None, False

    @staticmethod
    def _spent(verdicts: Sequence[Verdict]) -> bool:
        """Say whether so much of a budget is gone that nobody may be asked beside the run."""
        return any(v.level > Level.PASS and v.outcome in _SPENT for v in verdicts)

    def _tell_breakers(self) -> None:
        for guard, breaker in self._breakers.items():
            self._observer.breaker_changed(self._thread, guard, breaker.code)


def _lately(states: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[Rung, int]]:
    """Read which rungs helped lately among the kept states of a thread; what cannot be read is forgotten."""
    found: dict[str, tuple[Rung, int]] = {}
    for name, state in states.items():
        match name.startswith(_LADDER) and state:
            case {"rung": "retry" | "quarantine" | "sampler" | "model" as rung, "ago": int(ago)}:
                found[name.removeprefix(_LADDER)] = (rung, ago)
    return found


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
    for guard, breaker in sorted(breakers((await states.glance(thread))[1], cooldown).items()):
        if not breaker.allows(at):
            return f"breaker_open: {guard}"
    return None
