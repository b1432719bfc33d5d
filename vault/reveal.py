"""Text as it is, for a person who must judge it: what cannot be seen, or would be taken for something else, is spelled.

Beyond `escape.visible` it spells blanks that look like nothing or like a space, heaps of combining marks, and the
letters of another script inside a word; long stretches of spaces are counted.  It marks, it does not forbid.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from vault.escape import visible

_BLANKS = set("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")  # letters and marks without ink
_VARIATION = re.compile("[\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_HEAP = re.compile(r"[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{4,}")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SPACES = re.compile(" {24,}")
_MOST_TOLD = 8
_LATIN_LIKE = {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "GEORGIAN", "HEBREW", "FULLWIDTH"}
_LATIN_LIKE |= {"MATHEMATICAL"}
_LOOKS_LATIN = set("асеԁһіјӏорԛѕԝхуАВЕНІЈКМОРЅТХУ" + "αοϲυνικρΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")
_EMOJI = re.compile("(?<=[\u2190-\u2bff\U0001f000-\U0001faff])\ufe0f")  # asks for the coloured form of a sign


@dataclass(frozen=True, slots=True)
class Revealed:
    """A text that is safe to print, and what was found in it, by kind and count."""

    text: str
    found: Counter[str]


def reveal(text: str, keep: str = "\n\t") -> Revealed:
    """Return one text or line as it is.

    >>> reveal("p\\u0430ypal\\u200b says\\u00a0hi").text
    'p<U+0430>ypal<U+200B> says<U+00A0>hi'
    """
    found = Counter[str]()
    if text.isascii() and not _SPACES.search(text):
        shown = visible(text, keep=keep)
        if len(shown) != len(text):
            _count(text, keep, found)
        return Revealed(shown, found)
    marked = _with_marks(_look_alikes(text, found), found)
    _count(marked, keep, found)
    shown = "".join(_spelled(c) if is_blank(c) else c for c in visible(marked, keep=keep))
    shown = _SPACES.sub(lambda run: f"<{len(run[0])} spaces>", shown)
    return Revealed(shown, found)


def told(found: Counter[str]) -> str:
    """Say in one line what was found, nothing when there was nothing.

    >>> told(reveal("a\\u202eb").found)
    'U+202E RIGHT-TO-LEFT OVERRIDE'
    """
    kinds = sorted(found.most_common(), key=lambda kind: not _commands(kind[0]))
    said = [f"{what} ({count} times)" if count > 1 else what for what, count in kinds[:_MOST_TOLD]]
    more = len(kinds) - _MOST_TOLD
    return ", ".join(said + ([f"and {more} more kind{'s' if more > 1 else ''}"] if more > 0 else []))


def _commands(what: str) -> bool:
    """Whether a terminal obeys it or a reader cannot see it; the rest only looks like something else."""
    code = re.match(r"U\+([0-9A-F]{4,6}) ", what)
    return code is not None and unicodedata.category(chr(int(code[1], 16))) in {"Cc", "Cf"}


def _count(text: str, keep: str, found: Counter[str]) -> None:
    for c in text:
        if (not c.isprintable() and c not in keep) or is_blank(c):
            found[f"U+{ord(c):04X} {unicodedata.name(c, 'control character')}"] += 1
    for run in _SPACES.findall(text):
        found[f"{len(run)} spaces in a row"] += 1


def is_blank(c: str) -> bool:
    """Whether a character has no ink or looks like a space and is none."""
    return c in _BLANKS or (c != " " and unicodedata.category(c) == "Zs") or bool(_VARIATION.fullmatch(c))


def _spelled(c: str) -> str:
    return f"<U+{ord(c):04X}>"


def _with_marks(text: str, found: Counter[str]) -> str:
    def spell(run: re.Match[str]) -> str:
        found["a heap of combining marks"] += 1
        return "".join(map(_spelled, run[0]))

    return _HEAP.sub(spell, _EMOJI.sub("", text))


def _look_alikes(text: str, found: Counter[str]) -> str:
    """Spell the letters of another script that stand in a word of Latin ones, or that only imitate such a word."""
    latin_text = sum(_script(c) == "LATIN" for c in text) * 2 > sum(c.isalpha() for c in text)

    def spell(word: re.Match[str]) -> str:
        scripts = {_script(c) for c in word[0]} - {""}
        foreign = scripts & _LATIN_LIKE
        mixed = "LATIN" in scripts and foreign
        imitation = latin_text and foreign and len(word[0]) > 2 and all(c in _LOOKS_LATIN for c in word[0])
        if not (mixed or imitation or foreign & {"FULLWIDTH", "MATHEMATICAL"}):
            return word[0]
        found[f"letters of {' and '.join(sorted(foreign)).lower()} that look Latin"] += 1
        return "".join(_spelled(c) if _script(c) in foreign else c for c in word[0])

    return text if text.isascii() else _WORD.sub(spell, text)


def _script(c: str) -> str:
    """Return the first word of a letter's name, which for letters is their script."""
    return unicodedata.name(c, "").split(" ")[0] if c.isalpha() or (c.isdigit() and not c.isascii()) else ""
