"""Repetition inside one text: exact periods, counting, chants, stutters, woven passages and white space, each with
its bar.

It judges a text alone.  What a repetition means for an agent is not its business.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from guards.period import Stretch, stretches
from guards.text import clip, quote, split, tokens

_DRAWN = re.compile(r"[\s\-=_*#.~+|/\\<>:^0…·•\u2010-\u2015\u2500-\u25ff]+")
"""What dividers, boxes and progress bars are drawn with."""
_UNBROKEN = re.compile(r"\S{24,}")
_BLANK = re.compile(r"\s{200,}")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|[。！？\n]+")
_LINK = re.compile(r"://|%[0-9A-Fa-f]{2}")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that repeats: `score` in units of the limit, `why` for a person, `stops` when it deserves a trip."""

    score: float
    why: str
    stops: bool = True


def judge(text: str, copies: float = 1.0, patience: float = 1.0) -> Finding | None:
    """Return the worst repetition of a text, or None.  `patience` raises the bar for short units while a text grows."""
    seen = clip(text)
    bare = seen.strip()
    if not bare:
        return _white(seen)
    prose, structure = split(seen)
    found = [_white(seen), _one_character(bare), _unbroken(prose, len(bare))]
    items = tokens(prose)
    found += [_periodic(items, patience), _counting(items), _sentences(prose), _stutter(items), _woven(prose, items)]
    if structure:
        found.append(_in_structure(tokens(structure)))
    real = [f for f in found if f is not None]
    if not real:
        return None
    worst = max(real, key=lambda f: (f.stops and f.score >= copies, f.score))
    return Finding(round(worst.score / copies, 3), worst.why, worst.stops)


def _white(text: str) -> Finding | None:
    longest = max((len(m.group()) for m in _BLANK.finditer(text)), default=0)
    limit = 600 if longest < 0.7 * len(text) else 200
    return Finding(longest / limit, f"{longest} white-space characters in a row") if longest >= limit else None


def _one_character(bare: str) -> Finding | None:
    if len(bare) < 12 or len(set(bare) - {"\n"}) != 1 or _DRAWN.match(bare):
        return None
    return Finding(len(bare) / 12, f"nothing but {quote(bare[0])} {len(bare)} times")


def _unbroken(prose: str, size: int) -> Finding | None:
    """A unit repeated without a space between the copies."""
    best: Finding | None = None
    for match in _UNBROKEN.finditer(prose):
        word = match.group()
        if _DRAWN.fullmatch(word) or _LINK.search(word):
            continue
        for s in stretches(word):
            unit = word[s.start : s.start + s.period]
            if s.length < 24 or s.length < 0.6 * len(word) or _DRAWN.fullmatch(unit):
                continue
            filling = s.length >= 0.3 * size
            need = (20 if s.period == 1 else 8 if s.period <= 4 else 5 if s.period <= 24 else 3) * (1 if filling else 3)
            if not any(c.isalnum() for c in unit) and s.length < 0.6 * size:
                continue
            best = _worse(
                best, Finding(s.copies / need, f"the characters {quote(unit, 40)} {s.copies:.0f} times in a row")
            )
    return best


def _periodic(items: Sequence[str], patience: float) -> Finding | None:
    best: Finding | None = None
    total = len(items)
    for s in stretches(items):
        unit = items[s.start : s.start + s.period]
        if not _wordy(unit):
            continue
        cover, rest = s.length / total, total - s.end
        need = _allowed(s, unit, cover) * (3 if _bracketed(unit) else 1)
        if patience > 1 and s.period <= 4:
            need *= patience
        short = s.length < (16 if cover >= 0.8 and s.period > 1 else 10 if cover >= 0.8 else 24)
        stops = cover >= 0.5 or rest < 8 or s.length >= 400
        if short or (not stops and s.copies < need):
            continue
        why = f"{quote(' '.join(unit))} {s.copies:.1f} times in a row, {100 * cover:.0f} % of the output"
        best = _worse(best, Finding(s.copies / need, why, stops))
    return best


def _allowed(s: Stretch, unit: Sequence[str], cover: float) -> float:
    """Return how many copies are a loop: few when they are all there is, many when they are a part."""
    ends = sum(item in ".!?。！？" for item in unit)
    passage = (ends >= 2 and s.period >= 16) or (ends >= 3 and s.period >= 7)
    if cover >= 0.8:
        if s.period <= 2:
            return 10 if s.period == 1 else 8
        if s.period <= 4:
            return 5
        return 2 if passage else 2.5 if cover >= 0.9 else 3
    if s.period <= 4:
        return 24 if s.period == 1 else 16 if s.period == 2 else 8
    if s.period <= 20:
        return 6
    if s.period < 60:
        return 2 if (passage or s.period >= 40) and cover >= 0.6 and s.length >= 90 else 4
    return 2 if cover >= 0.6 else 3


