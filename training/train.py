"""One training run from scratch: short copying first, then whole beats, then long threads, all under one seed."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor

from training import batches, induction
from training.corpus import threads
from training.model import Shape, Watchkeeper
from training.tokenizer import load_or_train


@dataclass(frozen=True)
class Phase:
    """A stretch of the run: which conversations, row length and rows a step (tokens), its share of all tokens."""

    kind: str
    length: int
    rows: int
    share: float
    heard: float


PHASES = (
    Phase("short", 320, 10, 0.12, 0.1),
    Phase("middle", 1024, 3, 0.5, 0.1),
    Phase("thread", 2560, 2, 0.38, 0.05),
)
MATRIX_RATE, VECTOR_RATE = 3e-3, 3e-3
WARM_UP_STEPS, DECAY_FROM = 40, 0.4
"""The rate stays high while copying is learnt and falls along a cosine afterwards."""

Batch = tuple[Tensor, Tensor]


def batch_stream(tokenizer: Tokenizer, phase: Phase, seed: str, held_out: bool = False) -> Iterator[Batch]:
    """Endless (ids, weights) of shape (rows, length + 1)."""
    source = batches.rows(tokenizer, getattr(threads, phase.kind), seed, phase.length, phase.heard, held_out)
    while True:
        ids, weights = zip(*(next(source) for _ in range(phase.rows)), strict=True)
        yield torch.from_numpy(np.stack(ids)), torch.from_numpy(np.stack(weights))


def weighted_loss(model: Watchkeeper, ids: Tensor, weights: Tensor) -> Tensor:
    """Mean cross-entropy in nats, each token by its weight."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(ids[:, :-1])
    losses = F.cross_entropy(logits.float().flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
    aim = weights[:, 1:].flatten()
    return (losses * aim).sum() / aim.sum()


@torch.no_grad()
def accuracy(model: Watchkeeper, held_out: list[Batch]) -> tuple[float, float]:
    """Share of the copied and of all spoken tokens that the model would choose itself, on names it never met."""
    hits = {True: [0.0, 1e-9], False: [0.0, 1e-9]}
    for ids, weights in held_out:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            right = (model(ids[:, :-1]).argmax(-1) == ids[:, 1:]).float()
        for copied in (True, False):
            aim = (weights[:, 1:] >= (batches.COPIED if copied else batches.SPOKEN)).float()
            hits[copied][0] += float((right * aim).sum())
            hits[copied][1] += float(aim.sum())
    return hits[True][0] / hits[True][1], hits[False][0] / hits[False][1]


def optimizers(model: Watchkeeper) -> list[torch.optim.Optimizer]:
    """Muon for the matrices inside the network (copying is learnt in far fewer tokens), AdamW for the rest."""
    inside = [weight for name, weight in model.named_parameters() if weight.dim() == 2 and "token_embd" not in name]
    rest = [weight for name, weight in model.named_parameters() if weight.dim() != 2 or "token_embd" in name]
    return [
        torch.optim.Muon(inside, lr=MATRIX_RATE, weight_decay=0.02, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(rest, lr=VECTOR_RATE, betas=(0.9, 0.97), weight_decay=0.0),
    ]


def rate(step: int, done: float) -> float:
    """The learning rate as a share of its highest; `done` is the share of all tokens seen."""
    warm = min(1.0, (step + 1) / WARM_UP_STEPS)
    if done < DECAY_FROM:
        return warm
    return warm * (0.03 + 0.97 * 0.5 * (1 + math.cos(math.pi * (done - DECAY_FROM) / (1 - DECAY_FROM))))


@dataclass(frozen=True)
class Plan:
    """How long, how, and from where. `minutes` ends a run early and shortens every phase alike."""

    build: Path
    tokens: float
    minutes: float
    seed: int
    threads: int
    eager: bool
    resume: Path | None
    begin: float
    rate: float

    def done(self, seen: int, began: float) -> float:
        """The share of the run that is over; a resumed run begins at `begin`."""
        share = max(seen / self.tokens, (time.monotonic() - began) / 60 / self.minutes)
        return self.begin + (1 - self.begin) * share


def train(plan: Plan) -> Path:
    """Train through the phases and leave the checkpoint in the build directory."""
    torch.manual_seed(plan.seed)
    torch.set_num_threads(plan.threads)
    tokenizer = load_or_train(plan.build / "tokenizer.json")
    model = Watchkeeper(Shape(vocabulary=tokenizer.get_vocab_size()))
    induction.prepare(model)
    if plan.resume:
        model.load_state_dict(torch.load(plan.resume)["weights"])
    print(f"{sum(weight.numel() for weight in model.parameters()):,} parameters", flush=True)
    loss_of = weighted_loss if plan.eager else torch.compile(weighted_loss, dynamic=False)
    steppers, held_out = optimizers(model), batch_stream(tokenizer, PHASES[1], "held out", held_out=True)
    watched = [next(held_out) for _ in range(4)]
    began, seen, step, passed = time.monotonic(), 0, 0, 0.0
    for phase in PHASES:
        stream = batch_stream(tokenizer, phase, f"train {plan.seed} {phase.kind}")
        passed += phase.share
        while (done := plan.done(seen, began)) < passed:
            for stepper, highest in zip(steppers, (MATRIX_RATE, VECTOR_RATE), strict=True):
                stepper.param_groups[0]["lr"] = plan.rate * highest * rate(step, done)
            loss = loss_of(model, *next(stream))
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for stepper in steppers:
                stepper.step()
                stepper.zero_grad(set_to_none=True)
            step, seen = step + 1, seen + phase.length * phase.rows
            if step % 100 == 0:
                copied, spoken = accuracy(model, watched)
                wall = time.monotonic() - began
                print(
                    f"{phase.kind:6} step {step} loss {loss.item():.3f} copied {copied:.3f} spoken {spoken:.3f} "
                    f"{seen / 1e6:.2f} M tokens {wall:.0f} s {seen / wall:.0f} tokens/s",
                    flush=True,
                )
                save(plan.build, model)
    return save(plan.build, model)


def save(build: Path, model: Watchkeeper) -> Path:
    """Write the checkpoint that `training.export` reads."""
    path = build / "checkpoint.pt"
    torch.save({"shape": asdict(model.shape), "weights": model.state_dict()}, path)
    return path


def main() -> None:
    """Command line of the run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=Path("build/model"))
    parser.add_argument("--tokens", type=float, default=10e6)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--eager", action="store_true", help="without torch.compile: no C++ compiler needed, slower")
    parser.add_argument("--resume", type=Path, help="a checkpoint to go on from")
    parser.add_argument("--begin", type=float, default=0.0, help="share of the phases and of the rate's curve to skip")
    parser.add_argument("--rate", type=float, default=1.0, help="factor on the learning rates")
    plan = Plan(**vars(parser.parse_args()))
    plan.build.mkdir(parents=True, exist_ok=True)
    train(plan)


if __name__ == "__main__":
    main()
