"""The budget guard: steps, tokens, seconds and dollars of a turn, tokens and dollars of a day and a month."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from guards import options
from guards.base import Guard, Json, Level, Output, Verdict, silent
from guards.memory import check_version, integer, number
from guards.text import fingerprint

DAY = 86_400
SECONDS = "seconds of this turn"
MOST = 10**15
"""What one output can cost at most, so that a wrong number stays a number."""
HINT = "Your budget for this turn is nearly spent. Finish now with one short sentence and no more tool calls."


class Budget(Guard):
    """A turn, a day or a month that costs more than it may.

    Statistic: the share used of each limit that is set, the highest one; a warning from 80 %, a trip at 100 %. Steps
    trip when the last allowed reply of a turn still asks for tools, as those would need one more. Days and months are
    UTC and come from the outputs' own time; an output without a time counts for its turn only.
    Source: arithmetic.
    False alarms: none by construction; it counts what it is told.
    Silent on purpose: without limits (the default); about a turn that has just begun after another one was stopped.
    Options, each None for no limit: `steps`, `tokens`, `usd` and `seconds` of a turn; `tokens_per_day`, `usd_per_day`,
    `tokens_per_month`, `usd_per_month`.

        >>> from guards import Call, Output, Spend
        >>> guard = Budget(steps=3, tokens=1000)
        >>> asks = [Output("", (Call("look"),), turn="a", spend=Spend(tokens=200)) for _ in range(3)]
        >>> [guard.update(output).level.name for output in asks]
        ['PASS', 'PASS', 'TRIP']
        >>> guard.update(Output("All is well.", turn="b", spend=Spend(tokens=900))).level.name
        'WARN'
    """

    name: ClassVar[str] = "budget"
    kind: ClassVar[Literal["gate", "sequential"]] = "gate"
    judges_words: ClassVar[bool] = False
    VERSION = 1

    @dataclass(frozen=True, slots=True)
    class Options:
        """Limits of a turn, a day and a month; None is no limit."""

        steps: int | None = options.option(None, 1)
        tokens: int | None = options.option(None, 1)
        usd: float | None = options.option(None, 0)
        seconds: float | None = options.option(None, 0)
        tokens_per_day: int | None = options.option(None, 1)
        usd_per_day: float | None = options.option(None, 0)
        tokens_per_month: int | None = options.option(None, 1)
        usd_per_month: float | None = options.option(None, 0)

    options: Options

    def reset(self) -> None:
        """Forget the stream and all that it cost."""
        self._turn = self._day = self._month = 0
        self._steps = self._tokens = self._day_tokens = self._month_tokens = 0
        self._usd = self._seconds = self._day_usd = self._month_usd = 0.0

    def update(self, output: Output) -> Verdict:
        """Count an output and judge what is used up."""
        self._count(output)
        used: tuple[tuple[str, float, float | None], ...] = (
            ("tokens of this turn", self._tokens, self.options.tokens),
            ("dollars of this turn", self._usd, self.options.usd),
            (SECONDS, self._seconds, self.options.seconds),
            ("tokens of this day", self._day_tokens, self.options.tokens_per_day),
            ("dollars of this day", self._day_usd, self.options.usd_per_day),
            ("tokens of this month", self._month_tokens, self.options.tokens_per_month),
            ("dollars of this month", self._month_usd, self.options.usd_per_month),
        )
        verdicts = [self._used(what, much, limit) for what, much, limit in used if limit is not None]
        return max([self._steps_used(bool(output.calls)), *verdicts], key=lambda v: (v.level, v.score))

    def _count(self, output: Output) -> None:
        turn = 0 if output.turn is None else fingerprint(output.turn) + 1
        if turn != self._turn or turn == 0:
            self._steps = self._tokens = 0
            self._usd = self._seconds = 0.0
        self._turn = turn
        self._steps += 1
        tokens, usd = min(max(0, output.spend.tokens), MOST), min(max(0.0, output.spend.usd), MOST)
        self._tokens += tokens
        self._usd += usd
        self._seconds += min(max(0.0, output.spend.seconds), MOST)
        if output.ts is None:
            return
        day, month = _calendar(output.ts)
        if not self._day - 1 <= day <= self._day:  # a clock that steps back over midnight does not refill the budget
            self._day, self._day_tokens, self._day_usd = day, 0, 0.0
        if not self._month - 1 <= month <= self._month:
            self._month, self._month_tokens, self._month_usd = month, 0, 0.0
        self._day_tokens += tokens
        self._day_usd += usd
        self._month_tokens += tokens
        self._month_usd += usd

    def _steps_used(self, asks: bool) -> Verdict:
        limit = self.options.steps
        if limit is None:
            return silent(self.name)
        if not asks:
            return silent(self.name, min(self._steps / limit, 0.99))
        return self._used("steps of this turn", self._steps, limit)

    def _used(self, what: str, used: float, limit: float) -> Verdict:
        share = used / limit if limit else float(used > 0)
        level = Level.of(share)
        if level is Level.PASS:
            return Verdict(self.name, level, round(share, 4))
        why = f"{used:.6g} of {limit:.6g} {what} are used"
        outcome: Literal["over_budget", "timed_out"] = "timed_out" if what == SECONDS else "over_budget"
        return Verdict(
            self.name, level, round(max(share, 1.0) if share >= 1 else min(share, 0.9999), 4), why, HINT, outcome
        )

    def state(self) -> dict[str, Json]:
        """Return the counters."""
        return {
            "version": self.VERSION,
            **{key: getattr(self, f"_{key}") for key in COUNTS},
            **{key: getattr(self, f"_{key}") for key in AMOUNTS},
        }

    def load(self, state: Mapping[str, Json]) -> None:
        """Continue from `state()`; raises ValueError on anything else."""
        check_version(state, self.VERSION)
        counts = {key: integer(state, key, 2**80) for key in COUNTS}
        amounts = {key: number(state, key) for key in AMOUNTS}
        for key, value in {**counts, **amounts}.items():
            setattr(self, f"_{key}", value)


COUNTS = ("turn", "day", "month", "steps", "tokens", "day_tokens", "month_tokens")
AMOUNTS = ("usd", "seconds", "day_usd", "month_usd")


def _calendar(ts: float) -> tuple[int, int]:
    """Return (day, month) of a time as running numbers above 0, UTC, from the civil calendar's own arithmetic."""
    day = int(min(max(0.0, ts), 4e11) // DAY)
    shifted = day + 719_468  # days since 1 March of the year 0, so that the leap day ends a year
    era, of_era = divmod(shifted, 146_097)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    march_month = (5 * of_year + 2) // 153
    return day + 1, (era * 400 + year) * 12 + march_month + 1