def _wordy(unit: Sequence[str]) -> bool:
    """Words make a loop; numbers and punctuation alone make tables and bars."""
    letters = sum(len(item) for item in unit if item[0].isalpha())
    return letters >= 0.5 * sum(map(len, unit))


def _bracketed(unit: Sequence[str]) -> bool:
    """Code that stands in the text without a fence."""
    marks = sum(item in "(){}[]=;\\'\"_" for item in unit)
    return marks >= 0.25 * len(unit) and sum(item[0].isalpha() for item in unit) < 0.6 * len(unit)


def _counting(items: Sequence[str]) -> Finding | None:
    """One sentence again and again with a number in it that goes up by one."""
    best: Finding | None = None
    if sum(item.isdecimal() for item in items) < 8:
        return None
    masked = ["#" if item.isdecimal() else item for item in items]
    for s in stretches(masked):
        unit = masked[s.start : s.start + s.period]
        words = sum(item[0].isalpha() for item in unit)
        if unit.count("#") != 1 or words < 4 or words < 0.35 * len(unit) or s.copies < 3:
            continue
        counted = [int(item[:9]) for item in items[s.start : s.end] if item.isdecimal()]
        if counted[-1] - counted[0] != len(counted) - 1 or "/" in unit:
            continue
        why = f"{quote(' '.join(unit))} {s.copies:.0f} times with a number that counts up"
        best = _worse(best, Finding(s.copies / 12, why))
    return best


def _sentences(prose: str) -> Finding | None:
    """An irregular chant: a few sentences in changing order."""
    raw = _SENTENCE.split(prose)
    if len(raw) < 12 or len(set(raw)) > 0.7 * len(raw):
        return None
    said = [" ".join(words) for s in raw if len(words := [w for w in tokens(s) if w[0].isalpha()]) > 1]
    if len(said) < 12:
        return None
    counts = Counter(said)
    total = sum(len(s.split()) for s in said)
    again = sum(len(s.split()) * n for s, n in counts.items() if n >= 3)
    top, times = counts.most_common(1)[0]
    if total < 40 or times < 5 or again < 0.5 * total:
        return None
    score = min(0.5 * len(said) / len(counts), again / (0.6 * total))
    return Finding(score, f"{len(said)} sentences but only {len(counts)} different ones; {quote(top)} {times} times")


def _stutter(items: Sequence[str]) -> Finding | None:
    """Most words are said twice or more at once."""
    spoken = [item for item in items if item[0].isalpha()]
    twice = sum(a == b for a, b in pairwise(spoken))
    if len(spoken) < 24 or twice < 0.4 * len(spoken):
        return None
    return Finding(twice / (0.5 * len(spoken)), f"{twice} of {len(spoken)} words only repeat the word before")


def _woven(prose: str, items: Sequence[str]) -> Finding | None:
    """Passages that come back again and again, cut short or in changing order."""
    total, size = len(items), 8
    if total < 60 or len(set(zip(items, items[1:], items[2:], strict=False))) > 0.55 * total:
        return None
    lines = [line for line in prose.split("\n") if line.strip()]
    if len(lines) > 2 and len(set(lines)) > 0.8 * len(lines):
        return None  # a list with one shared beginning
    grams = [tuple(items[i : i + size]) for i in range(total - size + 1)]
    counts = Counter(grams)
    covered = [False] * total
    for i, gram in enumerate(grams):
        if counts[gram] >= 4 and _wordy(gram) and not _bracketed(gram):
            covered[i : i + size] = [True] * size
    share = sum(len(item) for item, known in zip(items, covered, strict=True) if known) / sum(map(len, items))
    if share < 0.6:
        return None
    return Finding(
        share / 0.75, f"{100 * share:.0f} % of the output is made of phrases of {size} words said four times or more"
    )


def _in_structure(items: Sequence[str]) -> Finding | None:
    best: Finding | None = None
    for s in stretches(items):
        unit = items[s.start : s.start + s.period]
        if s.length >= 300 and _wordy(unit) and any(len(item) > 1 for item in unit):
            need = 120 if s.period <= 4 else 80 if s.period <= 20 else 40
            why = f"{quote(' '.join(unit))} {s.copies:.0f} times in a row inside a block"
            best = _worse(best, Finding(s.copies / need, why))
    return best


def _worse(a: Finding | None, b: Finding) -> Finding:
    return b if a is None or (b.stops, b.score) > (a.stops, a.score) else a
