"""Measures the GGUF on prompts it was not trained on: held-out names and wordings, new facts, fixed seeds."""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from pathlib import Path

from training import repetition
from training.corpus import threads
from training.corpus.conversation import TEMPLATE
from training.corpus.draw import Draw
from training.corpus.hints import FAMILIES
from training.corpus.host_phrases import CALM, worried
from training.player import Played, Player, Sampling, parsed

NUMBER = re.compile(r"\d+(?:\.\d+)*")
NAME = re.compile(r"[\w.-]*/[\w./-]+|[\w-]+\.(?:service|timer|mount|socket|path|md)\b")
Scores = dict[str, Counter[str]]


def spoken(played: Played) -> str:
    """What the reply says: its words, or what it fills into a call."""
    call = parsed(played.reply, played.tools)
    filled = [value for key, value in call[1].items() if key in ("text", "path", "query")] if call else [played.reply]
    return "\n".join(filled)


def holds(text: str, part: str) -> bool:
    """Whether the text holds this string whole (4 % is not in 94 %); plain words may stand in the plural."""
    plural = "s?" if part.isalpha() else ""
    return re.search(rf"(?<![\w.]){re.escape(part)}{plural}(?!\w|\.\d)", text, re.IGNORECASE) is not None


def invented(played: Played) -> list[str]:
    """Numbers and names in the reply that stand nowhere in this beat."""
    text = spoken(played)
    parts = NUMBER.findall(text) + [name.rstrip(".") for name in NAME.findall(text)]
    return [part for part in parts if not holds(played.source, part) and part not in played.source]


def well_called(played: Played) -> bool:
    """The expected tool with the expected arguments; the text is free."""
    call, wanted = parsed(played.reply, played.tools), played.expected.call
    if call is None or wanted is None:
        return False
    same = {key: value for key, value in call[1].items() if key != "text"}
    return call[0] == wanted[0] and same == {key: value for key, value in wanted[1].items() if key != "text"}


def judged(played: Played) -> bool:
    """Calm where all is calm, concern where something needs attention."""
    text = played.reply.lower()
    return worried(text) is not played.expected.calm and (worried(text) or any(words in text for words in CALM))


def follows(played: Played) -> bool:
    """Whether the reply right after a hint does what the hint says."""
    expected, text = played.expected, spoken(played)
    if expected.call is not None:
        right = well_called(played)
    else:
        right = "<tool_call>" not in played.reply and 0 < len(played.reply.split()) <= 60
    first = re.split(r"[,;.] ", text)[0]
    opens = not expected.opens or holds(first, expected.opens)
    avoids = not expected.avoids or expected.avoids not in text.lower()
    named = all(holds(text, part) for part in expected.required) if expected.opens or not expected.avoids else True
    return right and opens and avoids and named


def score(
    player: Player, kind: str, beats: int, sampling: Sampling, count: int, scores: Scores, shown: list[str]
) -> None:
    """Play `count` held-out conversations of a kind and add what was seen to the scores."""
    label = f"{kind}{f', {beats} beats' if beats > 1 else ''}"
    for index in range(count):
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
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--failures", type=int, default=0, help="how many failures to show")
    parser.add_argument("--skip-repetition", action="store_true")
    given = parser.parse_args()
    player, shown = Player(given.model), list[str]()
    scores: Scores = defaultdict(Counter)
    sampling = Sampling(given.temperature)
    for kind in (
        "whole",
        "narrow",
        "failing",
        "repo",
        "read",
        "search",
        "list",
        "write",
        "clock",
        "talk",
        *FAMILIES,
        "log hint",
    ):
        score(player, kind, 1, sampling, given.count, scores, shown)
    for beats in (3, 5, 7):
        score(player, "whole", beats, sampling, given.count // 2, scores, shown)
    print(f"temperature {given.temperature}, {given.count} conversations of each kind\n\n{table(scores)}\n")
    if not given.skip_repetition:
        print(repetition.report(player))
    print("\n".join(shown[:: max(1, len(shown) // given.failures)] if given.failures else []))


if __name__ == "__main__":
    main()
