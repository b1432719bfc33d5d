"""What of a text must not be lost when it is made shorter: identifiers, dates and measures, and open loops.

An identifier is a word that nobody can make up again: an address, a path, a hash, a name with a number in it.  An open
loop is a sentence that says that something is still to do; a later line that ticks it off closes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_LONGEST = 300
"""Characters of an identifier; what is longer is data, not a name."""
_MOST = 100_000
"""Characters of one text that are looked at."""
SENTENCE = 200
"""Characters of a sentence that is kept for what stands in it."""

_LETTER = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # scripts without spaces would glue a name to its sentence
_TOKEN = re.compile(rf"(?:{_LETTER}|[@/\\:.+=~#%?&$€£-])+")
_ENDS = ".:?&=+-~#%$"
_UNIT = (
    r"(?:%|°[CF]?|[kKMGTP]i?[Bb](?:/s)?|B|bytes?|ms|µs|s|sec(?:onds?)?|min(?:utes?)?|h|hours?|days?|weeks?|months?|years?|"
    r"km|cm|mm|m|kg|g|mg|l|ml|kWh|kW|MW|W|V|A|[kMG]?Hz|EUR|USD|GBP|CHF|JPY|tokens?|Stunden|Tage|Wochen|Euro)"
)
_NUMBER = r"\d[\d,.]{0,20}"
_MEASURE = re.compile(
    rf"(?:[€$£¥]|\b(?:EUR|USD|GBP|CHF|JPY))\s?{_NUMBER}|(?<![\w.]){_NUMBER}\s?(?:{_UNIT}(?!\w)|€)|(?<![\w.])\d{{1,3}}(?:,\d{{3}})+(?!\w)"
)
_MONTH = r"(?:Jan|Feb|M(?:ar|är)|Apr|Ma[yi]|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz])[a-zä]{0,6}\.?"
_DATE = re.compile(
    rf"(?<!\d)\d{{4}}-\d\d-\d\d(?!\d)|(?<!\d)\d{{1,2}}[./]\d{{1,2}}[./]\d{{4}}(?!\d)"
    rf"|(?<!\d)\d{{1,2}}\.? {_MONTH}(?!\w)|(?<!\w){_MONTH} \d{{1,2}}(?!\d)|\d{{1,4}}年\d{{1,2}}月(?:\d{{1,2}}日)?"
)
_WHEN = re.compile(r"[\d.:/-]+(?:T[\d:.]+)?Z?|\d+(?:st|nd|rd|th|am|pm|x)", re.IGNORECASE)
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|@[\w.-]*\w")
_DOTTED = re.compile(r"[\w-]{2,}(?:\.[\w-]+)*\.[a-z][a-z0-9]{1,4}|v?\d+(?:\.\d+){2,}(?:[:/-]\w+)?")
_LONG_NUMBER = re.compile(r"\+?\d{5,}|#\d+|(?!\d{4}-\d\d-\d\d$)\d[\d-]{8,}\d")
_CODE = re.compile(r"[A-Za-z][\w-]*\d[\w-]*|\w*[A-Za-z]\w*_\w+|(?=[a-f]{8})[a-f]+")
_SPACED = re.compile(r"\b[A-Z]{2}\d\d(?: [A-Z\d]{4}){2,7}(?: [A-Z\d]{1,3})?\b|\+\d{1,3}(?:[ /-]\(?\d{2,8}\)?){2,5}")
"""Account and telephone numbers, which are written in groups."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")

_BULLET = re.compile(r"[\s>]*(?:[-*+•]\s+|\d{1,3}[.)]\s+)?")
_OPEN_AT_START = re.compile(
    r"\[ ?\]|(?:TODO|FIXME|XXX)\b|(?:open(?: loops?| questions?| items?)?|next(?: steps?)?|follow[- ]?ups?|reminders?|"
    r"pending|blocked|to do|action(?: items?)?|offen|ausstehend|zu erledigen|nächste schritte|por hacer|pendiente|"
    r"à faire|待办|未完成)\s*[:：]",
    re.IGNORECASE,
)
_OPEN_ANYWHERE = re.compile(
    r"\b(?:TODO|FIXME)\b|\b(?:(?:still )?waiting (?:for|on)|awaiting|follow(?:ing)? up|remind (?:me|him|her|them|us)|"
    r"still (?:open|to do|owes?)|not yet (?:answered|done|sent|paid|fixed)|promised|must not forget|remember to|"
    r"blocked (?:by|on)|due (?:on|by)|warte[nt]? (?:noch )?auf|steht noch aus|noch offen)\b|还没|待办|需要跟进",
    re.IGNORECASE,
)
_NONE = re.compile(r"\b(?:no|none|nothing|keine?r?|nichts|without)\b|没有", re.IGNORECASE)
_CLOSED = re.compile(
    r"(?:\[[xX✓]\]|(?:done|closed|resolved|finished|settled|erledigt|geschlossen|hecho|fait|已完成)\s*[:：])\s*",
    re.IGNORECASE,
)
_MARK = re.compile(r"(?:\[ ?\]|(?:TODO|FIXME|XXX)\b\s*[:：]?|[\w -]{1,20}[:：])\s*")
_BOX = re.compile(r"^\[ ?\]\s*")
_SAME = 8
"""So many characters of a loop's words must be there before one that begins with them counts as the same."""
_NEARLY_ALL = 0.8


