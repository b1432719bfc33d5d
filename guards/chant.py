"""Repetition among the sentences of one text: an irregular chant, one beginning again and again, one phrase in most.

Lists do not count here, except for the chant: their lines are meant to be alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from operator import add

from guards.finding import Finding
from guards.text import quote, tokens

_SENTENCE = re.compile(r"([.!?;。！？\n])(?:(?<=[.!?;])\s+|(?<=[。！？\n])[。！？\n]*)")
_WITHIN = re.compile(r"([.!?。！？])(?:(?<=[.!?])\s+|(?<=[。！？]))")
"""They begin with what ends a sentence, which the engine finds soonest."""
_ITEM = re.compile(r"(?:\d{1,5}[.)]|[-*+•|>#])\s?")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
FEW = 20
"""Different sentences that make a chant when each is said twice; more of them, four times: a law repeats itself too."""
SAME_HEAD = 4
"""Words at the head of a sentence that make it begin like another."""
BEGUN = 5
"""So many sentences or paragraphs in a row with one beginning are a loop; four are told."""
LONG_PARAGRAPH = 60
"""Characters; a shorter paragraph is an item or a title."""
FEWEST_LINES, MOST_LINES, SHORT_LINE = 6, 60, 12
"""Lines, and words of a line, of a note of which each line begins alike."""
PHRASE, RUNNING, SHARE = 5, 12, 0.5
"""Words of a phrase; sentences that a text must have; the share of them that may say it."""
LETTERS = 10
"""Letters of a phrase: five characters of a script without spaces are one word."""


def irregular(prose: str, size: int) -> Finding | None:
    """Find a few sentences in changing order, in a text of `size` characters with all its blocks."""
    parts = _SENTENCE.split(prose)
    kept = ["" if end in "。！？\n" else end for end in parts[1::2]]
    raw = [part for part in map(add, parts[::2], [*kept, ""]) if not part.startswith("<")]  # a tag is no sentence
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
    letters = sum(len(s) * n for s, n in counts.items() if n >= 3)
    score = min(
        len(said) / len(counts) / (2 if len(counts) <= FEW else 4), again / (0.6 * total), letters / (0.4 * size)
    )
    span = max((s.strip() for s in raw if " ".join(w for w in tokens(s) if w[0].isalpha()) == top), key=len)
    why = f"{len(said)} sentences but only {len(counts)} different ones; {quote(span)} {times} times"
    return Finding(score, why, span=span)


def begun_again(text: str, prose: str) -> Finding | None:
    """Find sentences of one paragraph, or whole paragraphs, that keep beginning alike until the text ends."""
    best: Finding | None = None
    last = prose.rstrip().rpartition("\n")[2]
    if len(last) > LONG_PARAGRAPH:
        best = _at_the_end(_sentences(last.strip()), len(text), "sentences")
    if text.count("\n\n") >= BEGUN - 2:
        paragraphs = [part.strip() for part in _PARAGRAPH.split(text.strip())]
        if all(len(part) > LONG_PARAGRAPH and not _ITEM.match(part) for part in paragraphs[1 - BEGUN :]):
            found = _at_the_end(paragraphs, len(text), "paragraphs")
            best = found if found and (best is None or found.score > best.score) else best
    return best


def _at_the_end(parts: Sequence[str], size: int, what: str) -> Finding | None:
    head = parts[-1].lower().split()[:SAME_HEAD] if parts else []
    if len(head) < SAME_HEAD or not all(word[:1].isalpha() for word in head):
        return None
    run = length = 0
    for part in reversed(parts):
        if part.lower().split(None, SAME_HEAD)[:SAME_HEAD] != head:
            break
        run, length = run + 1, length + len(part)
    if run < BEGUN - 1 or length < 0.5 * size:
        return None
    span = " ".join(parts[-1].split()[:SAME_HEAD])
    return Finding(run / BEGUN, f"the last {run} {what} all begin with {quote(span)}", span=span)


def lines_alike(text: str) -> Finding | None:
    """Find a handful of short lines that all begin with one word, half of which say or extend another line."""
    if not FEWEST_LINES <= text.count("\n") + 1 <= 2 * MOST_LINES:
        return None
    written = [line for line in text.split("\n") if line.strip()]
    if len({line.lower().split()[0] for line in written[:2]}) > 1:
        return None
    lines = [" ".join(line.lower().split()) for line in written]
    if not FEWEST_LINES <= len(lines) <= MOST_LINES or len({line.split()[0] for line in lines}) > 1:
        return None
    if not lines[0][0].isalpha() or any(not 2 <= line.count(" ") + 1 <= SHORT_LINE for line in lines):
        return None
    again = sum(
        any(j != i and f"{line} ".startswith(f"{other} ") for j, other in enumerate(lines))
        for i, line in enumerate(lines)
    )
    score = again / (0.5 * len(lines))
    why = f"all {len(lines)} lines begin with {quote(lines[0].split()[0])} and {again} of them say another line again"
    return Finding(score, why, span=max(text.split("\n"), key=len).strip()) if score >= 0.8 else None


def _sentences(line: str) -> list[str]:
    parts = _WITHIN.split(line)
    return [*map(add, parts[::2], [*parts[1::2], ""])]


def _commonest(threes: Mapping[tuple[str, str, str], int]) -> int:
    """Return how often the commonest three words come; punctuation does not count."""
    often = [(times, three) for three, times in threes.items() if times > 2]
    return max((times for times, three in often if all(word[0].isalpha() for word in three)), default=0)


def saturated(prose: str, threes: Mapping[tuple[str, str, str], int]) -> Finding | None:
    """Find one phrase in most sentences of running text, again and again within its paragraphs.

    Paragraphs that each say it once are items of one kind: clauses of a law, entries of a list.  `threes` counts the
    neighbouring three tokens of the prose: no phrase comes more often than its first three words.
    """
    most = _commonest(threes)
    if most < 0.8 * SHARE * RUNNING:
        return None
    running = list(_running(prose))
    if sum(map(len, running)) < RUNNING:
        return None
    least = sum(len(s.split(None, PHRASE)) > PHRASE for part in running for s in part)  # a word is a token or more
    if most < 0.8 * SHARE * least:
        return None
    paragraphs = [[words for s in part if len(words := tokens(s)) > PHRASE] for part in running]
    size = sum(map(len, paragraphs))
    if size < RUNNING:
        return None
    runs = [[zip(*(words[i:] for i in range(PHRASE)), strict=False) for words in part] for part in paragraphs]
    grams = [[dict.fromkeys(sentence) for sentence in part] for part in runs]  # no set: their order is chance
    counts = Counter(gram for part in grams for sentence in part for gram in sentence)
    often = [(n, gram) for gram, n in counts.items() if n >= 0.8 * SHARE * size and sum(map(len, gram)) >= LETTERS]
    spoken = [(n, gram) for n, gram in often if all(word[0].isalpha() for word in gram)]
    if not spoken:
        return None
    times, gram = max(spoken, key=lambda found: found[0])
    once = sum(any(gram in sentence for sentence in part) for part in grams)
    if times - once < times / 3:
        return None
    phrase = " ".join(gram)
    at = prose.lower().find(phrase)
    span = prose[at : at + len(phrase)] if at >= 0 else ""
    return Finding(times / size / SHARE, f"{times} of {size} sentences say {quote(phrase)}", span=span)


def _running(prose: str) -> Iterator[list[str]]:
    """Yield the sentences of each paragraph that has three and more; short items and lines of a poem have not."""
    for line in prose.split("\n"):
        if len(line) > LONG_PARAGRAPH and len(parts := _sentences(line.strip())) >= 3:
            yield parts
