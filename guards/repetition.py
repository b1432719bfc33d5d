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
from guards.history import each_once, is_log, is_talk, last_turn
from guards.period import Stretch, stretches
from guards.reading import read
from guards.suspect import LONG, looping_part
from guards.text import clip, quote, split, tokens
from guards.unbroken import again, goes_on, one_character, unbroken, white

_VARIES = re.compile(r"(https?://\S+)|\d+")
_APART = re.compile(r"\n|\s{2,}")
"""Between the lines of a prose, and where a link stood in one."""
_CALLED = frozenset(("name", "tool", "function", "action", "invoke"))
_GIVEN = frozenset(("arguments", "args", "parameters", "parameter", "params", "input"))
SMALL = 0.3
"""Share of an output: a smaller stretch, at its end, is trailers or the rest of a list unless it is twice as long."""
ENDING = 8
"""Words that may follow a loop which stands at the end."""
BEGUN = 4
"""Words of a third copy: fewer, and the text was given exactly twice."""
LISTED = 6.0
"""Copies of a list item: fewer are a log of equal entries."""
_ITEM = re.compile(r"\s*(?:\d{1,5}[.)]|[-*+•])\s")
LOGGED = 300
"""Words of a stretch within a block that are more than what a table or a log repeats."""
HEADS = 6
"""Groups of three words that come again at least where four sentences begin with the same four words."""
LEAST_AGAIN = 14
"""Groups of three words that were there before: fewer make no loop, unless the text is short."""


def judge(text: str, copies: float = 1.0, patience: float = 1.0) -> Finding | None:
    """Return the worst repetition of a text, or None.  `patience` raises the bar for short units while a text grows."""
    seen = each_once(clip(text))
    bare = seen.strip()
    if not bare:
        return white(seen)
    prose, structure = split(seen)
    part = looping_part(read(seen)) if patience == 1 and len(prose) >= LONG else prose
    items = tokens(part)
    total = len(items) if part is prose else len(items) * len(prose) // len(part)
    threes = Counter(zip(items, items[1:], items[2:], strict=False))
    comes_again = len(items) - 2 - len(threes)
    found = [white(seen), one_character(bare), unbroken(prose, len(bare)), lines_alike(seen)]
    if comes_again >= HEADS or "\n\n" in seen:
        found.append(begun_again(seen, prose))
    if comes_again >= min(LEAST_AGAIN, 0.25 * total - 3):
        found += [_periodic(seen, part, items, total, patience), _counting(items, total)]
    if part is prose:
        found.append(_stutter(items))
        if comes_again >= 0.1 * total:
            found += [_woven(seen, prose, items, comes_again), saturated(prose, threes), irregular(prose, len(bare))]
    if structure:
        found.append(_in_structure(seen, structure))
    real = [f for f in found if f is not None]
    if not real:
        return None
    most = max(real, key=lambda f: (f.stops and f.score >= copies, f.score))
    span = _standing(most.span, seen)
    stops = most.stops and not is_log(seen, span)
    if stops and is_talk(seen):  # its turns may be alike; only what is said last can be a loop
        last = judge(last_turn(seen), copies, patience)
        return last if last and last.stops else Finding(round(most.score / copies, 3), most.why, False, span)
    return Finding(round(most.score / copies, 3), most.why, stops, span)


def _standing(span: str, text: str) -> str:
    """Return the span, or the longest part of it, as it stands in the text, with list markers and links."""
    if span in text:
        return span.strip()
    line = max(_APART.split(span), key=len).strip()
    return line if line in text else ""


