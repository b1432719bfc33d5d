"""The words of an output with their keys and what stands beside each."""

from __future__ import annotations

from typing import TypeAlias

from guards.reading import Reading
from guards.text import UNSPACED_FROM

EACH = 64
"""At most so many words of one output, evenly taken."""
KEY, NEIGHBOUR = 2**24, 2**12
EDGE = 0
"""The neighbour of the first and the last word."""
SHORTEST = 3
"""Letters of a word that is watched: shorter ones are a language's particles, in any company by nature."""
SMALL, LITTLE = 3, 2**16
"""A word of so many letters is taken for a function word, which every language's smallest words are: its key is below
LITTLE, so that the key says it."""

WordPlace: TypeAlias = tuple[int, int, int, int]
"""Where a word stands, its key, and its neighbours to the left and to the right."""


def is_character(word: str) -> bool:
    """Return whether this is one character of a script without spaces, which `spoken` holds one by one."""
    return len(word) == 1 and word >= UNSPACED_FROM


def key_at(reading: Reading, i: int) -> int:
    """Return the key of the word that stands there; of a script without spaces, of a character and the next one."""
    marks, spoken = reading.marks, reading.spoken
    if is_character(spoken[i]) and i + 1 < len(spoken):
        return (31 * marks[i] + marks[i + 1]) % KEY
    return marks[i] % (LITTLE if len(spoken[i]) <= SMALL and spoken[i] < UNSPACED_FROM else KEY)


def word_places(reading: Reading, turn: int) -> list[WordPlace]:
    """Return at most EACH words of the output with their keys and neighbours; numbers and particles left out."""
    spoken, marks = reading.spoken, reading.marks
    step = -(-len(spoken) // EACH) or 1
    found = []
    for i in range(turn % step, len(spoken), step):
        word = spoken[i]
        key, left, right = key_at(reading, i), i - 1, i + 1
        if word >= UNSPACED_FROM and len(word) == 1:
            # a pair of characters may be part of a longer word, which must not count as its company
            left, right = i - 2, i + 3
        elif len(word) < SHORTEST and word < UNSPACED_FROM:  # numbers too
            continue
        before = 1 + marks[left] % (NEIGHBOUR - 1) if left >= 0 else EDGE
        after = 1 + marks[right] % (NEIGHBOUR - 1) if right < len(marks) else EDGE
        found.append((i, key, before, after))
    return found
