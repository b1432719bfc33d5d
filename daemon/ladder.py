"""The way back from a trip, rung by rung: each is tried once in a run for each guard, and asks the turn in another way.

retry: the guard's hint is shown.  quarantine: the infected texts leave the context.  sampler: the same model, sampled
less greedily, for this one attempt.  model: another one of the route, for the rest of the run.  Then there is rest.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from daemon.stages import Adjustable, Context, Model, Routed
from daemon.types import Message, Prompt, Reply, Step
from guards import Verdict

Rung: TypeAlias = Literal["retry", "quarantine", "sampler", "model", "rest"]

_CLIMBED: Mapping[str, tuple[Rung, ...]] = {
    "tripped": ("retry", "quarantine", "sampler", "model"),
    "failed": ("retry", "model"),  # what was expected did not happen: the context is not to blame for it
}
"""The rungs by how a run would end; a budget that is spent has none."""
_BUDGET, _SPENT = "budget", 0.99
"""A rung is a step more: where the last one that is allowed has tripped, there is none left to climb with."""
_REMEMBERED = 24
"""So many texts, the latest, are what a sampler is told to avoid."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way to have a turn: `asked` is shown `shown`.

    `prompt` is without the `hints`, of which each guard has one; `once` is asked in place of `model`, this time only.
    `sent` are the messages that the model has not seen yet, all of them if `anew`.  `told` are the hints of the turns
    before: the model sees them until the run ends.
    """

    model: Model
    prompt: Prompt
    sent: tuple[Message, ...]
    hints: Mapping[str, Message] = field(default_factory=dict)
    once: Model | None = None
    anew: bool = False
    told: tuple[Message, ...] = ()

    @property
    def asked(self) -> Model:
        return self.once or self.model

    @property
    def shown(self) -> Prompt:
        return self.prompt.plus(*self.hints.values())

    @property
    def joins(self) -> tuple[Message, ...]:
        """The run's own messages that may join the thread: a hint quotes what was withheld, so none does."""
        aside = (*self.told, *self.hints.values())
        return tuple(message for message in self.shown.turn if message not in aside)

    def then(self, said: Message, heard: tuple[Message, ...]) -> Attempt:
        """Return the next turn of a reply that was accepted: its hints stay where they are, all else is as usual."""
        told = (*self.told, *self.hints.values())
        return Attempt(self.model, self.shown.plus(said, *heard), heard, told=told)

    def otherwise(self, unsent: tuple[Message, ...], **changes: Any) -> Attempt:
        """Return the same turn with these changes; `unsent` is what the model has not been asked with yet."""
        before, other = self.shown.messages, replace(self, **{"once": None, **changes})
        after = other.shown.messages
        grown = after[: len(before)] == before
        return replace(other, sent=unsent + after[len(before) :] if grown else after, anew=not grown)


class Ladder:
    """The rungs of one run.  `lately` says which rung last helped against a guard that trips again soon after.

    `wordless` are the guards that judge no words: where they name no evidence, no text is to blame.  `texts` gives the
    words of a reply that guards judge.

    What did not last is not tried first again: the climb begins one rung higher, at the sampler at most, and comes to
    the lower rungs when the higher ones did not help.
    """

    def __init__(
        self,
        context: Context,
        lately: Mapping[str, Rung],
        wordless: frozenset[str],
        texts: Callable[[Reply | Message], Sequence[str]],
    ) -> None:
        self._context, self._wordless, self._texts = context, wordless, texts
        self._lately = lately
        self._taken: set[tuple[str, Rung]] = set()
        self._avoid: dict[str, None] = {}
        self._rungs: dict[Rung, Callable[[Verdict, Attempt], Awaitable[Mapping[str, Any] | None]]] = {
            "retry": self._retry,
            "quarantine": self._quarantine,
            "sampler": self._sampler,
            "model": self._model,
        }

    async def climb(self, trip: Verdict, attempt: Attempt, step: Step) -> tuple[Rung, Attempt]:
        """Return the next rung that can be taken after this trip, and the attempt that it leads to."""
        self._remember(self._texts(step.reply))
        if any(verdict.guard == _BUDGET and verdict.score >= _SPENT for verdict in step.verdicts):
            return "rest", attempt
        for rung in self._order(trip):
            if (trip.guard, rung) in self._taken:
                continue
            self._taken.add((trip.guard, rung))
            changes = await self._rungs[rung](trip, attempt)
            if changes is not None:
                hint = {trip.guard: self._context.hint(trip.hint)} if trip.hint else {}
                others = {guard: said for guard, said in attempt.hints.items() if guard != trip.guard}
                unsent = attempt.sent if step.results else ()
                return rung, attempt.otherwise(unsent, **{"hints": others | hint, **changes})
        return "rest", attempt

    def _order(self, trip: Verdict) -> tuple[Rung, ...]:
        rungs = _CLIMBED.get(trip.outcome, ())
        helped = self._lately.get(trip.guard)
        if helped is None or trip.outcome != "tripped":
            return rungs
        first = min(rungs.index(helped) + 1, rungs.index("sampler"))
        return rungs[first:] + rungs[:first]

    async def _retry(self, trip: Verdict, attempt: Attempt) -> Mapping[str, Any] | None:
        return {} if trip.hint else None

    async def _quarantine(self, trip: Verdict, attempt: Attempt) -> Mapping[str, Any] | None:
        if trip.guard in self._wordless and not trip.evidence:
            return None
        cleaned = await self._context.quarantine(attempt.prompt, trip.evidence)
        if cleaned.messages == attempt.prompt.messages:
            return None
        left = {text for message in cleaned.messages for text in self._texts(message)}
        for message in attempt.prompt.messages:
            if message.role == "assistant":
                self._remember([text for text in self._texts(message) if text not in left])
        return {"prompt": cleaned}

    async def _sampler(self, trip: Verdict, attempt: Attempt) -> Mapping[str, Any] | None:
        model = attempt.model
        loosened = model.loosened(tuple(self._avoid)) if isinstance(model, Adjustable) else None
        return None if loosened is None else {"once": loosened}

    async def _model(self, trip: Verdict, attempt: Attempt) -> Mapping[str, Any] | None:
        other = attempt.model.another() if isinstance(attempt.model, Routed) else None
        return None if other is None else {"model": other}

    def _remember(self, texts: Iterable[str]) -> None:
        for text in texts:
            self._avoid.pop(text, None)
            self._avoid[text] = None
        while len(self._avoid) > _REMEMBERED:
            self._avoid.pop(next(iter(self._avoid)))
