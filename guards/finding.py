"""What a look at one text found: the noun in which the searches for repetition answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that repeats.

    `score` is in units of the limit, `why` for a person; `stops` when it deserves a trip. `span` is one copy of it as
    it stands in the text, empty where that is not known.
    """

    score: float
    why: str
    stops: bool = True
    span: str = ""


def worse(a: Finding | None, b: Finding) -> Finding:
    """Return the one to report: what stops first, then the higher score."""
    return b if a is None or (b.stops, b.score) > (a.stops, a.score) else a
