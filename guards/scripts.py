"""Salad of scripts: neighbouring words of one output that keep changing between alphabets."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

LOOKED = 3000
"""Characters that are looked at."""
SCRIPTS, PAIRS = 3, 10
"""Fewer scripts, or fewer pairs of words, are a name or a quotation."""
_SPACED = re.compile(r"(?<![^\W\d_])[^\W\d_]++(?: [^\W\d_]++)+")
"""Two and more words; it begins at a word's first letter and takes it whole, so that a long one is read once."""


def switches(prose: str) -> float:
    """Return how often the script changes between words that only a space divides; 0 unless three are mixed.

    >>> switches("fog причал θάλασσα " * 5)
    1.0
    """
    if prose.isascii():
        return 0.0
    looked = prose[:LOOKED]
    if len({_script(letter) for letter in set(looked) if letter.isalnum() and not letter.isdecimal()}) < SCRIPTS:
        return 0.0
    changes = pairs = 0
    seen: set[str] = set()
    for stretch in _SPACED.finditer(looked):
        scripts = [_script(word[0]) for word in stretch.group().split(" ")]
        seen.update(scripts)
        pairs += len(scripts) - 1
        changes += sum(a != b and {a, b} != MODERN for a, b in pairwise(scripts))
    return changes / pairs if pairs >= PAIRS and len(seen) >= SCRIPTS else 0.0


MODERN = {"CJK", "LATIN"}
"""Technical prose in Chinese, Japanese and Korean goes back and forth between these."""
_TOGETHER = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK", "HANGUL": "CJK", "FULLWIDTH": "LATIN"}
"""Scripts that one language is written in."""


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    script = unicodedata.name(letter, "?").split(" ")[0]
    return _TOGETHER.get(script, script)