def _periodic(seen: str, prose: str, items: Sequence[str], total: int, patience: float) -> Finding | None:
    """Find a stretch of exact period among the items, which end a text of `total` of them."""
    best: Finding | None = None
    for s in stretches(items):
        unit = items[s.start : s.start + s.period]
        called = _is_call(unit)
        if not (called or _wordy(unit)):
            continue
        cover, rest = s.length / total, len(items) - s.end
        need = _allowed(s, unit, cover)
        need = min(need, 4.0) if called else 3 * need if _bracketed(unit) else need
        if cover < SMALL and not called:
            need *= 2
        if patience > 1 and s.period <= 4:
            need *= patience
        short = s.length < (16 if cover >= 0.8 and s.period > 1 else 10 if cover >= 0.8 else 24)
        stops = _stays(s, total, rest)
        if short or (not stops and s.copies < need):
            continue
        score, span = s.copies / need, ""
        if score >= 0.8:
            span = _standing(_place(prose, items, s), seen)
            score = min(score, _as_it_stands(seen, span, s, rest))
        why = f"{quote(span or ' '.join(unit))} {s.copies:.1f} times in a row, {100 * cover:.0f} % of the output"
        best = worse(best, Finding(score, why, stops, span))
    return best


def _stays(s: Stretch, total: int, rest: int) -> bool:
    """Whether a stretch is half of all words or stands at their end, `rest` after it: a loop does not recover."""
    return s.length >= 0.5 * total or rest < ENDING


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
    between = _counted(seen).split(_counted(line))[1:-1]
    run = longest = 1
    for one, other in pairwise(between):
        run = run + 1 if one == other else 1
        longest = max(longest, run)
    return math.inf if longest >= 0.6 * (int(s.copies) - 1) else 0.75


def _counted(text: str) -> str:
    """Return the text without white space and with one number for all, but for links: those differ by numbers."""
    return "".join(_VARIES.sub(lambda m: m[1] or "0", text).split())


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


def _counting(items: Sequence[str], total: int) -> Finding | None:
    """Find one sentence again and again with a number in it that goes up by one."""
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
        best = worse(best, Finding(s.copies / 12, why, _stays(s, total, len(items) - s.end)))
    return best


def _stutter(items: Sequence[str]) -> Finding | None:
    """Most words are said twice or more at once."""
    if len(items) < 24:
        return None
    if list(map(eq, items, items[1:])).count(True) < 8:
        return None
    spoken = [item for item in items if item[0].isalpha()]
    twice = list(map(eq, spoken, spoken[1:])).count(True)
    if len(spoken) < 24 or twice < 0.4 * len(spoken):
        return None
    return Finding(twice / (0.5 * len(spoken)), f"{twice} of {len(spoken)} words only repeat the word before")


def _woven(seen: str, prose: str, items: Sequence[str], repeated: int) -> Finding | None:
    """Passages that come back again and again, cut short or in changing order."""
    total, size = len(items), 8
    if total < 60 or repeated < 0.45 * total - 2:
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


def _in_structure(seen: str, structure: str) -> Finding | None:
    """A loop in a block: a tool call again and again, or a few words beyond what a table or a log repeats."""
    best: Finding | None = None
    if len(structure) < LOGGED / 3 and "{" not in structure and "<" not in structure:
        return None
    items = tokens(structure)
    if not _is_call(items) and again(items) < LOGGED / 3 - 2:  # in one and a half copies, a third comes again
        return None
    line = max(_APART.split(structure.rstrip().rpartition("\n")[2]), key=len)
    last = goes_on(len(structure), seen.rpartition(line)[2], len(seen))
    for s in stretches(items):
        unit = items[s.start : s.start + s.period]
        called = _is_call(unit)
        if not called and (s.length < LOGGED or not _wordy(unit) or not any(len(item) > 1 for item in unit)):
            continue
        need = 6 if called else 120 if s.period <= 4 else 80 if s.period <= 20 else 40
        why = f"{quote(' '.join(unit))} {s.copies:.0f} times in a row inside a block"
        stops = called or (last and _stays(s, len(items), len(items) - s.end))
        best = worse(best, Finding(s.copies / need, why, stops, _place(structure, items, s)))
    return best
