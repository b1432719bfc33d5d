"""How a thread that has grown too long is made short again: what its older runs said, in a summary that loses no name.

The summary is an extract (a line for each past run, in the model's own words) unless a model has written one.  Either
way code sees to it that identifiers and open loops stay: in the summary, or among what found no room there and is for
the vault.  It works on messages alone and knows nothing of where they are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from daemon.context.pins import around, covers, identifiers, is_closed, measures, open_loops, sentences
from daemon.context.summary import NAMES, OPEN, Summary, parsed
from daemon.types import Message

ACKNOWLEDGED = Message("assistant", "Noted.")
SUMMARY, HINT = "summary", "hint"
HEADER = re.compile(r"Heartbeat (?P<name>\S+), \w+ (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d)[^\n]*")
_DATA = re.compile(r"<data\b.*?(?:</data>|\Z)", re.DOTALL)
_LINE_CHARS = 240
_LOOPS_SHARE, _NAMES_SHARE = 0.3, 0.3
"""Of the room: what open loops may take, and what is held back for names that no other line has."""


@dataclass(frozen=True, slots=True)
class Shorter:
    """A thread made short: its summary, how many messages at its end stay, and what found no room, for the vault."""

    summary: Message
    keep: int
    evicted: tuple[str, ...] = ()


def runs(messages: Sequence[Message]) -> list[tuple[Message, ...]]:
    """Split a thread, without its summary, into runs: each begins with a person's or a heartbeat's message."""
    starts = [i for i, m in enumerate(messages) if m.role == "user" and m.name not in (SUMMARY, HINT)]
    return [tuple(messages[a:b]) for a, b in pairwise([*starts, len(messages)])]


def acknowledged(live: Sequence[Message]) -> tuple[Message, ...]:
    """Let the model answer its summary, because many templates want turns to alternate."""
    if live and live[0].name == SUMMARY:
        return (live[0], ACKNOWLEDGED, *live[1:])
    return tuple(live)


def line(run: Sequence[Message]) -> str:
    """Say in one line when a run was and what it ended with; the words are the model's own."""
    said = next((m.text for m in reversed(run) if m.role == "assistant" and m.text.strip()), "(no words)")
    said = " ".join(said.split())
    return f"- {_when(run)}: {said if len(said) <= _LINE_CHARS else said[:_LINE_CHARS] + '…'}"


def vouched(messages: Iterable[Message]) -> list[str]:
    """Return what people and the agent itself said, without the data that was shown to it.

    What a tool or a page says is not pinned: it would put words of strangers among the agent's own plans.
    """
    texts = [
        (m, HEADER.sub("", m.text, count=1)) for m in messages if m.role in ("user", "assistant") and m.name != HINT
    ]
    return [_DATA.sub("", text) if m.role == "user" else text for m, text in texts]


def shortened(live: Sequence[Message], keep_runs: int, max_chars: int, written: Summary | None = None) -> Shorter:
    """Make a summary of all runs but the last `keep_runs`, of at most about `max_chars` characters.

    An earlier summary is carried over; `written` is a model's own, which stands in place of the lines.  What is oldest
    makes room: runs that no line tells of are counted, names and loops are evicted.
    """
    old = parsed(live[0].text) if live and live[0].name == SUMMARY else Summary()
    past = runs(live)
    gone = past[: max(0, len(past) - keep_runs)]
    said = [text for run in gone for text in vouched(run)]
    lines = [] if written else [*old.lines, *map(line, gone)]
    prose = {name: items for name, items in (written or old).sections.items() if name not in (OPEN, NAMES)}
    names = dict.fromkeys(name for text in (*old.items(), *old.lines, *said) for name in identifiers(text))
    loops = _loops(old, said, written)

    page = _Page(max_chars, [item for items in prose.values() for item in items])
    told = page.newest(loops, max_chars * _LOOPS_SHARE)
    where = [
        *old.items(),
        *(text.removeprefix("- ") for text in old.lines),
        *(s for text in said for s in sentences(text)),
    ]
    needed = _told_of(where, page.without(names, lines))
    shown = page.newest(lines, page.room - min(_size(needed), max_chars * _NAMES_SHARE))
    theirs = page.newest(written.items(NAMES) if written else (), max_chars)
    facts = page.newest(_told_of(where, page.without(names)), max_chars)
    facts += page.newest(_measured(said, page.text), max_chars)
    made = Summary(
        lines=tuple(shown),
        left_out=old.left_out + len(old.lines) + len(gone) - len(shown),
        sections={
            name: tuple(items) for name, items in {**prose, OPEN: told, NAMES: [*theirs, *facts]}.items() if items
        },
    )
    evicted = [f"[ ] {loop}" for loop in loops if loop not in told]
    evicted += _told_of(where, page.without(names, evicted))
    return Shorter(Message("user", made.render(), name=SUMMARY), sum(map(len, past[len(gone) :])), tuple(evicted))


class _Page:
    """What has been put into a summary so far, and how much room is left."""

    def __init__(self, room: float, texts: Iterable[str]) -> None:
        self._texts = [*texts]
        self.room = room - _size(self._texts)

    @property
    def text(self) -> str:
        return "\n".join(self._texts)

    def newest(self, items: Iterable[str], most: float) -> list[str]:
        """Put in the last items that fit into `most` and into the room, and return them in their order."""
        fitting, left = list[str](), min(most, self.room)
        for item in reversed(list(items)):
            left -= _size([item])
            if left < 0:
                break
            fitting.append(item)
        self._texts += fitting
        self.room -= _size(fitting)
        return fitting[::-1]

    def without(self, names: Iterable[str], more: Iterable[str] = ()) -> list[str]:
        """Return the names that are neither on the page nor in `more`."""
        known = {name for text in (*self._texts, *more) for name in identifiers(text)}
        return [name for name in names if name not in known]


def _when(run: Sequence[Message]) -> str:
    header = HEADER.match(run[0].text)
    return f"{header['time']} {header['name']}" if header else "earlier"


def _size(texts: Iterable[str]) -> int:
    return sum(len(text) + 3 for text in texts)  # its bullet and the end of its line


def _loops(old: Summary, said: Sequence[str], written: Summary | None) -> list[str]:
    """Return what is open: what was, unless somebody ticked it off, and what a model found besides."""
    before = [f"[ ] {item}" for item in old.items(OPEN)]
    ours = open_loops([*before, *said])
    if written is None:
        return list(ours.values())
    theirs = [item if is_closed(item) else f"[ ] {item}" for item in written.items(OPEN)]
    every = open_loops([*before, *said, *theirs])
    found = [loop for key, loop in every.items() if key not in ours]
    return [*(loop for key, loop in every.items() if key in ours and not any(covers(f, loop) for f in found)), *found]


def _told_of(where: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return few sentences that hold all these names, each cut to what is near the name; the oldest first."""
    missing, told = set(names), list[str]()
    for sentence in reversed(where):
        for name in identifiers(sentence):
            if name in missing:
                told.append(near := around(sentence, name))
                missing -= identifiers(near).keys()
                missing.discard(name)
        if not missing:
            break
    return told[::-1]


def _measured(said: Sequence[str], page: str) -> list[str]:
    """Return the sentences with dates and measures that the page does not have yet."""
    told = dict[str, None]()
    for sentence in (sentence for text in said for sentence in sentences(text)):
        if new := [one for one in measures(sentence) if one not in page]:
            told[around(sentence, new[0])] = None
    return list(told)
