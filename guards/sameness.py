"""What each look at equal outputs answers, and among how many outputs all of them look."""

from __future__ import annotations

from dataclasses import dataclass

RECENT = 20
"""The last outputs among which one is counted that is the same, or the same but for a part of it."""
START, MANY = 20, 16
"""Outputs that say how the stream began, and how many of the last are one note though a part of it changes."""


@dataclass(frozen=True, slots=True)
class Sameness:
    """How much of what trips, and in words; no `gate` where a statistical test says so."""

    score: float
    why: str
    gate: bool = True


DIFFERENT = Sameness(0.0, "")
