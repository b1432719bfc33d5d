"""How much the model repeats itself: over the turns of a thread, and inside one reply that is never allowed to end."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import replace

from training.corpus import watch_log
from training.corpus.conversation import calls, render, result
from training.corpus.draw import Draw
from training.corpus.facts import draw_host
from training.corpus.host_phrases import DEFAULT_TOPICS
from training.corpus.host_requests import whole_check
from training.corpus.world import World
from training.player import Player, Sampling, parsed

TURNS = 20
LONGEST_CONTEXT = 2400
"""Older turns are dropped beyond this many tokens, as the daemon does."""


def entries(player: Player, sampling: Sampling, seed: int) -> list[str]:
    """Twenty turns of the watch log, each reply fed back."""
    world = World(Draw(f"repetition log {seed}", held_out=True), long=True)
    history, said = [world.system().as_chat()], list[str]()
    for turn in range(TURNS):
        history.append(world.wake("Continue the watch log.").as_chat())
        said.append(player.chat(history, (), sampling, seed * 100 + turn))
        history.append({"role": "assistant", "content": said[-1]})
        world.next_beat()
        while sum(len(part["content"]) for part in history) > LONGEST_CONTEXT * 3:
            del history[1:3]
    return said


def verdicts(player: Player, sampling: Sampling, seed: int) -> tuple[list[str], list[str]]:
    """Notes and last sentences of twenty beats on a calm machine where only the load moves, by hundredths."""
    draw = Draw(f"repetition host {seed}", held_out=True)
    world = World(draw, long=True)
    world.host = replace(draw_host(draw), memory=41, failed=(), errors=0, error_lines=())
    request, tools = whole_check(draw, DEFAULT_TOPICS, "journal"), ("host", "vault")
    history, notes, last = [world.system().as_chat()], list[str](), list[str]()
    for turn in range(TURNS):
        world.now = world.now.replace(minute=turn * 3)
        world.host = replace(world.host, load=(f"0.3{turn % 4}", "0.20", "0.11"))
        shown = result("host", *world.host.lines()).as_chat()
        history += [world.wake(request).as_chat(), calls("host", {"what": "all"}).as_chat(), shown]
        reply = player.chat(history, tools, sampling, seed * 100 + turn)
        call = parsed(reply, tools)
        notes.append(call[1].get("text", "") if call else reply)
        history += [{"role": "assistant", "content": reply}, result("vault", f"appended to {world.today()}").as_chat()]
        last.append(player.chat(history, tools, sampling, seed * 100 + turn))
        history.append({"role": "assistant", "content": last[-1]})
        while sum(len(part["content"]) for part in history) > LONGEST_CONTEXT * 2.6:
            del history[1:7]
    return notes, last


def repeats(said: Sequence[str]) -> float:
    """Share of replies that stood word for word before."""
    return sum(text in said[:place] for place, text in enumerate(said)) / len(said)


def first_repeat(said: Sequence[str]) -> int | None:
    """The first turn (from 1) that repeats an earlier one."""
    return next((place + 1 for place, text in enumerate(said) if text in said[:place]), None)


def distinct(texts: Sequence[str], size: int = 4) -> float:
    """Share of different word groups of this size among all."""
    words = [re.findall(r"\w+", text.lower()) for text in texts]
    groups = [tuple(part[at : at + size]) for part in words for at in range(len(part) - size + 1)]
    return len(set(groups)) / max(1, len(groups))


def overlap(said: Sequence[str]) -> float:
    """Mean over the turns of the largest Jaccard similarity (words) to an earlier turn."""
    sets = [set(re.findall(r"\w+", text.lower())) for text in said]
    highest = [
        max(len(now & old) / max(1, len(now | old)) for old in sets[:place]) for place, now in enumerate(sets) if place
    ]
    return sum(highest) / max(1, len(highest))


def squeezed(said: Sequence[str]) -> float:
    """Compressed size over plain size."""
    text = "\n".join(said).encode()
    return len(zlib.compress(text, 9)) / max(1, len(text))


def period(text: str) -> int | None:
    """The period in words with which a text ends, if its last 60 words repeat."""
    words = text.split()[-60:]
    return next(
        (
            size
            for size in range(1, 21)
            if len(words) == 60 and all(words[at] == words[at - size] for at in range(size, 60))
        ),
        None,
    )


def _row(label: str, said: Sequence[str]) -> str:
    shares = f"{overlap(said):.2f} | {distinct(said):.2f} | {squeezed(said):.2f}"
    return f"| {label} | {100 * repeats(said):.0f} % | {first_repeat(said) or '-'} | {shares} |"


def report(player: Player, seeds: Sequence[int] = (1, 2, 3)) -> str:
    """The tables of the model card."""
    lines = [
        f"| {TURNS} turns | exact repeats | first repeat (turn) | max Jaccard to earlier | distinct-4 | zlib ratio |",
        "|---|---|---|---|---|---|",
    ]
    for seed in seeds:
        draw = Draw(f"repetition reference {seed}")
        lines.append(
            _row(f"watch log, the generator itself, seed {seed}", [watch_log.entry(draw) for _ in range(TURNS)])
        )
    for temperature in (0.0, 0.5, 0.8, 1.0):
        lines += [
            _row(f"watch log, T {temperature}, seed {seed}", entries(player, Sampling(temperature), seed))
            for seed in seeds
        ]
    for temperature in (0.0, 0.8):
        for seed in seeds:
            notes, last = verdicts(player, Sampling(temperature), seed)
            lines.append(_row(f"host watch notes, T {temperature}, seed {seed}", notes))
            lines.append(_row(f"host watch last sentences, T {temperature}, seed {seed}", last))
    lines += [
        "",
        "| one reply of 800 tokens, end forbidden | ends in a period of (words) | distinct-4, second half |",
        "|---|---|---|",
    ]
    for temperature in (0.0, 0.8):
        for seed in seeds:
            world = World(Draw(f"repetition run {seed}", held_out=True), long=True)
            prompt = render(
                [world.system().as_chat(), world.wake("Continue the watch log.").as_chat()], (), opens_reply=True
            )
            text = player.complete(prompt, Sampling(temperature), seed, longest=800, never_end=True)
            half = " ".join(text.split()[len(text.split()) // 2 :])
            lines.append(f"| T {temperature}, seed {seed} | {period(text) or '-'} | {distinct([half]):.2f} |")
    return "\n".join(lines)
