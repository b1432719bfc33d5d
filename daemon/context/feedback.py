"""How the model hears what a person did to its notes: the person's words as such, the agent's own names as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from daemon.context.data import marked
from daemon.types import Feedback
from vault.escape import one_line

_MOST_PATHS: Final = 10
_LONGEST_WHY: Final = 600
_SAID: Final = {
    "taken_back": "Your person took back what your run {run} wrote to:",
    "rejected": "Your person rejected what your run {run} proposed for:",
    "approved": "Your person approved what your run {run} proposed for:",
}
_NEXT: Final = {
    "taken_back": "Do not write it again.",
    "rejected": "Do not propose it again.",
    "approved": "It is in force now.",
}


def feedback(said: Feedback) -> Sequence[str]:
    """Return the lines of a prompt that tell it.

    The names of notes are the agent's own words, which a hostile page may have put into its mouth, so they are data.
    """
    names = [one_line(path, 200) for path in said.paths[:_MOST_PATHS]]
    if len(said.paths) > _MOST_PATHS:
        names.append(f"and {len(said.paths) - _MOST_PATHS} more")
    listed = "\n".join(names)
    because = [f"Why: {one_line(said.why, _LONGEST_WHY)}"] if said.why.strip() else []
    return [
        _SAID[said.what].format(run=one_line(said.run, 60)),
        marked("vault", listed, len(listed)),
        *because,
        _NEXT[said.what],
    ]
