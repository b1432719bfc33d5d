"""The export `pairs`: a reply that a guard withheld beside the one that was accepted in its place, one pair a line.

schema          "trimtab-pair/1"
run, heartbeat, thread, outcome (of the run; null while it goes on)
guard, score, reason, evidence    of the trip that withheld `rejected`
rungs           what recovery tried, in order; the last one gave the accepted reply
trips           {rung, guard, reason, hint}, one for each rung, in their order: what withheld each reply, and the text
                of its hint ("" for none)
prompt          the messages that the withheld reply answered: no hint of this trip is among them
tools           what was offered
hint            that of the same trip: null where it had none, or `chosen_prompt` holds it no more; otherwise {text,
                message, at_token}: which message of `chosen_prompt` it is, and how many prompt ids come before the two
                attempts part (null where that is not known)
chosen_prompt   the messages that the accepted reply answered
rejected, chosen    {step, text, calls, model, note, sample}; messages, calls and samples as in `jsonl`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TextIO

from daemon.trajectories.jsonl import message_document, origin_document, sample_document
from daemon.trajectories.packing import to_json
from daemon.trajectories.record import RunRecord, parting
from daemon.trajectories.rows import call_document, tool_document
from daemon.types import Message, Step
from guards import Level, Verdict, worst

SCHEMA = "trimtab-pair/1"

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answers to one turn, each with the prompt that it answers, and all replies `withheld` between."""

    rejected: Step
    chosen: Step
    prompt: tuple[Message, ...]
    chosen_prompt: tuple[Message, ...]
    withheld: tuple[Step, ...]


class Pairs:
    """Writes the pairs of runs as lines of JSON."""

    UNIT: ClassVar[str] = "pairs"

    def write(self, records: Iterable[RunRecord], out: TextIO) -> int:
        """Write the pairs in the order in which they come; return how many."""
        count = 0
        for record in records:
            for pair in pairs(record.steps):
                out.write(to_json(_document(record, pair)) + "\n")
                count += 1
        return count


def pairs(steps: Sequence[Step]) -> Iterator[Pair]:
    """Yield a pair for each turn whose first reply was withheld and a later one accepted."""
    prompt: tuple[Message, ...] = ()
    stumbles: list[tuple[Step, tuple[Message, ...]]] = []
    for step in steps:
        prompt = step.sent if step.anew or not prompt else prompt + step.sent
        if step.withheld:
            stumbles = [] if step.rung == "rest" else [*stumbles, (step, prompt)]  # what follows a rest is another turn
            continue
        if stumbles and not step.edited_by_breaker:
            first, asked = stumbles[0]
            yield Pair(first, step, asked, prompt, tuple(stumble for stumble, _ in stumbles))
        stumbles = []
        prompt += (step.reply.message(),)


def _document(record: RunRecord, pair: Pair) -> Document:
    trip = _tripped(pair.rejected)
    return {
        "schema": SCHEMA,
        **origin_document(record.run),
        "guard": trip.guard if trip else "",
        "score": trip.score if trip else 0.0,
        "reason": trip.reason if trip else "",
        "evidence": trip.evidence if trip else (),
        "rungs": [step.rung for step in pair.withheld],
        "trips": [_trip_document(step) for step in pair.withheld],
        "prompt": [message_document(message) for message in pair.prompt],
        "tools": [tool_document(tool) for tool in pair.rejected.tools],
        "hint": _hint(pair),
        "chosen_prompt": [message_document(message) for message in pair.chosen_prompt],
        "rejected": reply_document(pair.rejected),
        "chosen": reply_document(pair.chosen),
    }


def _tripped(step: Step) -> Verdict | None:
    """Return the trip that withheld a reply: the one whose hint was given, or else the worst."""
    trips = [verdict for verdict in step.verdicts if verdict.level is Level.TRIP]
    return worst(trip for trip in trips if step.hint and trip.hint == step.hint) or worst(trips)


def _trip_document(step: Step) -> Document:
    trip = _tripped(step)
    return {
        "rung": step.rung,
        "guard": trip.guard if trip else "",
        "reason": trip.reason if trip else "",
        "hint": step.hint,
    }


def _hint(pair: Pair) -> Document | None:
    hint = pair.rejected.hint
    places = [place for place, message in enumerate(pair.chosen_prompt) if hint and hint in message.text]
    if not places:
        return None
    return {"text": hint, "message": places[-1], "at_token": parting(pair.rejected, pair.chosen)}


def reply_document(step: Step) -> Document:
    """Return the reply of a step as the exports show it."""
    reply = step.reply
    return {
        "step": step.number,
        "text": reply.text,
        "calls": [call_document(call) for call in reply.calls],
        "model": reply.model,
        "note": reply.note,
        "sample": None if reply.sample is None else sample_document(reply.sample, edited=step.edited_by_breaker),
    }
