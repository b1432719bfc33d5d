"""What counts as right: the checks that the evaluation puts to each reply."""

from __future__ import annotations

import re

from training.corpus.host_phrases import CALM, worried
from training.player import Played, parsed

NUMBER = re.compile(r"\d+(?:\.\d+)*")
NAME = re.compile(r"[\w.-]*/[\w./-]+|[\w-]+\.(?:service|timer|mount|socket|path|md)\b")


def spoken(played: Played) -> str:
    """What the reply says: its words, or what it fills into a call."""
    call = parsed(played.reply, played.tools)
    filled = [value for key, value in call[1].items() if key in ("text", "path", "query")] if call else [played.reply]
    return "\n".join(filled)


def holds(text: str, part: str) -> bool:
    """Whether the text holds this string whole (4 % is not in 94 %); plain words may stand in the plural."""
    plural = "s?" if part.isalpha() else ""
    return re.search(rf"(?<![\w.]){re.escape(part)}{plural}(?!\w|\.\d)", text, re.IGNORECASE) is not None


def invented(played: Played) -> list[str]:
    """Numbers and names in the reply that stand nowhere in this beat."""
    text = spoken(played)
    parts = NUMBER.findall(text) + [name.rstrip(".") for name in NAME.findall(text)]
    return [part for part in parts if not holds(played.source, part) and part not in played.source]


def well_called(played: Played) -> bool:
    """The expected tool with the expected arguments; the text is free."""
    call, wanted = parsed(played.reply, played.tools), played.expected.call
    if call is None or wanted is None:
        return False
    same = {key: value for key, value in call[1].items() if key != "text"}
    return call[0] == wanted[0] and same == {key: value for key, value in wanted[1].items() if key != "text"}


def judged(played: Played) -> bool:
    """Calm where all is calm, concern where something needs attention."""
    text = played.reply.lower()
    return worried(text) is not played.expected.calm and (worried(text) or any(words in text for words in CALM))


def follows(played: Played) -> bool:
    """Whether the reply right after a hint does what the hint says."""
    expected, text = played.expected, spoken(played)
    if expected.call is not None:
        right = well_called(played)
    else:
        right = "<tool_call>" not in played.reply and 0 < len(played.reply.split()) <= 60
    first = re.split(r"[,;.] ", text)[0]
    opens = not expected.opens or holds(first, expected.opens)
    avoids = not expected.avoids or expected.avoids not in text.lower()
    named = all(holds(text, part) for part in expected.required) if expected.opens or not expected.avoids else True
    return right and opens and avoids and named
