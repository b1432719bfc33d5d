"""What stands for the older part of a thread, as sections with fixed headings: parsed from text and rendered to it.

An extract has a line for each run, a summary that a model wrote has the sections; both keep open loops, and names and
numbers.  All of it is shown as data: a hostile page that the agent repeated must not speak as a person.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from daemon.context.data import marked

HEADING: Final = "Earlier in this thread (summary):"
GOAL, STATE, DECISIONS = "Goal", "State", "Decisions"
OPEN, NAMES = "Open loops", "Names and numbers"
SECTIONS: Final = (GOAL, STATE, DECISIONS, OPEN, NAMES)

_LEFT_OUT = re.compile(r"- \((\d+) older runs are only in the history\)")
_HEADING = re.compile(
    rf"\s{{0,3}}(?:#{{1,6}}\s*|\*\*\s*)?({'|'.join(SECTIONS)})\s*(?:\*\*)?\s*:?\s*(?:\*\*)?\s*", re.IGNORECASE
)
_MARK = re.compile(r'<data from="summary">|</data>')
_ITEM = re.compile(r"^[-*+•]\s+(?:\[ ?\]\s*)?")
_NOTHING = re.compile(r"\W*(?:none|nothing|n/?a|-)?\W*", re.IGNORECASE)
_NAMES: Final = {name.casefold(): name for name in SECTIONS}


@dataclass(frozen=True, slots=True)
class Summary:
    """`lines` tell of a run each, the oldest first; `left_out` counts the runs of which nothing is told.

    `sections` holds the items of each section that has any, without their bullets.
    """

    lines: tuple[str, ...] = ()
    left_out: int = 0
    sections: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def items(self, name: str | None = None) -> tuple[str, ...]:
        """Return the items of a section, or of all."""
        if name is None:
            return tuple(item for items in self.sections.values() for item in items)
        return self.sections.get(name, ())

    def render(self) -> str:
        """Return the text that stands in the thread."""
        text = [HEADING]
        if self.left_out:
            text.append(f"- ({self.left_out} older runs are only in the history)")
        told = list(self.lines)
        for name in SECTIONS:
            if items := self.items(name):
                told += [f"## {name}", *(f"- {item}" for item in items)]
        if told:
            text.append(marked("summary", "\n".join(told), sum(map(len, told)) + len(told)))
        return "\n".join(text)


def parsed(text: str) -> Summary:
    """Return the summary in a text: one that `render` made, or one that a model wrote; what is none becomes lines."""
    lines, left_out = list[str](), 0
    sections = dict[str, list[str]]()
    into: list[str] | None = None
    for line in text.strip().splitlines():
        if found := _LEFT_OUT.fullmatch(line):
            left_out += int(found[1])
        elif heading := _HEADING.fullmatch(line):
            into = sections.setdefault(_NAMES[heading[1].casefold()], [])
        elif _MARK.fullmatch(line):
            continue
        elif into is None:
            lines += [line] if line.strip() and line.strip() != HEADING else []
        elif not _NOTHING.fullmatch(line):
            into.append(_ITEM.sub("", line.strip()))
    return Summary(tuple(lines), left_out, {name: tuple(items) for name, items in sections.items()})
