"""A second opinion, off by default: a model is asked whether a suspicion of the guards is right.

It may clear what a sequential guard found by statistics and nothing else: no gate (a guard's, or one verdict's), no
budget, and no warning becomes a trip, because the promise about false alarms is the guards' own.  What it is shown is
untrusted; what it answers is read as one word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import structlog

from daemon.context.data import marked, prompt
from daemon.errors import ModelError, ModelUnavailable
from daemon.stages import Model
from daemon.types import Message, Prompt, Usage
from guards import Level, Verdict
from guards.text import quote

log = structlog.get_logger()

NAME = "judge"
_MOST = 4_000
_MARKED = r"[*_`\"']*"
_ANSWER = re.compile(
    rf"\W*(?:((?i:clear|confirm))(?i:ed|s)?{_MARKED}(?:[.!]|[ \t]*(?:[\r\n]|\Z))"
    rf"|(CLEAR|CONFIRM)(?:ED|S)?{_MARKED}[:,])"
)
"""The word alone: "Clear repetition." is none.  Before a comma or colon it stands in capitals, as it was asked for."""
_BOTH = re.compile(r"\bclear(?:ed|s)?\b.*\bconfirm|\bconfirm(?:ed|s)?\b.*\bclear", re.IGNORECASE | re.DOTALL)


@dataclass(slots=True)
class Judge:
    """Asks `model` about each sequential guard at most once a run; an answer may take `seconds`."""

    model: Model
    seconds: float
    thread: str
    _asked: set[str] = field(default_factory=set)

    async def review(
        self, verdicts: Sequence[Verdict], text: str, sequential: frozenset[str], seconds: float
    ) -> tuple[tuple[Verdict, ...], Usage]:
        """Return the verdicts with the judge's own behind them, and what asking cost.

        A verdict named "judge" says what it answered; a trip that it cleared has become a warning.
        """
        reviewed, usage = list(verdicts), Usage()
        for place, verdict in enumerate(verdicts):
            statistical = verdict.outcome == "tripped" and verdict.guard in sequential and not verdict.gate
            if verdict.level is not Level.TRIP or not statistical or verdict.guard in self._asked:
                continue
            self._asked.add(verdict.guard)
            left = max(1.0, min(self.seconds, seconds - usage.seconds))
            answer, said, cost = await self._ask(verdict, text, left)
            usage = usage.plus(cost)
            if answer == "clear":
                reviewed[place] = replace(verdict, level=Level.WARN)
            done = {"clear": "clears", "confirm": "confirms"}.get(answer, "has nothing to say of")
            reviewed.append(Verdict(NAME, Level.PASS, 0.0, f"{done} {verdict.guard}: {said}"))
            log.info("judge.answered", guard=verdict.guard, answer=answer or "nothing", said=said)
        return tuple(reviewed), usage

    async def _ask(self, verdict: Verdict, text: str, seconds: float) -> tuple[str, str, Usage]:
        shown = [
            f"The guard is {verdict.guard}.",
            marked("finding", verdict.reason, _MOST),
            marked("evidence", "\n".join(verdict.evidence) or "(none)", _MOST),
            marked("text", text, _MOST),
            "CONFIRM or CLEAR?",
        ]
        asked = Prompt(f"{self.thread}#{NAME}", (Message("system", prompt(NAME)), Message("user", "\n".join(shown))))
        try:
            reply = await self.model.reply(asked, stop=lambda _: False, seconds=seconds)
        except (ModelUnavailable, ModelError) as gone:
            return "", f"it could not be asked: {quote(str(gone), 200)}", Usage()
        found = _ANSWER.match(reply.text)
        certain = found is not None and reply.finish == "stop" and not _BOTH.search(reply.text)
        return ((found[1] or found[2]).lower() if found and certain else ""), quote(reply.text, 200), reply.usage
