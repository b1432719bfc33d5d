"""How a thread that has grown too long is made short again without a model: one line for each past run.

The summary is an extract, so it cannot invent anything; what it leaves out stays in the thread's history.  It works on
messages alone and knows nothing of where they are kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from daemon.types import Message

HEADING = "Earlier in this thread (summary):"
ACKNOWLEDGED = Message("assistant", "Noted.")
SUMMARY, HINT = "summary", "hint"
HEADER = re.compile(r"Heartbeat (?P<name>\S+), \w+ (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d)")
_LEFT_OUT = re.compile(r"- \((\d+) older runs are only in the history\)")
_LINE_CHARS = 240


def runs(messages: Sequence[Message]) -> list[tuple[Message, ...]]:
    """Split a thread, without its summary, into runs: each begins with a person's or a heartbeat's message."""
    starts = [i for i, m in enumerate(messages) if m.role == "user" and m.name not in (SUMMARY, HINT)]
    return [tuple(messages[a:b]) for a, b in pairwise([*starts, len(messages)])]


def line(run: Sequence[Message]) -> str:
    """Say in one line when a run was and what it ended with; the words are the model's own."""
    header = HEADER.match(run[0].text)
    when = f"{header['time']} {header['name']}" if header else "earlier"
    said = next((m.text for m in reversed(run) if m.role == "assistant" and m.text.strip()), "(no words)")
    said = " ".join(said.split())
    return f"- {when}: {said if len(said) <= _LINE_CHARS else said[:_LINE_CHARS] + '…'}"


def summarised(live: Sequence[Message], keep_runs: int, max_chars: int) -> tuple[Message, int]:
    """Return a summary of all runs but the last `keep_runs`, and how many messages at the end stay as they are.

    The lines of an earlier summary are carried over; when the whole is longer than `max_chars`, the oldest lines make
    room and the summary says how many.
    """
    old = live[0].text.splitlines()[1:] if live and live[0].name == SUMMARY else []
    past = runs(live)
    kept = past[-keep_runs:] if keep_runs else []
    left_out = sum(int(found[1]) for text in old if (found := _LEFT_OUT.fullmatch(text)))
    lines = [text for text in old if not _LEFT_OUT.fullmatch(text)]
    lines += [line(run) for run in past[: len(past) - len(kept)]]
    while lines and sum(len(text) + 1 for text in lines) > max_chars:
        lines.pop(0)
        left_out += 1
    note = [f"- ({left_out} older runs are only in the history)"] if left_out else []
    return Message("user", "\n".join([HEADING, *note, *lines]), name=SUMMARY), sum(map(len, kept))
