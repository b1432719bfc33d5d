"""Repetition inside one text: exact periods, counting, chants, stutters, woven passages and white space, each with
its bar.

It judges a text alone.  What a repetition means for an agent is not its business.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from operator import eq

from guards.chant import begun_again, irregular, lines_alike, saturated
from guards.finding import Finding, worse
from guards.period import Stretch, stretches
from guards.text import clip, quote, split, tokens

_DRAWN = re.compile(r"[\s\-=_*#.~+|/\\<>:^0…·•\u2010-\u2015\u2500-\u25ff]+")
"""What dividers, boxes and progress bars are drawn with."""
UNBROKEN = 24
"""Characters of a word in which copies may hide."""
_BLANK = re.compile(r"\s{200,}")
PIECE = 100
"""Characters: what is twice as long and all alike holds one such piece at a place that is looked at."""
LEADERS, LEADING = ".:0…·•", 300
"""Dots and zeros lead to a page number or fill a row, but not for four lines."""
_DIGITS = re.compile(r"\d+")
_LINK = re.compile(r"://|%[0-9A-Fa-f]{2}")
_CALLED = frozenset(("name", "tool", "function", "action", "invoke"))
_GIVEN = frozenset(("arguments", "args", "parameters", "parameter", "params", "input"))
SMALL = 0.3
"""Share of an output: a smaller stretch, at its end, is trailers or the rest of a list unless it is twice as long."""
BEGUN = 4
"""Words of a third copy: fewer, and the text was given exactly twice."""
LISTED = 6.0
"""Copies of a list item: fewer are a log of equal entries."""
_ITEM = re.compile(r"\s*(?:\d{1,5}[.)]|[-*+•])\s")
LOGGED = 300
"""Words of a stretch within a block that are more than what a table or a log repeats."""
LEAST_AGAIN = 14
"""Groups of three words that were there before: fewer make no loop, unless the text is short."""


def judge(text: str, copies: float = 1.0, patience: float = 1.0) -> Finding | None:
    """Return the worst repetition of a text, or None.  `patience` raises the bar for short units while a text grows."""
    seen = clip(text)
    bare = seen.strip()
    if not bare:
        return _white(seen)
    prose, structure = split(seen)
    found = [_white(seen), _one_character(bare), _unbroken(prose, len(bare))]
    items = tokens(prose)
    total = len(items)
    again = _again(items)
    found += [begun_again(seen, prose), lines_alike(seen), _stutter(items)]
    if again >= min(LEAST_AGAIN, 0.25 * total - 3):
        found += [_periodic(seen, prose, items, patience), _counting(items)]
    if again >= 0.1 * total:
        found += [_woven(seen, prose, items, again), saturated(prose, items), irregular(prose, len(bare))]
    if structure:
        found.append(_in_structure(tokens(structure), structure))
    real = [f for f in found if f is not None]
    if not real:
        return None
    most = max(real, key=lambda f: (f.stops and f.score >= copies, f.score))
    return Finding(round(most.score / copies, 3), most.why, most.stops, _standing(most.span, seen))


def _again(items: Sequence[str]) -> int:
    return len(items) - 2 - len(set(zip(items, items[1:], items[2:], strict=False)))


def _standing(span: str, text: str) -> str:
    """Return the span, or its longest line, as it stands in the text: list markers and links are not in the prose."""
    if span in text:
        return span.strip()
    line = max(span.split("\n"), key=len).strip()
    return line if line in text else ""


def _white(text: str) -> Finding | None:
    if not any(text[i : i + PIECE].isspace() for i in range(0, len(text), PIECE)):
        return None
    longest = max((len(m.group()) for m in _BLANK.finditer(text)), default=0)
    limit = 600 if longest < 0.7 * len(text) else 200
    return Finding(longest / limit, f"{longest} white-space characters in a row") if longest >= limit else None


def _one_character(bare: str) -> Finding | None:
    for i in range(0, len(bare), PIECE):
        if bare[i] in LEADERS and bare[i] * LEADING in bare[max(0, i - PIECE) : i + LEADING + PIECE]:
            return Finding(1.0, f"the character {quote(bare[i])} {LEADING} times in a row and more")
    if len(bare) < 12 or len(set(bare[:12]) - {"\n"}) != 1 or len(set(bare) - {"\n"}) != 1 or _DRAWN.match(bare):
        return None
    return Finding(len(bare) / 12, f"nothing but {quote(bare[0])} {len(bare)} times")


def _unbroken(prose: str, size: int) -> Finding | None:
    """A unit repeated without a space between the copies."""
    best: Finding | None = None
    words = prose.split()
    if max(map(len, words), default=0) < UNBROKEN:
        return None
    for word in words:
        if len(word) < UNBROKEN or not _may_repeat(word) or _DRAWN.fullmatch(word) or _LINK.search(word):
            continue
        for s in stretches(word):
            unit = word[s.start : s.start + s.period]
            if s.length < 24 or s.length < 0.6 * len(word) or _DRAWN.fullmatch(unit):
                continue
            filling = s.length >= 0.3 * size
            need = (20 if s.period == 1 else 12 if s.period <= 4 else 5 if s.period <= 24 else 3) * (
                1 if filling else 3
            )
            if not any(c.isalnum() for c in unit) and s.length < 0.6 * size:
                continue
            why = f"the characters {quote(unit, 40)} {s.copies:.0f} times in a row"
            best = worse(best, Finding(s.copies / need, why, span=unit))
    return best


def _may_repeat(word: str) -> bool:
    """Whether a stretch can be 0.6 of the word: a third of it, but for two characters, comes again in threes."""
    return _again(word) >= 0.2 * len(word) - 2


def _periodic(seen: str, prose: str, items: Sequence[str], patience: float) -> Finding | None:
    best: Finding | None = None
    total = len(items)
    for s in stretches(items):
        unit = items[s.start : s.start + s.period]
        called = _is_call(unit)
        if not (called or _wordy(unit)):
            continue
        cover, rest = s.length / total, total - s.end
        need = _allowed(s, unit, cover)
        need = min(need, 4.0) if called else 3 * need if _bracketed(unit) else need
        if cover < SMALL and not called:
            need *= 2
        if patience > 1 and s.period <= 4:
            need *= patience
        short = s.length < (16 if cover >= 0.8 and s.period > 1 else 10 if cover >= 0.8 else 24)
        stops = cover >= 0.5 or rest < 8 or s.length >= 400
        if short or (not stops and s.copies < need):
            continue
        score, span = s.copies / need, ""
        if score >= 0.8:
            span = _standing(_place(prose, items, s), seen)
            score = min(score, _as_it_stands(seen, span, s, rest))
        why = f"{quote(span or ' '.join(unit))} {s.copies:.1f} times in a row, {100 * cover:.0f} % of the output"
        best = worse(best, Finding(score, why, stops, span))
    return best


def _as_it_stands(seen: str, span: str, s: Stretch, rest: int) -> float:
    """Return the most that a stretch of the prose can score, for what stands between its copies in the text.

    Less than a trip where other headings, links or blocks stand between them, where they are a few equal items of a
    list, or where a text is given exactly twice and then left, or with an empty line between: a log of two attempts, a
    letter with its own summary.  `rest` items follow the stretch.
    """
    line = max(span.split("\n"), key=len)
    if not line:
        return math.inf
    if s.length - 2 * s.period < BEGUN:
        gap = "".join(seen.split(line)[1:-1])
        summed_up = s.length == 2 * s.period and s.start == 0 and "\n\n" in gap
        return 0.9 if rest or summed_up else math.inf
    if s.copies < LISTED and all(_ITEM.match(whole) for whole in seen.split("\n") if line in whole):
        return 0.9
    between = _DIGITS.sub("0", "".join(seen.split())).split(_DIGITS.sub("0", "".join(line.split())))[1:-1]
    run = longest = 1
    for one, other in pairwise(between):
        run = run + 1 if one == other else 1
        longest = max(longest, run)
    return math.inf if longest >= 0.6 * (int(s.copies) - 1) else 0.75


def _place(prose: str, items: Sequence[str], s: Stretch) -> str:
    """Return the first copy of a stretch as it was written."""
    low = prose.lower()
    if len(low) != len(prose):
        return ""
    at = begin = 0
    for i, item in enumerate(items[: s.start + s.period]):
        found = low.find(item, at)
        begin, at = (found if i <= s.start else begin), found + len(item)
    return prose[begin:at]


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


def _is_call(unit: Sequence[str]) -> bool:
    """A tool call as text: one object or tag with a name and arguments."""
    return ("{" in unit or "<" in unit) and not _CALLED.isdisjoint(unit) and not _GIVEN.isdisjoint(unit)


def _counting(items: Sequence[str]) -> Finding | None:
    """One sentence again and again with a number in it that goes up by one."""
    best: Finding | None = None
    numbers = [int(item[:9]) for item in items if item.isdecimal()]
    if sum(b - a == 1 for a, b in pairwise(numbers)) < 7:
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
        best = worse(best, Finding(s.copies / 12, why))
    return best


def _stutter(items: Sequence[str]) -> Finding | None:
    """Most words are said twice or more at once."""
    if len(items) < 24:
        return None
    spoken = [item for item in items if item[0].isalpha()]
    twice = list(map(eq, spoken, spoken[1:])).count(True)
    if len(spoken) < 24 or twice < 0.4 * len(spoken) or list(map(eq, items, items[1:])).count(True) < 8:
        return None
    return Finding(twice / (0.5 * len(spoken)), f"{twice} of {len(spoken)} words only repeat the word before")


def _woven(seen: str, prose: str, items: Sequence[str], again: int) -> Finding | None:
    """Passages that come back again and again, cut short or in changing order."""
    total, size = len(items), 8
    if total < 60 or again < 0.45 * total - 2:
        return None
    lines = [line for line in prose.split("\n") if line.strip()]
    if len(lines) > 2 and len(set(lines)) > 0.8 * len(lines):
        return None  # a list with one shared beginning
    grams = [tuple(items[i : i + size]) for i in range(total - size + 1)]
    often = {gram for gram, n in Counter(grams).items() if n >= 4 and _wordy(gram) and not _bracketed(gram)}
    covered = [False] * total
    for i, gram in enumerate(grams):
        if gram in often:
            covered[i : i + size] = [True] * size
    letters = sum(len(item) for item, known in zip(items, covered, strict=True) if known)
    share = letters / max(sum(map(len, items)), len("".join(seen.split())))  # headings and links between them count
    if share < 0.6:
        return None
    return Finding(
        share / 0.85, f"{100 * share:.0f} % of the output is made of phrases of {size} words said four times or more"
    )


def _in_structure(items: Sequence[str], structure: str) -> Finding | None:
    """A loop in a block: a tool call again and again, or a few words beyond what a table or a log repeats."""
    best: Finding | None = None
    if not _is_call(items) and _again(items) < LOGGED / 3 - 2:  # in one and a half copies, a third comes again
        return None
    for s in stretches(items):
        unit = items[s.start : s.start + s.period]
        called = _is_call(unit)
        if not called and (s.length < LOGGED or not _wordy(unit) or not any(len(item) > 1 for item in unit)):
            continue
        need = 6 if called else 120 if s.period <= 4 else 80 if s.period <= 20 else 40
        why = f"{quote(' '.join(unit))} {s.copies:.0f} times in a row inside a block"
        best = worse(best, Finding(s.copies / need, why, span=_place(structure, items, s)))
    return best
