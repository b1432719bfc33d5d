"""Spirals without end: gratitude, farewell, stillness, talk about itself, alarm, praise, waiting; no output twice."""

from __future__ import annotations

import random
from collections.abc import Iterator

from collapse_phrases import half
from spirals_de_es import DE, DE_SLOTS, ES, ES_SLOTS
from spirals_en_zh import EN, EN_SLOTS, ZH, ZH_SLOTS

_SENTENCES = {"en": EN, "es": ES, "de": DE, "zh": ZH}
_SLOTS = {"en": EN_SLOTS, "es": ES_SLOTS, "de": DE_SLOTS, "zh": ZH_SLOTS}
TONGUES = tuple(_SENTENCES)
SPIRALS = tuple(EN)


def spiral(of: str, tongue: str, rng: random.Random, held_out: bool = False) -> Iterator[str]:
    """Yield outputs of one to four sentences of a spiral, no two equal; a waiting side says one or two.

    >>> said = [next(spiral("goodbye", "en", random.Random(seed))) for seed in range(50)]
    >>> len(set(said)) > 40
    True
    """
    sentences = half(_SENTENCES[tongue][of].strip().split("\n"), held_out)
    slots = {name: words.split("|") for name, words in _SLOTS[tongue].items()}
    gap = "" if tongue == "zh" else rng.choice((" ", " ", "\n\n"))
    most = 2 if of == "waiting" else 4
    known: set[str] = set()
    while True:
        count = rng.randint(1 if len(known) % 3 else 2, min(most, len(sentences)))
        parts = [_filled(shape, slots, rng) for shape in rng.sample(sentences, count)]
        text = gap.join(parts)
        if text not in known:
            known.add(text)
            yield text


def _filled(shape: str, slots: dict[str, list[str]], rng: random.Random) -> str:
    made = shape.format(**{name: rng.choice(words) for name, words in slots.items()})
    return made[:1].upper() + made[1:]
