"""The tool guard: calls that lead nowhere."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from guards import circles, options
from guards.base import Call, CallResult, Guard, Json, Level, Output, Verdict
from guards.calls import canonical, names_no_tool, takes_a_command, waits
from guards.circles import PENDING, Seen
from guards.memory import check_version, integer, integers
from guards.sequential import Climb, Margin, load_climb
from guards.text import fingerprint, quote

KEPT, WIDE, NEARBY, UNKNOWN = 64, 48, 16, 3
NO_FAILURE = 2**40
MOST = 64
"""Calls of one output that are looked at, the last ones."""
AGAIN = "These calls bring nothing new. Use what you already have, or do something else and say what you are after."


class Tools(Guard):
    """Tool calls that go round in circles, fail one after the other, or name tools that do not exist.

    Statistic: (1) the same call with the same result, or a cycle of up to 5 of them, `same` times in a row (one more
    where results are not known yet: then it trips before the call runs; two and a half times as many for a call that
    waits for something, by its words: poll, status, queue); (2) one tool, other arguments, always the same failure or
    nothing, 5 times (16 for a command line, where trying is the work; 12 for a long result that is no failure); (3)
    three calls within 16 of tools that were not offered; (4) `errors` failures in a row over two tools or more, or
    half as many again of one; (5) failures as the score of the shared sequential test; (6) at most 12 different calls
    with their results in the last 48. Arguments are compared in canonical JSON, results without identifiers, times
    and durations.
    Source: the union of ten public systems' rules, with results compared (their false alarms came from comparing less).
    False alarms: (5) derived, at most one in 10^6 calls while the share of failures given the past stays under the
    normal (0.5 at least); the gates: measured, none on the healthy development streams, one of 16 equal commands
    among them.
    Silent on purpose: the same call whose result changes (a poller, a test run after each fix); distinct calls however
    many; never by a tool's name alone. A new named turn starts the circles anew: each heartbeat may ask the same.
    Options: `same` (4), `errors` (8), `warm_up` calls of the sequential test (40).

        >>> from guards import Call, CallResult, Output
        >>> import random
        >>> seeded = random.Random(7)
        >>> jobs = [("read", f"note-{seeded.randrange(1000)}", "words") for _ in range(20)]
        >>> jobs += [("read", "log", "end")] * 5
        >>> guard, tripped = Tools(), []
        >>> for row, (name, path, result) in enumerate(jobs):
        ...     before = guard.update(Output("", (Call(name, {"path": path}),)))
        ...     after = guard.observe([CallResult(True, result)])
        ...     tripped += [row] * (before.level.name == "TRIP" or after.level.name == "TRIP")
        >>> tripped
        [23, 24]
    """

    name: ClassVar[str] = "tools"
    kind: ClassVar[Literal["gate", "sequential"]] = "gate"
    VERSION = 1

    @dataclass(frozen=True, slots=True)
    class Options:
        """Equal calls with equal results in a row, failures in a row, and the calls of the start."""

        same: int = options.option(4, 2, 1000)
        errors: int = options.option(8, 2, 1000)
        warm_up: int = options.option(40, 1, 10_000)

    def __init__(self, **given: object) -> None:
        self.options = options.read(self.Options, self.name, given)
        self.reset()

    def reset(self) -> None:
        """Forget the stream."""
        self._turn = 0
        self._seen: deque[Seen] = deque(maxlen=KEPT)
        self._asked: list[Seen] = []
        self._failures: deque[int] = deque(maxlen=KEPT)
        self._strange: deque[int] = deque(maxlen=NEARBY)
        self._errors = Climb(Margin(floor=0.5, early=0.6), self.options.warm_up)

    def update(self, output: Output) -> Verdict:
        """Judge the calls of the next output before they run."""
        self._seen.extend(self._asked)
        if output.turn is not None and (turn := fingerprint(output.turn) + 1) != self._turn:
            self._turn = turn
            self._seen.clear()
        calls = output.calls[-MOST:]
        texts = [canonical(call) for call in calls]
        self._asked = [_asked(call, text) for call, text in zip(calls, texts, strict=True)]
        if not calls:
            return Verdict(self.name)
        found = [self._not_offered(calls, output.offered)]
        found += [self._together(texts), self._circles([*self._seen, *self._asked], texts[-1])]
        return self._worst(found)

    def observe(self, results: Sequence[CallResult]) -> Verdict:
        """Judge what came back for the calls of the last output."""
        if not self._asked or not results:
            return Verdict(self.name)
        found: list[Verdict] = []
        for asked, result in zip(self._asked, results[-MOST:], strict=False):
            seen = asked.answered(result)
            self._seen.append(seen)
            found += [*self._failed(seen, result), self._circles(list(self._seen), result.text)]
        self._asked = self._asked[len(results) :]
        return self._worst(found)

    def _not_offered(self, calls: Sequence[Call], offered: frozenset[str] | None) -> Verdict:
        strange = [call.name for call in calls if offered is not None and call.name not in offered]
        self._strange.extend(int(offered is not None and call.name not in offered) for call in calls)
        if not strange:
            return Verdict(self.name)
        there = ", ".join(sorted(offered or ()))[:300] or "none"
        return self._strangers(strange[-1], f"Available tools: {there}. Use only these.")

    def _strangers(self, last: str, hint: str) -> Verdict:
        count = f"{sum(self._strange)} of the last {len(self._strange)} calls"
        return self._judged(
            sum(self._strange) / UNKNOWN, f"{count} were of tools that do not exist: {quote(last)}", hint
        )

    def _together(self, texts: Sequence[str]) -> Verdict:
        text, times = Counter(texts).most_common(1)[0]
        return self._judged(times / self.options.same, f"{times} equal calls in one reply: {quote(text)}", AGAIN)

    def _circles(self, seen: Sequence[Seen], text: str) -> Verdict:
        found = circles.cycle(seen, self.options.same) or circles.churn(seen) or circles.little(seen, WIDE)
        return (
            Verdict(self.name)
            if found is None
            else self._judged(found.score, f"{found.why}, last: {quote(text)}", AGAIN)
        )

    def _failed(self, seen: Seen, result: CallResult) -> list[Verdict]:
        self._failures.append(seen.name if seen.failed else NO_FAILURE)
        score = self._errors.update(float(seen.failed))
        found = []
        if names_no_tool(result) and self._strange:
            self._strange[-1] = 1
            found.append(
                self._strangers(result.text, "That tool does not exist. Use only the tools that you were offered.")
            )
        if not seen.failed:
            return found
        run = list(self._failures)[::-1]
        length = run.index(NO_FAILURE) if NO_FAILURE in run else len(run)
        alone = len(set(run[:length])) == 1
        limit = self.options.errors * (1.0 if not alone else 2.5 if seen.command else 1.5)
        hint = (
            "Your tool calls keep failing. Stop calling tools; say in one sentence what fails and what you would need."
        )
        found.append(
            self._judged(length / limit, f"{length} tool calls in a row failed, last with {quote(result.text)}", hint)
        )
        found.append(self._judged(score, f"most tool calls fail now, last with {quote(result.text)}", hint))
        return found

    def _judged(self, score: float, why: str, hint: str) -> Verdict:
        score = round(score, 3)
        if score < 0.75:
            return Verdict(self.name, Level.PASS, score)
        return Verdict(self.name, Level.TRIP if score >= 1 else Level.WARN, score, why, hint)

    def _worst(self, verdicts: Sequence[Verdict]) -> Verdict:
        return max(verdicts, key=lambda v: (v.level, v.score), default=Verdict(self.name))

    def state(self) -> dict[str, Json]:
        """Return the memory, about 10 kB at most."""
        return {
            "version": self.VERSION,
            "turn": self._turn,
            "seen": [value for seen in self._seen for value in seen],
            "asked": [value for asked in self._asked[-KEPT:] for value in asked],
            "failures": list(self._failures),
            "strange": list(self._strange),
            "errors": self._errors.state(),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        check_version(state, self.VERSION)
        self._turn = integer(state, "turn")
        self._seen = deque(_remembered(state, "seen"), maxlen=KEPT)
        self._asked = _remembered(state, "asked")
        self._failures = deque(integers(state, "failures", KEPT), maxlen=KEPT)
        self._strange = deque(integers(state, "strange", NEARBY, 1), maxlen=NEARBY)
        load_climb(self._errors, state, "errors")


def _asked(call: Call, text: str) -> Seen:
    return Seen(
        fingerprint(text),
        PENDING,
        fingerprint(call.name),
        patient=int(waits(call, text)),
        command=int(takes_a_command(call)),
    )


def _remembered(state: Mapping[str, Json], key: str) -> list[Seen]:
    width = len(Seen._fields)
    flat = integers(state, key, KEPT * width)
    return [Seen(*flat[i : i + width]) for i in range(0, len(flat) - width + 1, width)]
