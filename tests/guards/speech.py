"""Healthy talk for tests: sentences of many shapes over a wide, unevenly used vocabulary, seeded."""

from __future__ import annotations

import random

_SHAPES = (
    "the N V the N",
    "in the N we V a J N",
    "a N of the N was V by N",
    "it is J that the N V",
    "we V to the N and the N",
    "there was a J N on the N",
    "N and N are V with a N",
    "when the N V it V the N",
    "from the J N to the N we V",
    "nobody V the N for a N",
    "at the N a N V and the J N V",
    "the J N has a N in the N",
)


def _lexicon(size: int, ending: str) -> list[str]:
    chance = random.Random(ending)
    syllables = [a + b for a in "bdfgklmnprstvw" for b in ("a", "e", "i", "o", "u", "ar", "en")]
    return ["".join(chance.choices(syllables, k=2)) + ending for _ in range(size)]


_WORDS = {"N": _lexicon(700, "d"), "V": _lexicon(300, "ts"), "J": _lexicon(200, "ly")}


def talk(seed: int | str, count: int, sentences: int = 3) -> list[str]:
    """Return `count` outputs of so many sentences each."""
    chance = random.Random(seed)

    def word(slot: str) -> str:
        known = _WORDS.get(slot)
        return known[int(len(known) * chance.random() ** 2)] if known else slot

    def sentence() -> str:
        joined = f" {chance.choice(('and', 'but', 'so', 'while'))} ".join(chance.sample(_SHAPES, chance.randint(1, 2)))
        return " ".join(word(slot) for slot in joined.split()).capitalize() + "."

    return [" ".join(sentence() for _ in range(sentences)) for _ in range(count)]
