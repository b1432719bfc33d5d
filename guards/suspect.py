"""Which part of a long prose a loop can be in: all of it, or only its end.

A loop makes half of an output or stands at its end, and says its words again.  Where few words come again it can
only be a short one at the end, and the rest need not be cut into tokens.
"""

from __future__ import annotations

from operator import eq

from guards.reading import Reading

LONG = 2_000
"""Characters: a shorter prose is looked at whole."""
FEW, FEW_TWICE = 0.1, 0.25
"""Share of a prose's groups of three words that were there before, and of its words that only repeat the word before,
under which nothing but its end can loop."""
LEAST, TIMES = 1_500, 4.0
"""Characters of the end, and how many times the share that comes again: with one and a half copies, what comes again
is a third of a loop, and its words may be longer than others."""
SPARSE = 1 / 16
"""Words for a character; fewer, and what is written there is not told by its words."""


def looping_part(reading: Reading) -> str:
    r"""Return the prose, or as much of its end as can be a loop.

    >>> import random
    >>> from guards.reading import read
    >>> seeded = random.Random(7)
    >>> words = " ".join("".join(seeded.choices("aeioubdgklmnrst", k=6)) for _ in range(2000))
    >>> text = words + ".\n" + "The lamp is lit. " * 20
    >>> len(text), len(looping_part(read(text)))
    (14341, 2036)
    """
    prose, marks = reading.prose, reading.marks
    size = len(marks)
    if len(prose) < LONG or size < SPARSE * len(prose):
        return prose
    again = size - 2 - len(set(zip(marks, marks[1:], marks[2:], strict=False)))
    if again >= FEW * size or sum(map(eq, marks, marks[1:])) >= FEW_TWICE * size:
        return prose
    kept = max(LEAST, round(TIMES * again / size * len(prose)))
    at = max(prose.find(" ", len(prose) - kept), len(prose) - kept)
    return prose[at:]
