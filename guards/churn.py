"""Calls that differ and make no difference: other arguments with the same answer, and edits that change nothing."""

from __future__ import annotations

from collections.abc import Sequence

from guards.circles import PENDING, Circle, Seen

NOTHING, LONG_ANSWERS, COMMANDS = 5, 12, 14
"""Calls of one tool with the same failure or nothing, with the same long answer, and of a shell (trying is work)."""
UNCHANGED = 3
"""Edits in a row that changed nothing: the third shows that the second was not read."""


def churn(seen: Sequence[Seen]) -> Circle | None:
    """Return the run of one tool's calls whose arguments change and whose result does not."""
    last = seen[-1]
    if last.result == PENDING or last.patient or not (last.nothing or (last.long and not last.acts)):
        return None
    tried: list[int] = []
    for one in reversed(seen):
        if one.name != last.name:
            continue
        if one.result != last.result and not (last.nothing and one.nothing and one.shape == last.shape):
            break
        tried.append(one.call)
    if len(set(tried)) < 3:
        return None
    limit = COMMANDS if last.command else NOTHING if last.nothing else LONG_ANSWERS
    return Circle(len(tried) / limit, f"{len(set(tried))} different calls of one tool, always the same result")


def unchanged(seen: Sequence[Seen]) -> Circle | None:
    """Return the run of edits that changed nothing, whatever was read in between."""
    if not seen[-1].unchanged:
        return None
    times = 0
    for one in reversed(seen):
        if one.acts and not one.unchanged:
            break
        times += one.unchanged
    return Circle(times / UNCHANGED, f"{times} edits in a row changed nothing")
