"""The check of a summary that a model wrote, as a guard: a summary that fails it is withheld like any other trip."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from daemon.context.pins import identifiers
from daemon.context.summary import GOAL, SECTIONS, STATE, Summary, parsed
from guards import Guard, Level, Output, Verdict
from guards.base import Json
from guards.text import quote

_SHOWN = 3
_INVENTED = 0.2
"""So large a share of the names may be ones that the thread never named: a model may well write `run-12` of its own."""


class Checked(Guard):
    """A summary without its headings, longer than its room, or of things that were never named.

    It judges only replies that ask for no call; `original` is the text of the thread.  `summary` is what passed.
    """

    name: ClassVar[str] = "compaction"
    kind: ClassVar[Literal["gate", "sequential"]] = "gate"

    def __init__(self, original: str, most_chars: int) -> None:
        self._known = identifiers_of(original)
        self._most = most_chars
        self.reset()

    def reset(self) -> None:
        """Forget what passed."""
        self.summary: Summary | None = None

    def update(self, output: Output) -> Verdict:
        """Judge a summary."""
        if output.calls:
            return Verdict(self.name)
        found = parsed(output.text)
        if reason := self._wrong(output.text, found):
            hint = (
                f"{reason} Answer with the summary alone, in at most {self._most:,} characters, under these headings: "
                f"{', '.join(f'## {name}' for name in SECTIONS)}. Name only what this thread names."
            )
            return Verdict(self.name, Level.TRIP, 1.0, reason, hint, outcome="failed")
        self.summary = Summary(sections=found.sections)
        return Verdict(self.name)

    def state(self) -> dict[str, Json]:
        """Return nothing: each summary stands for itself."""
        return {}

    def load(self, state: Mapping[str, Json]) -> None:
        """Begin anew."""
        self.reset()

    def _wrong(self, text: str, found: Summary) -> str:
        missing = [name for name in SECTIONS if name not in found.sections]
        if missing:
            return f"The summary lacks the heading {', '.join(f'## {name}' for name in missing)}."
        if not (found.items(GOAL) or found.items(STATE)):
            return "The summary says nothing of the goal or the state."
        if len(text) > self._most:
            return f"The summary has {len(text):,} characters, and there is room for {self._most:,}."
        named = [name for item in found.items() for name in identifiers(item)]
        invented = [name for name in named if name not in self._known]
        if len(invented) > _INVENTED * len(named) and invented:
            shown = ", ".join(quote(name, 60) for name in invented[:_SHOWN])
            return f"The summary names {len(invented)} things that the thread never named: {shown}."
        return ""


def identifiers_of(original: str) -> frozenset[str]:
    """Return every identifier of a long text."""
    return frozenset(name for line in original.splitlines() for name in identifiers(line))