def identifiers(text: str) -> dict[str, None]:
    """Return the identifiers of a text, each once, in their order.

    >>> list(identifiers("Sent inv-20931 to ann@example.org, see /srv/bills/nov.pdf and 3f2a9c1; 12 GB and/or 3 runs."))
    ['inv-20931', 'ann@example.org', '/srv/bills/nov.pdf', '3f2a9c1']
    """
    found = (token[0].rstrip(_ENDS) for token in _TOKEN.finditer(text[:_MOST]) if len(token[0]) <= _LONGEST)
    whole = dict.fromkeys(group[0] for group in _SPACED.finditer(text[:_MOST]))
    return whole | dict.fromkeys(token for token in found if _is_identifier(token.lstrip("=:?&%$")))


def measures(text: str) -> dict[str, None]:
    """Return dates and numbers with their units, each once.

    >>> list(measures("On 2026-11-20 the disk had 12.5 GB free, and 1,250 files."))
    ['2026-11-20', '12.5 GB', '1,250']
    """
    return dict.fromkeys(found[0] for pattern in (_DATE, _MEASURE) for found in pattern.finditer(text[:_MOST]))


def _is_identifier(token: str) -> bool:
    if len(token) < 2 or (_WHEN.fullmatch(token) and not _LONG_NUMBER.fullmatch(token) and token.count(".") < 2):
        return False
    if "://" in token or _ADDRESS.fullmatch(token) or _DOTTED.fullmatch(token) or _LONG_NUMBER.fullmatch(token):
        return True
    if "/" in token:
        return _is_path(token)
    if "\\" in token:
        return token.count("\\") > 1
    if _CODE.fullmatch(token):
        return len(token) > 2
    letters = any(c.isascii() and c.isalpha() for c in token)
    return len(token) >= 4 and letters and any(c.isdigit() for c in token) and not _MEASURE.fullmatch(token)


def _is_path(token: str) -> bool:
    parts = [part for part in token.split("/") if part]
    if not parts or all(part.isdigit() for part in parts):
        return False
    rooted = token.startswith(("/", "~/", "./", "../"))
    marked = "." in parts[-1] or any("-" in part or "_" in part for part in parts)
    return rooted or marked or len(parts) > 2 or any(map(_is_identifier, parts))


def sentences(text: str) -> Iterator[str]:
    """Give the sentences of a text, without what makes a list of them."""
    for line in text[:_MOST].splitlines():
        for sentence in _SENTENCE_END.split(line[_BULLET.match(line).end() :]):  # type: ignore[union-attr]  # it matches nothing too
            if sentence.strip():
                yield sentence.strip()


def around(sentence: str, span: str = "") -> str:
    """Return at most `SENTENCE` characters of a sentence, more only where the span itself is longer."""
    most = max(SENTENCE, len(span))
    if len(sentence) <= most:
        return sentence
    start = max(0, sentence.find(span) - (most - len(span)) // 2)
    return f"{'…' if start else ''}{sentence[start : start + most]}…"


def open_loops(texts: Iterable[str]) -> dict[str, str]:
    """Return what the texts, in their order, leave open: {its words as they compare: the sentence}.

    >>> open_loops(["TODO: rotate the key. TODO: ask Ann.", "Nothing is pending. Done: rotate the key"])
    {'ask ann': 'TODO: ask Ann.'}
    """
    found = dict[str, str]()
    for text in texts:
        for sentence in sentences(text):
            if closed := _CLOSED.match(sentence):
                done = words(sentence[closed.end() :])
                for loop in [loop for loop in found if _same(loop, done)]:
                    del found[loop]
            elif _is_open(sentence) and (key := words(sentence)):
                found.setdefault(key, around(_BOX.sub("", sentence)))
    return found


def is_closed(item: str) -> bool:
    """Say whether an item is ticked off."""
    return _CLOSED.match(item) is not None


def words(loop: str) -> str:
    """Return the words of a loop as they compare with another's: without marks and case."""
    while _OPEN_AT_START.match(loop) and (bare := _MARK.sub("", loop, count=1)) != loop:
        loop = bare
    return " ".join(re.findall(r"\w+", loop.casefold()))


def covers(item: str, loop: str) -> bool:
    """Say whether an item has every name and nearly all words of a loop."""
    asked = set(words(loop).split())
    return not identifiers(loop).keys() - identifiers(item).keys() and (
        len(asked - set(words(item).split())) <= len(asked) * (1 - _NEARLY_ALL)
    )


def _is_open(sentence: str) -> bool:
    if _OPEN_AT_START.match(sentence):
        return not _NONE.match(_MARK.sub("", sentence, count=1))
    found = _OPEN_ANYWHERE.search(sentence)
    return found is not None and not _NONE.search(sentence[: found.start()])


def _same(loop: str, done: str) -> bool:
    shorter, longer = sorted((loop, done), key=len)
    return loop == done or (len(shorter) >= _SAME and longer.startswith(shorter))
