"""Texts that were not said in one breath: a log with its entries, a talk on record, a list of commits.

What such a text says again it said at another time, which is for the guards of the stream to judge.
"""

from __future__ import annotations

import re
from itertools import pairwise

_CLOCK = re.compile(r"(?<![\d:.])(?:[01]?\d|2[0-3]):[0-5]\d(?!\d)(?: ?[AaPp][Mm])?")
ENTRIES, OWN = 3, 0.8
"""Copies that make a log, and the share of them that must have a time of their own before them."""
_PARAGRAPHS = re.compile(r"\r?\n\r?\n")
_SQUASHED = re.compile(r"[^\n]*\(#\d+\)\s*\n\r?\n\* ")
"""How the message of a squashed merge begins: a title with a number, and the messages of its commits as a list."""
_SPEAKER = r"[*]*(?:human|user|assistant|ai|bot|system)[*]*:"
_TALK = re.compile(rf"(?:\A|\n)#[^\n]*\n\s*{_SPEAKER}", re.IGNORECASE)
_TURN = re.compile(rf"\n\s*{_SPEAKER}", re.IGNORECASE)


def is_talk(text: str) -> bool:
    """Return whether a talk begins right under a heading; a model that goes on as its reader begins with itself.

    >>> is_talk("# Session 7\\n\\nuser: Is the lamp lit?\\nassistant: It is.")
    True
    """
    return _TALK.search(text) is not None


def last_turn(text: str) -> str:
    """Return what was said last in a talk on record.

    >>> last_turn("# Session 7\\n\\nuser: Is the lamp lit?\\nassistant: It is.")
    ' It is.'
    """
    return _TURN.split(text)[-1]


def is_log(text: str, span: str) -> bool:
    """Return whether each copy of a span has a time of the day of its own, in it or before it.

    >>> is_log("".join(f"At {hour}:00: all is well.\\n" for hour in range(8)), "all is well.")
    True
    >>> is_log("It is 7:00.\\n" + 8 * "All is well.\\n", "All is well.")
    False
    """
    line = max(span.split("\n"), key=len)
    copies = re.finditer(_CLOCK.pattern.join(map(re.escape, _CLOCK.split(line))), text) if line else ()
    ends = [0, *(copy.end() for copy in copies)]
    times = [tuple(_CLOCK.findall(text, begin, end)) for begin, end in pairwise(ends)]
    return len(times) >= ENTRIES and len({one for one in times if one}) >= OWN * len(times)


def each_once(text: str) -> str:
    """Return a text; of a squashed merge, which lists commits, each paragraph once.

    >>> each_once("Mend the lamp (#7)\\n\\n* Update lamp.md\\n\\n* Update lamp.md\\n\\n* Light it")
    'Mend the lamp (#7)\\n\\n* Update lamp.md\\n\\n* Light it'
    """
    return "\n\n".join(dict.fromkeys(_PARAGRAPHS.split(text))) if _SQUASHED.match(text) else text
