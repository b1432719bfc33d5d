"""A whole run as it can be read back: the nouns of `daemon.types` again, and what was added to them later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from daemon.types import Feedback, Run, Step


@dataclass(frozen=True, slots=True)
class Reward:
    """What one version of a verifier gave one component of a run, or of one step of it."""

    component: str
    value: float
    verifier: str
    version: str
    step: int | None = None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run with all its steps.  `task` is what the heartbeat's file asked for; `rewards` come from verifiers.

    `feedback` is what a person did later to what it wrote.
    """

    run: Run
    task: Mapping[str, Any]
    steps: tuple[Step, ...] = ()
    rewards: tuple[Reward, ...] = ()
    feedback: tuple[Feedback, ...] = ()


@dataclass(frozen=True, slots=True)
class HintPlace:
    """Where a step's hint was put: in which later step, as which of its new messages, and after how many prompt ids.

    `at_token` is known where the reply was withheld and both attempts show their ids: the retry's prompt is then the
    bad turn's with the hint behind it, and differs from there on.  So the retry's `prompt_ids` are the teacher's.
    """

    step: int
    message: int
    role: str
    at_token: int | None


def hint_place(steps: tuple[Step, ...], index: int) -> HintPlace | None:
    """Return where the hint of a step was put, None when it has none or no attempt followed."""
    bad = steps[index]
    if not bad.hint or index + 1 >= len(steps):
        return None
    retry = steps[index + 1]
    for place in range(len(retry.sent) - 1, -1, -1):
        message = retry.sent[place]
        if bad.hint in message.text:
            return HintPlace(retry.number, place, message.role, parting(bad, retry) if bad.withheld else None)
    return None


def parting(bad: Step, retry: Step) -> int | None:
    """Return how many prompt ids the two attempts share, None where one of them shows none."""
    one, other = bad.reply.sample, retry.reply.sample
    if one is None or other is None or one.tokenizer != other.tokenizer:
        return None
    pairs = zip(one.prompt_ids, other.prompt_ids, strict=False)
    shorter = min(len(one.prompt_ids), len(other.prompt_ids))
    return next((n for n, (left, right) in enumerate(pairs) if left != right), shorter)
