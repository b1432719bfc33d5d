"""What of a thread is infected by a collapse, and what a prompt shows in its place.

Only the agent's own texts and the hints that quote them are taken out.  A call stays with its result, because a result
is a fact and no wire format has one without the other; what it writes for a person is emptied.  It works on messages
alone and knows nothing of where they are kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType

from daemon.context.compaction import HEADER, HINT, SUMMARY
from daemon.context.summary import parsed
from daemon.types import Message, ToolCall
from guards.text import UNSPACED
from guards.written import Written, held

LATEST = 8
"""How many of its latest texts are looked at when no evidence says which are infected."""
LEAST = 4
"""A shorter span (a, it, now) says nothing: every text holds it."""
PHRASE, LONG = 3, 12
"""From so many words, or characters of two words, a span is a phrase; what is less is a word that facts hold too."""
NO_WORD = 40
"""A run of so many letters is no word of any language."""

_MARK = re.compile(r"[^\w\s]")
_UNSPACED = re.compile(f"[{UNSPACED}]")


@dataclass(frozen=True, slots=True)
class Infected:
    """Says what is infected: what holds one of the `phrases`, two of the `terms`, or is one of the `whole` texts.

    A line of a summary may be the only trace of a fact, so that single words never take one out.
    """

    phrases: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    whole: frozenset[str] = field(default_factory=frozenset)

    def text(self, text: str) -> bool:
        """Say whether a text of the agent, or a hint about one, is infected."""
        flat = _flat(text)
        held = sum(_stands(term, flat) for term in self.terms)
        return flat in self.whole or held > 1 or any(_stands(phrase, flat) for phrase in self.phrases)

    def line(self, line: str) -> bool:
        """Say whether a line of a summary is infected."""
        flat = _flat(line)
        return any(_words(phrase) > 1 and _stands(phrase, flat) for phrase in self.phrases)


def infected_by(
    evidence: Sequence[str], messages: Sequence[Message], written: Written = MappingProxyType({})
) -> Infected:
    """Return what says whether a text is infected; case and spacing do not count, words are whole.

    Without spans those of its latest texts are that were said, or written, more than once.
    """
    spans = {flat for span in evidence if (flat := _flat(span))}
    if not spans:
        said = [_flat(message.text) for message in messages if message.role == "assistant" and message.text.strip()]
        notes = [_flat(text) for message in messages for call in message.calls for text in held(call, written).values()]
        again = (*Counter(said[-LATEST:]).items(), *Counter(notes[-LATEST:]).items())
        return Infected(whole=frozenset(text for text, times in again if times > 1))
    telling = {span for span in spans if len(span.replace(" ", "")) >= LEAST}
    phrases = {span for span in telling if _is_phrase(span)}
    terms = {a for a in telling - phrases if not any(a != b and _stands(a, b) for b in telling)}
    return Infected(tuple(sorted(phrases)), tuple(sorted(terms)), frozenset(spans))


def quarantined(
    messages: Sequence[Message], infected: Infected, written: Written = MappingProxyType({})
) -> list[Message | None]:
    """Return what stands for each message, None for nothing: an infected text, a hint about it, a task left alone.

    `written` names the arguments of calls that are texts too; an infected one is left empty, so that a model which
    copies it is told by the tool what is missing.

    A heartbeat's own task says nothing that the newest one does not say; without its answer it would only be noise.
    """
    shown = [_shown(message, infected, written) for message in messages]
    starts = [i for i, message in enumerate(messages) if message.role == "user" and message.name not in (SUMMARY, HINT)]
    for begin, end in pairwise([*starts, len(messages)]):
        left = [one for one in shown[begin + 1 : end] if one is not None and one.name != HINT]
        if end - begin > 1 and not left and HEADER.match(messages[begin].text):
            shown[begin:end] = [None] * (end - begin)
    return shown


def _shown(message: Message, infected: Infected, written: Written) -> Message | None:
    if message.role == "assistant":
        text = "" if infected.text(message.text) else message.text
        calls = tuple(_emptied(call, infected, written) for call in message.calls)
        if (text, calls) == (message.text, message.calls):
            return message
        return replace(message, text=text, calls=calls, token_ids=None, token_model=None) if calls else None
    if message.name == HINT and infected.text(message.text):
        return None
    if message.name == SUMMARY and infected.phrases:
        found = parsed(message.text)
        kept = replace(
            found,
            lines=tuple(line for line in found.lines if not infected.line(line)),
            sections={name: tuple(x for x in items if not infected.line(x)) for name, items in found.sections.items()},
        )
        if kept != found:
            return replace(message, text=kept.render()) if kept.lines or kept.items() else None
    return message


def _emptied(call: ToolCall, infected: Infected, written: Written) -> ToolCall:
    """Return a call without its infected texts."""
    gone = [argument for argument, text in held(call, written).items() if infected.text(text)]
    return replace(call, args={**call.args, **dict.fromkeys(gone, "")}) if gone else call


def _flat(text: str) -> str:
    """Return words and marks with one space between them; what joins or accents a letter is part of its word."""
    return " ".join(_MARK.sub(_apart, text.casefold()).split())


def _apart(mark: re.Match[str]) -> str:
    category = unicodedata.category(mark[0])
    return mark[0] if category == "Cf" or category.startswith("M") else f" {mark[0]} "


def _stands(span: str, flat: str) -> bool:
    """Say whether the span stands in the text, in whole words where its script has spaces between them."""
    left = "" if _UNSPACED.match(span[0]) else " "
    right = "" if _UNSPACED.match(span[-1]) else " "
    return f"{left}{span}{right}" in f" {flat} "


def _words(span: str) -> int:
    """Count words; where they are not spaced, two characters are taken for one."""
    spaced = [word for word in _UNSPACED.sub(" ", span).split() if any(c.isalnum() for c in word)]
    return len(spaced) + len(_UNSPACED.findall(span)) // 2


def _is_phrase(span: str) -> bool:
    words, size = _words(span), len(span.replace(" ", ""))
    return words >= PHRASE or (words > 1 and size >= LONG) or (words > 0 and size >= NO_WORD)
