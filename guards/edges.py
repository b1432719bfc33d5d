"""The two edges of an output: its first and its last spoken sentence, as keys that can be compared across outputs.

A title, a list, a link, an address, a trailer or code at an edge is no sentence: forms change, and nobody says them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, TypeAlias

from guards.reading import NUMBER, Reading
from guards.text import UNSPACED as HAN
from guards.text import fingerprint

Side = Literal["first", "last"]
Words: TypeAlias = tuple[str, ...]

SPACED, UNSPACED = 3, 5
"""Words of a key: three tell one sentence's edge from another's; of a script without spaces five characters."""
LEAST = 6
"""Words of prose from which a text has an edge at all; below, it is a title or an acknowledgement."""
LOOKED = 600
"""Characters at the edge in which the sentence is looked for."""
NEAR = 120
"""Characters that surely hold the few words of a key."""
BREATH = 16
"""Words of two sentences on one line that are one ending."""
FIELD, BLOCK = 1, 2
"""Stand for every edge that is a form field, a link or a title, and for every one that is code or a table."""

_MARK = re.compile(r"[>):](?=\s+[*_\"“]{0,3}[^\W\d_a-z])|[.!?…]+(?=[\s\"'”’»)*_]|\Z)|[。！？；।]+|\n+")
"""What ends a sentence; a bracket or a colon too, where a capital follows."""
_STOPS = ".!?…。！？।"
_GOES_ON = ":,：，*_~"
"""What a spoken line may end with besides a full stop; a first line with none of them is a title."""
_CLOSED = _STOPS + "\"'”’»)*_"
_OPENS = "¡¿\"'“«*_(["
"""What may stand before the first word of speech; a dot or a backslash is markup."""
_WRITTEN = ("](", "://", "`", "\\", "{", "=", "|", "$ ")
"""What no spoken sentence has in it: links and code, and the prompt before a command."""
_ADDRESS = re.compile(r"\w@\w|\w\.[a-z]{2,12}/\w")
"""Mail has a sender; who signs a page with an address says who made it, or where more is."""
_BULLETS = "-*+•"
_ON_TOP = ("#", "|", ">", "---", *(f"{bullet} " for bullet in _BULLETS))
"""What a page begins with that has a heading, a table, a quote, front matter or a list on top."""
_WORD = re.compile(rf"[{HAN}]|[^\W\d_{HAN}]+(?:['’][^\W\d_{HAN}]+)*|\d+(?:[.,:]\d+)*")
_ASCII_WORD = re.compile(r"[a-z]+(?:'[a-z]+)*|[0-9]+(?:[.,:][0-9]+)*")
"""The same for ASCII in lower case, where the engine is faster."""
_PICTURE = re.compile("[\u200d\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]")
_LETTER = re.compile(r"[^\W_]")
_FIELD = re.compile(r"\W*[A-Za-z][A-Za-z-]{2,30}:\s.{0,200}(?:[>@/]|\d)\W*\Z|\[[^\]]{1,80}\]:\s*\S{1,300}\s*\Z")
_FIELD_BEFORE = re.compile(
    r"(\n(?:[A-Za-z][A-Za-z-]{2,30}: [^\n>]{0,200}>|\[[^\]\n]{1,80}\]: \S{1,300})) +(?=[^\n]+\Z)"
)
"""`Signed-off-by: …>` under a commit message, `[name]: link` under a page; alone, or with words behind it."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge of one text.

    `keys` are fingerprints of `words`: the outermost words, those at the other end of that sentence, and a closing
    question's first two; 0 where there is none.  `form` says what the text ends (or begins) with, whatever it is;
    `beyond` says it of the text without the sentence.  `said` is the sentence as it stands in the text.  `beside` are
    keys of the words next to the sentence, and of those next to it with a short neighbour on its line (0 for none);
    `own` is one of the words that the text itself ends (or begins) with.
    """

    keys: tuple[int, int, int] = (0, 0, 0)
    words: tuple[Words, Words, Words] = ((), (), ())
    beyond: int = 0
    form: int = 0
    said: str = ""
    beside: tuple[int, int] = (0, 0)
    own: int = 0


def edge(reading: Reading, side: Side) -> Edge:
    """Return the edge of a text; one without keys when the text is short, or when no sentence stands there."""
    found = _first(reading) if side == "first" else _last(reading)
    own = _behind(reading.text.lstrip()) if side == "first" else _before(_without_pictures(reading.text[-NEAR:]))
    return replace(found, own=own)


def _first(reading: Reading) -> Edge:
    if len(reading.spoken) < LEAST:
        return Edge()
    if reading.text.lstrip()[:3].startswith(_ON_TOP):
        return Edge(form=FIELD)
    head = reading.prose[: 2 * LOOKED].lstrip()[:LOOKED]
    letter = head.lstrip(_OPENS)[:1]
    if not (letter.isalnum() or letter > "\u2010"):
        return Edge()
    start = 0
    for mark in _MARK.finditer(head):
        said = head[start : mark.start()]
        words = _spoken(said)
        if len(words) > 1:
            after = _opening(head[mark.end() :])
            if _is_title(said, mark[0], head[mark.end() :]) or not after or not _is_speech(said, words):
                return Edge(form=FIELD)
            size = _size(words[0])
            inner = words[-size:] if len(words) > size else ()
            found = _edge((words[:size], inner, ()), _key(after), _key(_opening(head)), said.strip())
            return replace(found, beside=_company(reading.text, head, start, mark.end()))
        start = mark.end()
    return Edge()


def _is_title(said: str, mark: str, rest: str) -> bool:
    """Whether a sentence is a title, or the label of one."""
    if mark == ":":
        return rest.partition("\n")[0].rstrip()[-1:] not in _CLOSED
    return mark[0] == "\n" and said[-1:] not in _GOES_ON


def _opening(text: str) -> Words:
    return _spoken(text.lstrip("# \n")[:NEAR])[:SPACED]


def _last(reading: Reading) -> Edge:
    if len(reading.spoken) < LEAST:
        return Edge()
    tail = _FIELD_BEFORE.sub(r"\1\n", _without_pictures(reading.text[-2 * LOOKED :]))
    form = _form(tail, reading)
    if form in (FIELD, BLOCK):
        return Edge(form=form)
    end = len(tail)
    least = max(0, end - LOOKED)
    marks = [(mark.start(), mark.end()) for mark in _MARK.finditer(tail, least)]
    starts = [(least, least), (least, least), *marks]
    for (further, joint), (before, start) in reversed(list(pairwise(starts))):
        said = tail[start:end].strip()
        words = _spoken(said)
        if len(words) > 1:
            if not _is_speech(tail[start:], words):
                return Edge(form=FIELD)
            rest = tail[:start].rstrip()
            beside = _before(rest), _before(tail[:further]) if _is_joined(tail[joint:end]) else 0
            found = Edge(beyond=_form(rest, reading), form=_form(tail[:end].rstrip(), reading), said=said)
            found = _closing(found, words, _spoken(rest[-NEAR:]), asks=tail[end : end + 1] in ("?", "？"))
            return replace(found, beside=beside)
        end = before
    return Edge()


def _company(text: str, head: str, start: int, end: int) -> tuple[int, int]:
    """Return the keys of what is behind the first sentence of a head, and behind the next one on its line."""
    _, found, rest = text[: 2 * LOOKED].partition(head[start:end].strip())
    behind = _MARK.search(head, end)
    joined = behind is not None and _is_joined(head[start : behind.end()])
    return _behind(rest if found else head[end:]), _behind(head[behind.end() :]) if behind and joined else 0


def _is_joined(sentences: str) -> bool:
    """Whether two sentences are said in one breath: on one line, and short."""
    line = sentences.strip()
    return "\n" not in line and len(_spoken(line)) <= BREATH


def _before(rest: str) -> int:
    """Return the key of the words that a text ends with, whatever they are."""
    words = _spoken(rest[-NEAR:])
    return _key(words[-_size(words[-1]) :]) if words else 0


def _behind(rest: str) -> int:
    """Return the key of the words that a text begins with, whatever they are."""
    words = _spoken(rest[:NEAR])
    return _key(words[: _size(words[0])]) if words else 0


def _without_pictures(tail: str) -> str:
    """Return a text without the white space and the pictograms that it ends with."""
    end = len(tail)
    while end and (tail[end - 1].isspace() or _PICTURE.match(tail, end - 1)):
        end -= 1
    return tail[:end]


def _closing(found: Edge, words: Words, before: Words, *, asks: bool) -> Edge:
    size = _size(words[-1])
    if not found.beyond and len(words) < 2 * size:
        return found  # the sentence is all there is: it closes nothing
    outer = (*before, *words)[-size:]
    inner = words[:size] if before and len(words) > size else ()
    asked = (*words[:2], "?") if asks and before else ()
    return _edge((outer, inner, asked), found.beyond, found.form, found.said)


def _edge(words: tuple[Words, Words, Words], beyond: int, form: int, said: str) -> Edge:
    outer, inner, asked = words
    return Edge((_telling(outer), _telling(inner), _key(asked)), words, beyond, form, said)


def _form(tail: str, reading: Reading) -> int:
    """Return what a text ends with: FIELD, BLOCK, or the key of its last words; 0 for nothing."""
    if not tail:
        return 0
    lines = tail.split("\n")
    if _is_field(lines):
        return FIELD
    if (reading.structure and f"\n{lines[-1]}\n" in f"\n{reading.structure}\n") or not _LETTER.search(lines[-1]):
        return BLOCK
    words = _spoken(lines[-1][-NEAR:])
    return _key(words[-_size(words[-1]) :]) if words else BLOCK


def _is_field(lines: list[str]) -> bool:
    """Whether the last line is a trailer, a link, a list item, a dated signature, or all that a heading heads."""
    last = lines[-1].strip()
    before = next((line for line in reversed(lines[:-1]) if line.strip()), "")
    unclosed = len(lines) > 1 and last[-1:] not in _CLOSED
    listed = unclosed and (last[:1] in _BULLETS or any(map(str.isdecimal, last)))
    return bool(listed or (before.startswith("#") and not _MARK.search(last[:-1])) or _FIELD.match(last))


def _is_speech(said: str, words: Words) -> bool:
    """Whether a sentence could be a habit of speech: a number, a link, an address or code belongs to a form."""
    written = any([sign in said for sign in _WRITTEN]) or _ADDRESS.search(said)
    return NUMBER not in words and not written


def _spoken(text: str) -> Words:
    words = (_ASCII_WORD if text.isascii() else _WORD).findall(text.lower())
    return tuple([NUMBER if word[0].isdigit() else word for word in words])


def _size(word: str) -> int:
    return UNSPACED if len(word) == 1 and ord(word) >= 0xE00 else SPACED


def _key(words: Words) -> int:
    return fingerprint(" ".join(words)) if words else 0


def _telling(words: Words) -> int:
    """Return the key, 0 for words that are too few."""
    return _key(words) if words and len(words) >= _size(words[-1]) else 0


def span(said: str, words: Words, otherwise: str) -> str:
    """Return these words as they stand in a text, with what is between them; `otherwise` where they are not found."""
    found = re.search(r"[\W_]*".join(map(re.escape, words)), said, re.IGNORECASE)
    return found[0] if found else otherwise
