"""A seeded source of choices that keeps one eighth of all names and wordings for the evaluation."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

Choice = TypeVar("Choice")

HELD_OUT_SHARE = 8
"""One name or wording in this many is never trained on."""


def is_held_out(text: str) -> bool:
    """Whether a name or wording belongs to the evaluation: a property of the text itself, so no list can go stale."""
    return zlib.crc32(text.encode()) % HELD_OUT_SHARE == 0


class Draw:
    """Seeded choices. `fresh` keeps training and evaluation apart; every other method is plain chance."""

    def __init__(self, seed: int | str, held_out: bool = False) -> None:
        self.random = Random(seed)
        self.held_out = held_out

    def pick(self, options: Sequence[Choice]) -> Choice:
        """One of the options, all equally likely."""
        return options[self.random.randrange(len(options))]

    def some(self, options: Sequence[Choice], least: int, most: int) -> list[Choice]:
        """Between `least` and `most` different options, in random order."""
        return self.random.sample(list(options), min(self.random.randint(least, most), len(options)))

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.random.random() < probability

    def number(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return self.random.randint(low, high)

    def fresh(self, make: Callable[[], str], tries: int = 60) -> str:
        """A made text from our own side of the hold-out (a grammar too small to have one falls back to any text)."""
        text = make()
        while tries and is_held_out(text) != self.held_out:
            text, tries = make(), tries - 1
        return text
