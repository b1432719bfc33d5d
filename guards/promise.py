"""The promise about false alarms, from which the limits of all sequential tests follow.

At most one false trip in `caution` years of an agent, over the whole panel together.  A year is what an agent says in
one at a heartbeat each quarter of an hour.  The tests of the panel share the year evenly: an e-detector that crosses
e^limit does so on average no earlier than after e^limit outputs (Shin, Ramdas and Rinaldo 2022), so that TESTS of them
side by side cross falsely at most once in YEAR * caution outputs on average, as long as the stream's scores keep the
mean that their start (plus its margin) said is normal.  Where two streams of one agent are judged (what it says, and
what it writes through its tools) each has half of the promise: its tests run with twice the caution.
"""

from __future__ import annotations

import math

YEAR = 96 * 365
"""Outputs of one agent in a year."""
TESTS = 32
"""Sequential tests that run side by side in the whole panel, at most; tests/guards/test_promise.py counts them."""
STREAMS = 2
"""Streams that share the promise where what an agent writes is judged too."""
CAUTION = 1.0
"""Years for one false trip, unless somebody asks for more."""


def limit(caution: float = CAUTION, among: int = 1) -> float:
    """Return the logarithm at which one of the panel's tests trips; `among` candidates in that test share its part.

    >>> round(limit(), 1), round(limit(caution=10), 1), round(limit(among=2048), 1)
    (13.9, 16.2, 21.6)
    """
    return math.log(YEAR * TESTS * caution * among)
