"""What of a thread is infected by a collapse, and what a prompt shows in its place.

Only the agent's own texts and the hints that quote them are taken out.  A call stays with its result, because a result
is a fact and no wire format has one without the other.  It works on messages alone and knows nothing of where they are
kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from daemon.context.compaction import HEADER, HINT, SUMMARY
from daemon.context.summary import parsed
from daemon.types import Message

LATEST = 8
"""How many of its latest texts are infected when no evidence says which."""

Infected: TypeAlias = Callable[[str], bool]


def infected_by(evidence: Sequence[str], messages: Sequence[Message]) -> Infected:
    """Return what says whether a text is infected: it holds one of the spans, case and spacing apart.

    Without spans the latest texts are, and what repeats one of them.
    """
    spans = {flat for span in evidence if (flat := _flat(span))}
    if spans:
        return lambda text: any(span in _flat(text) for span in spans)
    said = [_flat(message.text) for message in messages if message.role == "assistant" and message.text.strip()]
    latest = set(said[-LATEST:])
    return lambda text: _flat(text) in latest


def quarantined(messages: Sequence[Message], infected: Infected) -> list[Message | None]:
    """Return what stands for each message, None for nothing: an infected text, a hint about it, a task left alone.

    A heartbeat's own task says nothing that the newest one does not say; without its answer it would only be noise.
    """
    shown = [_shown(message, infected) for message in messages]
    starts = [i for i, message in enumerate(messages) if message.role == "user" and message.name not in (SUMMARY, HINT)]
    for begin, end in pairwise([*starts, len(messages)]):
        left = [one for one in shown[begin + 1 : end] if one is not None and one.name != HINT]
        if end - begin > 1 and not left and HEADER.match(messages[begin].text):
            shown[begin:end] = [None] * (end - begin)
    return shown


def _shown(message: Message, infected: Infected) -> Message | None:
    if message.role == "assistant" and infected(message.text):
        return replace(message, text="", token_ids=None, token_model=None) if message.calls else None
    if message.name == HINT and infected(message.text):
        return None
    if message.name == SUMMARY and infected(message.text):
        found = parsed(message.text)
        kept = replace(
            found,
            lines=tuple(line for line in found.lines if not infected(line)),
            sections={name: tuple(x for x in items if not infected(x)) for name, items in found.sections.items()},
        )
        return replace(message, text=kept.render()) if kept.lines or kept.items() else None
    return message


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())
