"""The order of words: whether they still follow one another as they did at the stream's start.

A small model of the start: its commonest words, everything else one symbol, and which symbol followed which.  Shuffled
words keep their shares and lose their order, so that the bet "these words stand in any order" wins against the model.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise, repeat

from guards.base import Json
from guards.memory import integers, nested, number
from guards.sequential import LIMIT

BREAK = 2**16
"""Stands between outputs; words are smaller."""
PLENTY, ENOUGH, MANY = 1000, 300, 4000
"""Words that choose the common ones, the fewest that do, and pairs that tell the order before the start is over."""
COMMON, LEAST = 40, 3
"""So many of the start's commonest words have a symbol of their own, if they stand in it so often."""
PRIOR = 8.0
"""What a symbol's followers are worth, in pairs, before any was seen."""
MARGIN = 0.04
"""What each pair must win before it counts: the start's own model is never quite the stream's."""
MOST_OF_A_PAIR, MOST_OF_AN_OUTPUT = 1.5, 4.0
"""No pair and no output proves more than this: one strange list is not a collapse."""
LATELY = 128
"""Pairs that were surprising lately: one that comes again is a new form of words, no chance, and counts for nothing."""
KEPT = 1.5
"""The statistic holds no more than so many times its limit, so that a stream which recovers is soon forgiven."""
UNIT = 100
"""Scores are kept as whole hundredths of a nat."""


class Order:
    """Bets that words have lost their order, against a start that never follows the stream.

    The statistic is max(0, S + log(share of the second word / share of it after the first)), summed over the pairs of
    an output; it crosses a limit of L on average no earlier than after e^L outputs as long as pairs come as at the
    start (an e-detector of CUSUM type: Shin, Ramdas and Rinaldo 2022).
    """

    def __init__(self, limit: float = LIMIT) -> None:
        self._most = round(KEPT * limit, 1)
        self._buffer: list[int] = []
        self._symbols: dict[int, int] = {}
        self._pairs: list[int] = []
        self._scores: list[int] = []
        self._surprises: dict[int, None] = {}
        self.common_share = 0.0
        self.total = 0.0

    @property
    def settled(self) -> bool:
        """Whether the start is known."""
        return bool(self._scores)

    def learn(self, words: Sequence[int], *, last: bool) -> None:
        """Learn one more output of the start; `last` says that enough outputs were seen, if their words are enough."""
        if not self._pairs:
            self._buffer += [*words, BREAK]
            if len(self._buffer) < (ENOUGH if last else PLENTY):
                return
            self._choose()
            return  # the next output settles it, so that neither is long at it
        self._count(words)
        pairs = sum(self._pairs)
        if pairs >= MANY or (last and pairs >= ENOUGH):
            self._settle(pairs)

    def _choose(self) -> None:
        counts = Counter(self._buffer)
        del counts[BREAK]
        common = [word for word, count in counts.most_common(COMMON) if count >= LEAST]
        self._symbols = {word: i for i, word in enumerate(common)}
        self.common_share = round(sum(counts[word] for word in common) / max(1, sum(counts.values())), 4)
        self._pairs = [0] * (len(common) + 1) ** 2
        words: list[int] = []
        for word in self._buffer:
            if word == BREAK:
                self._count(words)
                words = []
            else:
                words.append(word)
        self._buffer = []

    def _count(self, words: Sequence[int]) -> None:
        for place in self._places(words):
            self._pairs[place] += 1

    def _places(self, words: Sequence[int]) -> list[int]:
        """Return where each pair of neighbours stands in a table of all pairs of symbols."""
        other = len(self._symbols)
        said = [*map(self._symbols.get, words, repeat(other))]
        width = other + 1
        return [width * first + second for first, second in pairwise(said)]

    def _settle(self, total: int) -> None:
        width = len(self._symbols) + 1
        rows = [self._pairs[width * i : width * (i + 1)] for i in range(width)]
        shares = [(sum(column) + 0.5) / (total + 0.5 * width) for column in zip(*rows, strict=True)]
        for row in rows:
            followed = sum(row) + PRIOR
            never = _score(followed / PRIOR)  # share / after, where the count is 0: most pairs
            self._scores += [
                _score(share * followed / (count + PRIOR * share)) if count else never
                for count, share in zip(row, shares, strict=True)
            ]
        self._scores[-1] = min(0, self._scores[-1])  # words that are all new are another language or topic, no disorder
        self._pairs = []

    def update(self, words: Sequence[int]) -> tuple[float, float]:
        """Take the next output's words; return the statistic and what this output won, in nats."""
        lately = self._surprises
        scores = [*map(self._scores.__getitem__, self._places(words))]
        won = sum(scores)
        for i, score in enumerate(scores):
            if score <= 0:
                continue
            key = (31 * words[i] + words[i + 1]) % BREAK
            if key in lately:
                won -= score
                continue
            lately[key] = None
            if len(lately) > LATELY:
                del lately[next(iter(lately))]
        nats = won / UNIT
        self.total = round(min(max(0.0, self.total + min(nats, MOST_OF_AN_OUTPUT)), self._most), 2)
        return self.total, nats

    def common(self, words: Sequence[int]) -> float:
        """Return how much of these words are the start's common ones, as a share of what was normal there."""
        if not self.common_share:
            return 1.0
        return sum(word in self._symbols for word in words) / max(1, len(words)) / self.common_share

    def state(self) -> dict[str, Json]:
        """Return the memory, at most 10 kB."""
        return {
            "buffer": list(self._buffer),
            "symbols": list(self._symbols),
            "pairs": list(self._pairs),
            "scores": [score + 2 * UNIT for score in self._scores],
            "surprises": list(self._surprises),
            "share": self.common_share,
            "total": self.total,
        }

    def load(self, state: Mapping[str, Json], key: str) -> None:
        """Continue from what stands under `key`; raises ValueError on anything else."""
        found = nested(state, key)
        self._buffer = integers(found, "buffer", 2 * PLENTY, BREAK)
        symbols = integers(found, "symbols", COMMON, BREAK)
        self._pairs = integers(found, "pairs", (COMMON + 1) ** 2, 2 * MANY)
        scores = integers(found, "scores", (COMMON + 1) ** 2, 4 * UNIT)
        sizes = {len(table) for table in (self._pairs, scores) if table}
        if len(set(symbols)) != len(symbols) or sizes - {(len(symbols) + 1) ** 2}:
            raise ValueError("'pairs' and 'scores' should hold one number for each pair of symbols")
        self._symbols = {word: i for i, word in enumerate(symbols)}
        self._scores = [score - 2 * UNIT for score in scores]
        self._surprises = dict.fromkeys(integers(found, "surprises", LATELY, BREAK))
        self.common_share = min(max(number(found, "share"), 0.0), 1.0)
        self.total = min(max(number(found, "total"), 0.0), self._most)


def _score(times: float) -> int:
    """Return what a pair wins that is so many times as likely in any order as after its first word."""
    return round(UNIT * (min(max(math.log(times), -MOST_OF_A_PAIR), MOST_OF_A_PAIR) - MARGIN))
