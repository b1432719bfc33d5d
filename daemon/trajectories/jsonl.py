"""The export `jsonl`: one run a line, with nothing left out (`jsonl_reading` gives the very same record back).

schema         "trimtab-run/1"
run, heartbeat, occurrence (its number), scheduled_for, manual, thread, model, commit (in the vault, or null), said
started_at, ended_at      UTC; null while it goes on
outcome, reason           null and "" while it goes on
usage                     {prompt, reused, completion} in tokens, usd, seconds
step_count                how many steps the run counted as it ended
task                      what the heartbeat's file asked for: instruction, models, tools, expect, facts, budget
steps                     in the order of their number:
  number, started_at, model
  sent                    the messages that were new to the model in this step, or with `anew` the whole prompt
  tools                   what it was offered, with JSON Schema parameters
  reply                   {text, calls: [{id, name, args}], finish, note, usage}; args is an object, never a string
  sample                  null where the backend shows no tokens, else
    prompt_ids            every id that the model was shown, in full
    completion_ids, logprobs (float32; raw softmax at temperature 1; null is unknown), mask: all of one length;
                          mask is 1 where the id was sampled by the model and 0 in a reply that a breaker edited
    model, tokenizer, template (SHA-256), sampling (the settings that were in force)
  verdicts                {guard, level: pass|warn|trip, score, reason, hint, outcome, evidence: [text]}
  results                 {call: {id, name, args}, ok, text, seconds}
  withheld, edited_by_breaker, anew
  rung                    what recovery did next: "", retry, quarantine, sampler, model or rest
  hint                    null, or {text, place}; place is null where no attempt followed, else {step, message, role,
                          at_token}: the message of that later step which holds it, and how many prompt ids come
                          before the two attempts part (null where that is not known)
rewards                   {component, value, verifier, version, step (null: the whole run)}
message                   {role, text, calls, call_id, name, failed, token_ids, token_model}
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime
from typing import Any, ClassVar, TextIO

from daemon.trajectories.packing import stamp, to_json
from daemon.trajectories.record import HintPlace, Reward, RunRecord, hint_place
from daemon.trajectories.rows import call_document, tool_document
from daemon.types import Message, Run, Sample, Step, Usage
from guards import Verdict

SCHEMA = "trimtab-run/1"

Document = dict[str, Any]


class JsonLines:
    """Writes runs as lines of JSON, one at a time, so that memory stays bounded."""

    UNIT: ClassVar[str] = "runs"

    def write(self, records: Iterable[RunRecord], out: TextIO) -> int:
        """Write the runs in the order in which they come; return how many."""
        count = 0
        for record in records:
            out.write(to_json(_run(record)) + "\n")
            count += 1
        return count


def _run(record: RunRecord) -> Document:
    run, occurrence = record.run, record.run.occurrence
    return {
        "schema": SCHEMA,
        "run": run.id,
        "heartbeat": occurrence.heartbeat,
        "occurrence": occurrence.id,
        "scheduled_for": stamp(occurrence.scheduled_for),
        "manual": occurrence.manual,
        "thread": run.thread,
        "model": run.model,
        "commit": run.commit,
        "said": run.said,
        "started_at": stamp(run.started_at),
        "ended_at": _time(run.ended_at),
        "outcome": None if run.outcome is None else run.outcome.value,
        "reason": run.reason,
        "usage": _usage(run.usage),
        "step_count": run.steps,
        "task": record.task,
        "steps": [_step(step, hint_place(record.steps, place)) for place, step in enumerate(record.steps)],
        "rewards": [_reward(reward) for reward in record.rewards],
    }


def _step(step: Step, place: HintPlace | None) -> Document:
    reply = step.reply
    return {
        "number": step.number,
        "started_at": stamp(step.started_at),
        "model": reply.model,
        "sent": [message_document(message) for message in step.sent],
        "tools": [tool_document(tool) for tool in step.tools],
        "reply": {
            "text": reply.text,
            "calls": [call_document(call) for call in reply.calls],
            "finish": reply.finish,
            "note": reply.note,
            "usage": _usage(reply.usage),
        },
        "sample": None if reply.sample is None else sample_document(reply.sample, edited=step.edited_by_breaker),
        "verdicts": [_verdict(verdict) for verdict in step.verdicts],
        "results": [
            {"call": call_document(result.call), "ok": result.ok, "text": result.text, "seconds": result.seconds}
            for result in step.results
        ],
        "withheld": step.withheld,
        "edited_by_breaker": step.edited_by_breaker,
        "anew": step.anew,
        "rung": step.rung,
        "hint": {"text": step.hint, "place": _place(place)} if step.hint else None,
    }


def sample_document(sample: Sample, *, edited: bool) -> Document:
    """Return ids, log-probabilities and mask, and what sampled them."""
    return {
        "prompt_ids": sample.prompt_ids,
        "completion_ids": sample.completion_ids,
        "logprobs": [None if math.isnan(x) else x for x in sample.logprobs],
        "mask": [0 if edited else 1] * len(sample.completion_ids),
        "model": sample.model,
        "tokenizer": sample.tokenizer,
        "template": sample.template,
        "sampling": sample.sampling,
    }


def origin_document(run: Run) -> Document:
    """Return which run something is of, as the exports of parts of runs show it."""
    return {
        "run": run.id,
        "heartbeat": run.occurrence.heartbeat,
        "thread": run.thread,
        "outcome": None if run.outcome is None else run.outcome.value,
    }


def message_document(message: Message) -> Document:
    """Return a message with its token ids."""
    return {
        "role": message.role,
        "text": message.text,
        "calls": [call_document(call) for call in message.calls],
        "call_id": message.call_id,
        "name": message.name,
        "failed": message.failed,
        "token_ids": message.token_ids,
        "token_model": message.token_model,
    }


def _verdict(verdict: Verdict) -> Document:
    return {
        "guard": verdict.guard,
        "level": str(verdict.level),
        "score": verdict.score,
        "reason": verdict.reason,
        "hint": verdict.hint,
        "outcome": verdict.outcome,
        "evidence": verdict.evidence,
    }


def _place(place: HintPlace | None) -> Document | None:
    if place is None:
        return None
    return {"step": place.step, "message": place.message, "role": place.role, "at_token": place.at_token}


def _reward(reward: Reward) -> Document:
    return {
        "component": reward.component,
        "value": reward.value,
        "verifier": reward.verifier,
        "version": reward.version,
        "step": reward.step,
    }


def _usage(usage: Usage) -> Document:
    return {
        "prompt": usage.prompt,
        "reused": usage.reused,
        "completion": usage.completion,
        "usd": usage.usd,
        "seconds": usage.seconds,
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else stamp(moment)
