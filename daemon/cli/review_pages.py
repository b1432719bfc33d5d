"""How a commit or a proposal looks to the person who reviews it: every text of it as it is, changed words marked.

In colour on a terminal; elsewhere a removed word is [-so-] and an added one {+so+}, and where a line itself holds such
a mark it has a backslash before it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any, Final

from daemon.memory import trailers_of
from vault import Change, Commit
from vault.escape import one_line
from vault.patch import Line, lines
from vault.proposals import Proposal
from vault.reveal import reveal, told
from vault.rules import is_instruction

WIDEST: Final = 160
BY_HAND: Final = "by hand: it needs no decision"
APPROVED: Final = "approved before"
_MARK: Final = re.compile(r"\[-|-\]|\{\+|\+\}")
_MOST_BLANK: Final = 5
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ink:
    """How to draw: with a terminal's colours or with plain marks."""

    colour: bool = False

    def drawn(self, text: str, codes: str) -> str:
        """Return a text in a style, as it is where there are no colours."""
        return f"\x1b[{codes}m{text}\x1b[0m" if self.colour and text else text

    def title(self, text: str) -> str:
        """Return a heading."""
        return self.drawn(text, "1")

    def warning(self, text: str) -> str:
        """Return what the eye must not miss."""
        return self.drawn(f"! {text}", "1;33")

    def line(self, line: Line, found: Counter[str]) -> str:
        """Return one line of a patch; what was hidden in it is counted in `found`."""
        code = {"-": "31", "+": "32", "@": "36"}.get(line.sort, "0")
        shown = [self.drawn("" if line.sort == "@" else line.sort, code)]
        for text, changed in line.parts:
            seen = reveal(text, keep="\t")
            found.update(seen.found)
            part = seen.text
            if self.colour:
                shown.append(self.drawn(part, f"{code};7" if changed else code))
                continue
            if line.marked:
                part = _MARK.sub(r"\\\g<0>", part)
            opening, closing = ("[-", "-]") if line.sort == "-" else ("{+", "+}")
            shown.append(f"{opening}{part}{closing}" if changed else part)
        return "".join(shown)


def commit_row(commit: Commit) -> Row:
    """Return a commit as commands print it."""
    trailers = trailers_of(commit)
    subject = commit.message.partition("\n")[0]
    return {
        "commit": commit.id,
        "time": f"{commit.author.when.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "author": one_line(commit.author.name, 60),
        "subject": one_line(reveal(subject).text, WIDEST),
        "run": one_line(trailers.get("Trimtab-Run", ""), 60) or None,
        "heartbeat": one_line(trailers.get("Trimtab-Heartbeat", ""), 60) or None,
        "model": one_line(trailers.get("Trimtab-Model", ""), 100) or None,
    }


def change_row(change: Change) -> Row:
    """Return a change as commands print it; the patch is safe to look at, `hidden` says what it spells out."""
    found = Counter[str]()
    shown = [reveal(line, keep="\t") for line in change.patch.split("\n")]
    for line in shown:
        found.update(line.found)
    return {
        "path": _name(change.path),
        "kind": change.kind,
        "patch": "\n".join(line.text for line in shown),
        "unshown": change.unshown or None,
        "hidden": told(found) or None,
    }


def read_lines(ink: Ink, row: Row) -> Iterator[str]:
    """Say what a run had before its eyes when it wrote; what nobody vouches for stands out."""
    heard, before = row["read"], row["read_before"]
    if heard is None:
        yield "what it had read is not known: the run is not in the database"
    elif not heard:
        yield "it had read nothing new: only its thread, its notes and its instructions"
    else:
        names = [
            f"{one_line(each['tool'], 60)} ({'untrusted' if each['untrusted'] else 'trusted'}"
            + (f", {each['calls']} times)" if each["calls"] > 1 else ")")
            for each in heard
        ]
        told = f"it had read: {', '.join(names)}"
        yield ink.warning(told) if any(each["untrusted"] for each in heard) else told
    if before:
        names = [
            f"{one_line(each['tool'], 60)} (untrusted, last in run {one_line(each['run'], 60)})" for each in before
        ]
        yield f"its thread had read before: {', '.join(names)}"


def _by(row: Row) -> str:
    by = [f"{row['author']}, {row['time'][:16].replace('T', ' ')} UTC"]
    return ", ".join(by + [f"{what} {row[what]}" for what in ("heartbeat", "run", "model") if row[what]])


def commit_page(ink: Ink, row: Row, changes: Iterable[Change], whose: str = "") -> Iterator[str]:
    """Yield a commit of the agent's or a person's, line by line; `whose` says why it needs no decision, if so."""
    yield ink.title(f"commit {row['commit']}") + (f"  {whose}" if whose else "")
    yield _by(row)
    if row["run"]:
        yield from read_lines(ink, row)
    yield f"    {row['subject']}"
    yield from changes_page(ink, changes)


def proposal_page(ink: Ink, proposal: Proposal, row: Row) -> Iterator[str]:
    """Yield a proposal, line by line; `row` is what commands print of it."""
    yield ink.title(f"proposal {proposal.name}") + "  changes nothing until you approve it"
    yield _by(row)
    yield from read_lines(ink, row)
    for path in proposal.paths:
        if is_instruction(path):
            yield ink.warning(f"{_name(path)} instructs the agent: it will obey this text")
    for line in row["wrong"]:
        yield ink.warning(one_line(reveal(line).text, 400))
    for path in row["moved"]:
        yield f"{_name(path)} has changed since: approving joins both changes, or says that they clash"
    yield from changes_page(ink, proposal.changes)


def changes_page(ink: Ink, changes: Iterable[Change]) -> Iterator[str]:
    """Yield the changes of some files; what is hidden in one is named above it."""
    for change in changes:
        found = Counter[str]()
        body = list(_squeezed([ink.line(line, found) for line in lines(change.patch)]))
        name = reveal(change.path, keep="")
        found.update(name.found)
        yield ""
        yield ink.title(f"{_name(change.path)}  ({change.kind})")
        if found:
            yield ink.warning(f"hidden or look-alike characters, spelled out below: {told(found)}")
        if change.unshown:
            yield ink.warning(f"not shown: {change.unshown}")
        yield from body


def _name(path: str) -> str:
    return one_line(reveal(path, keep="").text, WIDEST)


def _squeezed(shown: Sequence[str]) -> Iterator[str]:
    """Yield the lines; of many alike in a row the rest is only counted, so that nothing hides far below them."""
    run = 0
    for place, line in enumerate(shown):
        run = run + 1 if place and line == shown[place - 1] else 1
        if run <= _MOST_BLANK:
            yield line
        if run > _MOST_BLANK and (place + 1 == len(shown) or shown[place + 1] != line):
            yield f"    <{run - _MOST_BLANK} more lines like this>"
