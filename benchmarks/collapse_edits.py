"""How a made collapse gets into a real output: where a phrase goes, which words are replaced, what language it is."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from guards.replay import Row
from guards.text import UNSPACED

LONG = re.compile(rf"[{UNSPACED}]{{2}}|[^\W\d_{UNSPACED}]{{4,}}")
"""Words that carry meaning: four letters and more, or two characters of a script without spaces."""
WORDS = re.compile(rf"[{UNSPACED}]{{1,2}}|[^\W\d_{UNSPACED}]+(?:['’][^\W\d_{UNSPACED}]+)*")
"""Every word; two characters at most of a script without spaces."""
_HAN = re.compile(rf"[{UNSPACED}]")
_CHINESE = re.compile("[\u3400-\u9fff]")
_FENCE = re.compile(r"\s*(```|~~~)")
_END = re.compile(r"(?<=[.!?])\s|(?<=[。!?!?])")
_COMMA = re.compile(r"[,,;;](?=\s|[^\s\d])")
_GAP = re.compile(r"\s+")
_OFTEN = {
    "de": "der die das und ist nicht mit ein eine für von auf zu den wird auch sich dem",
    "es": "el la los las de que y en un una por con para es no se del al lo",
    "en": "the and of to in is a for that with on it as this be are from",
}


def said(row: Row, text: str) -> Row:
    """Return the row with another text."""
    return replace(row, output=replace(row.output, text=text))


def language(rows: Sequence[Row]) -> str:
    """Return en, de, es or zh: the language of the host's first outputs, English where it is none of them."""
    text = " ".join(row.output.text[:2000] for row in rows[:30])
    if len(_CHINESE.findall(text)) > 0.2 * max(1, len(text)):
        return "zh"
    words = Counter(text.lower().split())
    return max(("en", "de", "es"), key=lambda name: sum(words[word] for word in _OFTEN[name].split()))


def vocabulary(rows: Sequence[Row], most: int | None = None) -> list[str]:
    """Return the stream's own long words, the most frequent first; never an empty list."""
    found = Counter(word for row in rows for word in LONG.findall(row.output.text[:20_000]))
    return [word for word, _ in found.most_common(most)] or ["nothing", "something"]


def prose_lines(lines: Sequence[str]) -> list[int]:
    """Return which lines are prose: not code, tables, quotes or headings, and of four words or characters at least."""
    found, fenced = [], False
    for i, line in enumerate(lines):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and _speaks(line):
            found.append(i)
    return found


def _speaks(line: str) -> bool:
    marked = line[:1] in ("|", ">", "#", "\t") or line[:4] == "    "
    return not marked and (len(line.split()) >= 4 or len(_HAN.findall(line)) >= 6)


def insert(text: str, phrase: str, variant: str, rng: random.Random) -> str:
    """Return the text with a phrase in it at a random place of its prose.

    `variant` is "anywhere" (between two words), "sentence" (a sentence of its own) or "clause" (behind a comma).
    """
    lines = text.split("\n")
    where = prose_lines(lines)
    if not where:
        return f"{text}\n{sentence(phrase)}" if text.strip() else sentence(phrase)
    i = rng.choice(where)
    lines[i] = {"anywhere": _between, "sentence": _own, "clause": _behind}[variant](lines[i], phrase, rng)
    return "\n".join(lines)


def sentence(phrase: str) -> str:
    """Return a phrase as a sentence of its own."""
    return f"{phrase}。" if _HAN.search(phrase) else f"{phrase[:1].upper()}{phrase[1:]}."


def _between(line: str, phrase: str, rng: random.Random) -> str:
    gaps = [match.start() for match in _GAP.finditer(line.rstrip()) if match.start()]
    if not gaps:
        gap = rng.randrange(1, len(line))
        return f"{line[:gap]}{phrase}{line[gap:]}"
    gap = rng.choice(gaps)
    return f"{line[:gap]} {phrase}{line[gap:]}"


def _own(line: str, phrase: str, rng: random.Random) -> str:
    ends = [*(match.start() for match in _END.finditer(line)), len(line)]
    end = rng.choice(ends)
    gap = "" if _HAN.search(phrase) else " "
    return f"{line[:end]}{gap}{sentence(phrase)}{line[end:]}"


def _behind(line: str, phrase: str, rng: random.Random) -> str:
    commas = [match.start() for match in _COMMA.finditer(line)]
    comma = "," if _HAN.search(phrase) else ", "
    if not commas:
        bare = line.rstrip()
        end = len(bare) - (bare[-1:] in ".!?。!?:")
        return f"{line[:end]}{comma}{phrase}{line[end:]}"
    at = rng.choice(commas)
    return f"{line[:at]}{comma}{phrase}{line[at:]}"


def swap(text: str, share: float, choose: Callable[[], str], rng: random.Random) -> str:
    """Return the text with this share of the long words of its prose replaced."""
    lines = text.split("\n")
    for i in prose_lines(lines):
        lines[i] = LONG.sub(lambda match: choose() if rng.random() < share else match[0], lines[i])
    return "\n".join(lines)


def joined(parts: Sequence[str], tongue: str) -> str:
    """Return sentences as one text."""
    return ("" if tongue == "zh" else " ").join(parts)
