"""Measures the GGUF on prompts it was not trained on: held-out names and wordings, new facts, fixed seeds."""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from pathlib import Path

from training import main_heartbeat, repetition
from training.corpus import threads
from training.corpus.conversation import TEMPLATE
from training.corpus.draw import Draw
from training.corpus.hints import FAMILIES
from training.marks import follows, holds, invented, judged, spoken, well_called
from training.player import Player, Sampling, parsed

Scores = dict[str, Counter[str]]
PLAIN = ("whole", "narrow", "failing", "repo", "read", "search", "list", "write", "clock", "talk")


def score(
    player: Player, kind: str, beats: int, sampling: Sampling, chosen: range, scores: Scores, shown: list[str]
) -> None:
    """Play the chosen held-out conversations of a kind and add what was seen to the scores."""
    label = f"{kind}{f', {beats} beats' if beats > 1 else ''}"
    for index in chosen:
        draw = Draw(f"evaluation {kind} {beats} {index}", held_out=True)
        conversation = threads.conversation(draw, kind, beats, long=True)
        if conversation.kind != kind or len(player.tokens(conversation.text())) > 2600:
            continue
        for place, played in enumerate(player.play(conversation, sampling, seed=1000 + index)):
            seen = scores[label]
            marks: dict[str, bool] = {"invented": not invented(played)}
            if played.expected.call is not None:
                marks["valid call"] = parsed(played.reply, played.tools) is not None
                marks["right call"] = well_called(played)
            else:
                marks["words"] = "<tool_call>" not in played.reply and bool(played.reply.strip())
            if played.expected.required:
                marks["facts"] = all(holds(spoken(played), part) for part in played.expected.required)
            if played.expected.calm is not None:
                marks["judged"] = judged(played)
            if place == 0 and kind in (*FAMILIES, "log hint"):
                marks["hint"] = follows(played)
            for name, right in marks.items():
                seen[name] += right
                seen[f"of {name}"] += 1
            if not all(marks.values()):
                bad = [name for name, right in marks.items() if not right]
                wanted = played.expected.call or played.expected.content
                shown.append(f"[{label} #{index}] {bad} {played.expected.required} {wanted}\n  got {played.reply!r}")


COLUMNS = ("valid call", "right call", "words", "facts", "invented", "judged", "hint")
TITLES = (
    "valid call",
    "right call",
    "words where words are due",
    "required facts",
    "nothing invented",
    "right judgement",
    "hint followed",
)


def table(scores: Scores) -> str:
    """The scores as a Markdown table: right / tried."""
    total: Counter[str] = sum(scores.values(), Counter())
    lines = ["| conversations | " + " | ".join(TITLES) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for label, seen in [*scores.items(), ("**all**", total)]:
        cells = [f"{seen[name]}/{seen['of ' + name]}" if seen["of " + name] else "" for name in COLUMNS]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    percent = [f"{100 * total[name] / total['of ' + name]:.1f} %" if total["of " + name] else "" for name in COLUMNS]
    return "\n".join([*lines, "| **share** | " + " | ".join(percent) + " |"])


def main() -> None:
    """Command line of the evaluation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=TEMPLATE.with_name("watchkeeper.gguf"))
    parser.add_argument("--count", type=int, default=40, help="conversations of each kind")
    parser.add_argument("--first", type=int, default=1000, help="number of the first one: others, other conversations")
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--failures", type=int, default=0, help="how many failures to show")
    parser.add_argument("--skip-repetition", action="store_true")
    given = parser.parse_args()
    player, shown = Player(given.model), list[str]()
    scores: Scores = defaultdict(Counter)
    sampling = Sampling(given.temperature)
    chosen, half = (range(given.first, given.first + count) for count in (given.count, given.count // 2))
    for kind in (*PLAIN, *FAMILIES, "log hint"):
        score(player, kind, 1, sampling, chosen, scores, shown)
    for beats in (3, 5, 7):
        score(player, "whole", beats, sampling, half, scores, shown)
    print(f"temperature {given.temperature}, {given.count} conversations of each kind\n\n{table(scores)}\n")
    print(main_heartbeat.report(player, sampling, given.first, 2 * given.count) + "\n")
    if not given.skip_repetition:
        print(repetition.report(player))
    print("\n".join(shown[:: max(1, len(shown) // given.failures)] if given.failures else []))


if __name__ == "__main__":
    main()
