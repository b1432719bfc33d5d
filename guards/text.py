"""What guards see of a text: a bounded part of it, cut into words, with prose kept apart from code, tables and quotes.

Every function takes any string (NUL bytes, lone surrogates, a hundred megabytes) in bounded time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from operator import add
from zlib import crc32

HEAD, TAIL = 12_000, 8_000
"""How many characters of a long text are looked at: its beginning, and its end, where a loop is still going on."""
SEAM = 10
"""Characters of the beginning that are left for what stands between the two."""
PART = 400
"""So much of a line or a word that is cut is left out, so that no row of a table and no number is read in part."""
FAR = 1_000_000
"""So much of what is not looked at, the end of it, is searched for fences."""

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Scripts that are written without spaces (Thai, Lao, Burmese, Khmer, kana, Han): one token a character."""
UNSPACED_FROM = "\u0e00"
"""No script without spaces lies before this character; of those that lie after it, Hangul is the one with spaces."""

LONGEST_INFO = 60
"""What follows an opening fence in its line names a language; more than this is text."""
LONGEST_CODE = 300
"""An indented line that is longer than this is text, not code."""

_LETTER = rf"[^\W\d_{UNSPACED}]"
WORD = rf"(?:[a-z]+{_LETTER}*|{_LETTER}+)(?:['’]{_LETTER}+)*"
"""A word in lower case; Latin letters come first because the engine finds them soonest."""

# Each pattern takes one character of its set, which the engine finds soonest, and then asks what it took.
_REST = rf"(?<=[a-z])[a-z]*{_LETTER}*(?:['’]{_LETTER}+)*|(?<={_LETTER}){_LETTER}*(?:['’]{_LETTER}+)*"
_NUMBER_REST = r"(?<=\d)\d*(?:[.,:]\d+)*"
_ASCII_REST, _ASCII_NUMBER_REST = r"(?<=[a-z])[a-z]*(?:'[a-z]+)*", r"(?<=[0-9])[0-9]*(?:[.,:][0-9]+)*"
_TOKEN = re.compile(rf"\S(?:{_REST}|(?<![{UNSPACED}])(?<=\d)\d*|)")
_ASCII_TOKEN = re.compile(rf"\S(?:{_ASCII_REST}|(?<=[0-9])[0-9]*|)")
_WORD = re.compile(rf"[\w{UNSPACED}](?:{_REST}|(?<=[{UNSPACED}])[{UNSPACED}]*|{_NUMBER_REST})")
_ASCII_WORD = re.compile(rf"[a-z0-9](?:{_ASCII_REST}|{_ASCII_NUMBER_REST})")
"""The same for ASCII in lower case, where the engine is twice as fast."""
IS_UNSPACED = re.compile(rf"[{UNSPACED}]")
LINK = re.compile(r"https?://\S+")
_FENCE = re.compile(r"\s*(```|~~~)")
_FENCES = re.compile(r"\n[^\S\n]*(```|~~~)")
_ORDINAL = re.compile(r"\s*(?:\d{1,5}[.)]|[-*+•])\s+")
_BULLETS = "-*+•"
TRAILER = re.compile(r"[A-Z][A-Za-z]{1,20}(?:-[A-Za-z]{1,20}){1,3}: \S")
"""`Signed-off-by: …`, `Change-Id: …`: a hyphenated key at the left edge, below the text of a commit or letter."""
MERGED = re.compile(r"Merge (?:pull request #\d|(?:remote-tracking )?branch '|tag ')")
"""The beginning of a merge's message, which git or its host writes."""
UPLOADED = re.compile(
    r"(?:(?:Update|Create|Delete|Rename) \S+\.\w{1,8}|Add files via upload)[ \t\r]*"
    rf"(?:\n(?:{TRAILER.pattern}[^\n]*|[ \t\r]*))*\Z"
)
"""What a host writes for a file that was edited on its pages, with nothing below it but trailers."""
_LOG = re.compile(r"\W?\d{4}-\d\d-\d\d[T ]\d\d:\d\d.{0,40}\b(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL)\b")


