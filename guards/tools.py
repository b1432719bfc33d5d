"""The tool guard: calls that lead nowhere."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from guards import churn, circles, options
from guards.base import Call, CallResult, Guard, Json, Level, Output, Verdict, silent
from guards.calls import acts, canonical, names_no_tool, patience, says_nothing, takes_a_command
from guards.circles import PENDING, Circle, Seen
from guards.failures import Failures
from guards.finish import Finish
from guards.memory import check_version, integer, integers, nested
from guards.promise import limit
from guards.routine import Routine
from guards.strangers import Strangers
from guards.text import fingerprint, quote

KEPT = 64
"""Calls that are remembered; and of one output, the last so many that are looked at."""
LABEL = 120
"""Characters of the last call that are kept to show it."""
SHOWN = 60
"""Characters of it that the model is told."""
FAILING = "Stop calling tools for now; say in one sentence what fails and what you would need."
FINISHED = (
    "Saying it once more ends nothing. Read what the last result asks for, or say in one sentence what is missing."
)
AGAIN = "More of it will bring nothing new. Use what you have already, or do something else and say what you are after."


class Tools(Guard):
    """Tool calls that go round in circles, fail one after the other, or name tools that do not exist.

    Statistic: gates within a turn (without names of turns, over all outputs): the same call with the same result `same`
    times in a row, or a cycle of up to 5 calls one time less; one more where results are not known yet (so that it
    trips before the call runs) or new words came with a call; 1.5 and 2.5 times as often for a call that asks how far
    something is (status, queue, tail) or waits (poll, sleep), by its words. The same call failing `same` times with
    nothing in between. One tool, other arguments, always the same failure or nothing, 5 times (14 for a command line,
    where trying is the work; 12 for a long answer). Three edits in a row that changed nothing. Of 24, 32 or 48 calls
    with their results, a quarter different at most. A call that by its name ends the work (done, finish, complete,
    submit), made the 4th time (without names of turns, each in half of the outputs that the first took, 24 at least).
    Gates over all turns: `errors` failures in a row over several tools (1.5 times as many of one, 1.75 of a shell), or
    20 in 24 (23 of a shell); 8 whole turns of nothing but failures; three calls within 16 of tools that do not exist.
    Sequential tests of the share of failures, of calls of tools that do not exist, and of named turns that only repeat
    (call, result) pairs of earlier turns, none of them made at the start. Results are compared without identifiers,
    times and durations; one without any text, from a tool that never told anything, counts as not known. Equal calls of
    one reply count as often as they were answered: some recorders write each call down twice.
    Source: the union of ten public systems' rules, with results compared (their false alarms came from comparing less);
    the tests: Shin, Ramdas and Rinaldo 2022.
    False alarms: the tests derived, each its share of guards/promise.py while what is normal stays as it was at the
    start; the gates measured, none on 620 healthy streams of people and agents (100 with calls), one of 16 equal
    commands among them.
    Silent on purpose: the same call whose result changes (a poller, a test run after each fix); distinct calls however
    many; never by a tool's name alone; what each heartbeat asked from the start; calls whose results nobody recorded,
    made from the start and each time with new words.
    Options: `same` (4), `errors` (8), `warm_up` calls, or turns, of the sequential tests (40), `caution`: years for one
    false trip of those tests (1).

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
    tests: ClassVar[int] = 3
    judges_words: ClassVar[bool] = False
    VERSION = 4

    @dataclass(frozen=True, slots=True)
    class Options(options.Sequential):
        """Equal calls with equal results and failures in a row; the start is counted in calls."""

        same: int = options.option(4, 2, 1000)
        errors: int = options.option(8, 2, 1000)

    options: Options

    def reset(self) -> None:
        """Forget the stream."""
        self._turn = self._said = 0
        self._called = ""
        self._seen: deque[Seen] = deque(maxlen=KEPT)
        self._asked: list[Seen] = []
        self._telling: deque[int] = deque(maxlen=KEPT)
        warm_up, most = self.options.warm_up, limit(self.options.caution)
        self._strangers = Strangers(warm_up, most)
        self._failures = Failures(self.options.errors, warm_up, most)
        self._routine = Routine(warm_up, most)
        self._finish = Finish()

    def update(self, output: Output) -> Verdict:
        """Judge the calls of the next output before they run."""
        self._seen.extend(_once(self._asked))
        self._begin(output)
        said = fingerprint(output.text.strip()) if output.text else 0
        spoken = 0 if not said else 1 if said == self._said else 2
        self._said = said
        calls = output.calls[-KEPT:]
        done = self._finish.update(calls, named=self._turn > 0)
        texts = [canonical(call) for call in calls]
        self._asked = [self._ask(call, text, spoken) for call, text in zip(calls, texts, strict=True)]
        if not calls:
            return silent(self.name)
        self._called = texts[-1][:LABEL]
        found = [self._not_offered(calls, output.offered), self._together(texts)]
        if done.score:
            found.append(self._judged([done], FINISHED, asked=("last:", calls[-1].name)))
        return self._worst([*found, self._circles([*self._seen, *_once(self._asked)])])

    def _begin(self, output: Output) -> None:
        turn = 0 if output.turn is None else fingerprint(output.turn) + 1
        if turn and turn == self._turn:
            return
        if turn:
            self._seen.clear()
            self._failures.turn()
            self._finish.turn()
        self._routine.turn(output.model, output.prompt, named=self._turn > 0)
        self._turn = turn

    def _ask(self, call: Call, text: str, spoken: int) -> Seen:
        mark = fingerprint(text)
        return Seen(
            mark,
            PENDING,
            fingerprint(call.name),
            patient=patience(text),
            command=int(takes_a_command(call)),
            acts=int(acts(call)),
            spoken=spoken,
            usual=int(self._routine.usual(mark)),
        )

    def observe(self, results: Sequence[CallResult]) -> Verdict:
        """Judge what came back for the calls of the last output."""
        if not self._asked or not results:
            return silent(self.name)
        found: list[Verdict] = []
        once = _once(self._asked)
        if len(results) == len(once):
            self._asked = once
        for asked, result in zip(self._asked, results[-KEPT:], strict=False):
            seen = self._answered(asked, result)
            self._seen.append(seen)
            found.append(self._circles(list(self._seen), result.text))
            failed = list(self._failures.heard(seen))
            found.append(self._judged(failed, FAILING, came=("last with", result.text)))
            if names_no_tool(result):
                self._strangers.exposed()
                hint = "Use only the tools that you were offered, by their exact names."
                found.append(self._judged(self._strangers.found(), hint, came=("last:", result.text)))
        self._asked = self._asked[len(results) :]
        return self._worst(found)

    def _answered(self, asked: Seen, result: CallResult) -> Seen:
        """Return the call with its result; nothing, from a tool that never told anything, is no result."""
        if not says_nothing(result):
            if asked.name not in self._telling:
                self._telling.append(asked.name)
        elif asked.name not in self._telling:
            return asked
        return asked.answered(result)

    def _not_offered(self, calls: Sequence[Call], offered: frozenset[str] | None) -> Verdict:
        strange = [call.name for call in calls if offered is not None and call.name not in offered]
        for call in calls:
            self._strangers.asked(offered is not None and call.name not in offered)
        if not strange:
            return silent(self.name)
        there = quote(", ".join(sorted(offered or ())), 300) if offered else "none"
        hint = f"There is no tool {quote(strange[-1], 60)}. Available tools: {there}. Use only these."
        return self._judged(self._strangers.found(), hint, asked=("last:", strange[-1]))

    def _together(self, texts: Sequence[str]) -> Verdict:
        text, times = Counter(texts).most_common(1)[0]
        circle = Circle(times / max(2, self.options.same - 1), f"{times} equal calls in one reply")
        return self._judged([circle], f"Once is enough. {AGAIN}", asked=("each", text))

    def _circles(self, seen: Sequence[Seen], brought: str | None = None) -> Verdict:
        last = seen[-1]
        found = [churn.churn(seen), churn.unchanged(seen)]
        if any(one.call == last.call for one in seen[:-1]):
            same = self.options.same
            found += [circles.cycle(seen, same), circles.stubborn(seen, same), circles.little(seen)]
        if last.result != PENDING:
            found.append(self._routine.heard(last))
        came = None if brought is None else ("which brought", brought)
        return self._judged([one for one in found if one is not None], AGAIN, asked=("last:", self._called), came=came)

    def _judged(
        self,
        found: Iterable[Circle],
        hint: str,
        asked: tuple[str, str] | None = None,
        came: tuple[str, str] | None = None,
    ) -> Verdict:
        """Return a verdict on the worst of what was found.

        Its reason shows what was asked and what came of it.  The hint shows only what the model itself asked: whoever
        wrote a page that a tool brought must not get a word into what the model is told by us.
        """
        worst = max(found, key=lambda circle: circle.score, default=Circle(0.0, ""))
        score = round(worst.score, 3)
        if Level.of(score) is Level.PASS:
            return silent(self.name, score)
        level = Level.of(score)
        why = ", ".join([worst.why, *(f"{word} {quote(text)}" for word, text in filter(None, (asked, came)))])
        told = f"{worst.why}, {asked[0]} {quote(asked[1], SHOWN)}" if asked else worst.why
        return Verdict(self.name, level, score, why, f"Look at your tool calls: {told}. {hint}")

    def _worst(self, verdicts: Sequence[Verdict]) -> Verdict:
        return max(verdicts, key=lambda v: (v.level, v.score), default=silent(self.name))

    def state(self) -> dict[str, Json]:
        """Return the memory, about 12 kB at most."""
        return {
            "version": self.VERSION,
            "turn": self._turn,
            "said": self._said,
            "called": self._called,
            "seen": [value for seen in self._seen for value in seen],
            "asked": [value for asked in self._asked[-KEPT:] for value in asked],
            "telling": list(self._telling),
            "strangers": self._strangers.state(),
            "failures": self._failures.state(),
            "routine": self._routine.state(),
            "finish": self._finish.state(),
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        check_version(state, self.VERSION)
        self.reset()
        self._turn, self._said = integer(state, "turn"), integer(state, "said")
        called = state.get("called")
        if not isinstance(called, str) or len(called) > LABEL:
            raise ValueError(f"'called' should be a text of at most {LABEL} characters")
        self._called = called
        self._seen = deque(_remembered(state, "seen"), maxlen=KEPT)
        self._asked = _remembered(state, "asked")
        self._telling = deque(integers(state, "telling", KEPT), maxlen=KEPT)
        self._strangers.load(nested(state, "strangers"))
        self._failures.load(nested(state, "failures"))
        self._routine.load(nested(state, "routine"))
        self._finish.load(nested(state, "finish"))


def _once(asked: Sequence[Seen]) -> list[Seen]:
    """Return equal calls of one reply once: they ran more than once only where each of them has an answer."""
    return list({one.call: one for one in asked}.values())


def _remembered(state: Mapping[str, Json], key: str) -> list[Seen]:
    width = len(Seen._fields)
    flat = integers(state, key, KEPT * width)
    seen = [Seen(*flat[i : i + width]) for i in range(0, len(flat) - width + 1, width)]
    if any(one.patient > 2 for one in seen):
        raise ValueError(f"{key!r} should hold a patience of 2 at most")
    return seen