def clip(text: str) -> str:
    """Return the text, or the head and the tail of a long one, each line as it was: in a fence or outside of any.

    What is left out may hold only one mark of a fence.  The other then stands between the two, so that no code of the
    tail is read as prose, nor prose as code.  So a text that grows may be clipped again and again.
    """
    if len(text) <= HEAD + TAIL:
        return text
    ends, begins = HEAD - SEAM, len(text) - TAIL
    for mark in "\n ":
        last = text.rfind(mark, ends - PART, ends)
        if last >= 0:
            ends = last
            break
    for mark in "\n ":
        first = text.find(mark, begins, begins + PART)
        if first >= 0:
            begins = first + 1
            break
    before = _fence(f"\n{text[:ends]}", "")
    after = _fence(text[max(ends, begins - FAR) : begins], before if begins - ends <= FAR else "")
    marks = [mark for mark in (before, after) if mark] if before != after else []
    return "\n".join((text[:ends], *marks, text[begins:]))


def _fence(text: str, within: str) -> str:
    """Return the mark of the fence that is open at the end of a part of a text, which begins `within` one."""
    for mark in _FENCES.findall(text):
        if not within:
            within = mark
        elif mark == within:
            within = ""
    return within


def tokens(text: str) -> list[str]:
    """Return words, numbers and single punctuation marks in lower case."""
    return (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text.lower())


def words(text: str) -> list[str]:
    """Return words and numbers in lower case; a script without spaces gives overlapping pairs of characters."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    whole: list[str] = _WORD.findall(text.lower())
    if not whole or max(whole) < UNSPACED_FROM:
        return whole
    found: list[str] = []
    for word in whole:
        if word >= UNSPACED_FROM and IS_UNSPACED.match(word):
            found.extend(map(add, word, word[1:]) if len(word) > 1 else word)
        else:
            found.append(word)
    return found


@lru_cache(maxsize=2)
def split(text: str) -> tuple[str, str]:
    """Return (prose, structure): structure lies in fences, tables, quotes, rules, indented code, trailers and logs.

    Two guards ask it of each output, so it remembers the last answers.  List markers and links are dropped from
    prose, so that a numbered list which says one thing again and again is a repetition.
    """
    if "://" in text:
        text = LINK.sub(" ", text)
    prose: list[str] = []
    structure: list[str] = []
    fence = ""
    for line in text.split("\n"):
        bare = line.strip()
        if not bare:
            (structure if fence else prose).append(line)
            continue
        mark = _FENCE.match(line) if bare[0] in "`~" else None
        if mark and (not fence or mark[1] == fence):
            rest = line[mark.end() :].strip("`~ \t")
            if fence or len(rest) > LONGEST_INFO:  # what follows a closing fence in its line is prose
                prose.append(rest)
            fence = "" if fence else mark[1]
            continue
        if fence or _is_structure(line, bare):
            structure.append(line)
        else:
            ordinal = _ORDINAL.match(line) if bare[0] in _BULLETS or bare[0].isdecimal() else None
            prose.append(line[ordinal.end() :] if ordinal else line)
    return "\n".join(prose), "\n".join(structure)


def _is_structure(line: str, bare: str) -> bool:
    if bare[0] in "|>#" or ((line[0] == "\t" or line.startswith("    ")) and len(bare) <= LONGEST_CODE):
        return True
    if "|" in line and bare.count(" | ") > 1:
        return True
    if line[0].isupper() and ": " in line and TRAILER.match(line):
        return True
    return (line[0].isdecimal() or line[1:2].isdecimal()) and _LOG.match(line) is not None


def fingerprint(text: str) -> int:
    """Return 32 bits that are the same in every process and on every machine."""
    return crc32(text.encode("utf-8", "surrogatepass"))


def quote(text: str, limit: int = 120) -> str:
    """Return one line of at most `limit` characters in quotes, which nothing inside can close; controls are escaped.

    >>> print(quote('So be it." Now obey: \\\\" do.'))
    "So be it.\\" Now obey: \\\\\\" do."
    """
    flat = " ".join(text[: 4 * limit].split())
    plain = flat.isprintable() and '"' not in flat and "\\" not in flat
    safe = flat if plain else "".join(map(_printable, flat))
    return f'"{safe}"' if len(safe) <= limit - 2 else f'"{safe[: limit - 3]}…"'


def _printable(c: str) -> str:
    if c in '"\\':
        return f"\\{c}"
    return c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode("ascii")
