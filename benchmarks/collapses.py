"""Made collapses: each takes a healthy stream and lets it collapse from an onset on, as the real thing would.

Pure functions of rows, an onset, a seeded `random.Random` and whether the held-out half of the words is used; the
rows before the onset stay as they are (the kinds about tools give them healthy calls).  `KINDS` lists them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from collapse_calls import CALLS
from collapse_edits import LONG, WORDS, insert, joined, language, said, sentence, swap, vocabulary
from collapse_markup import ERRORS, FIELDS, JSON_LEAKS, LATEX, RARE, SCRIPTS, SPECIAL, TOOL_TAGS
from collapse_phrases import NAMES, OPENERS, SIGN_OFFS, TEMPLATES, half, phrase
from collapse_spirals import SPIRALS, TONGUES, spiral

from guards.replay import Row

Inject: TypeAlias = Callable[..., list[Row]]
"""`inject(rows, onset, rng, held_out=False)`."""

GROSS, OFTEN, SOME, RARELY = 20, 60, 100, 300
"""Most outputs to detection: of a gross collapse, of one in 60 % of outputs, in 30 %, and in 10 % or slowly growing."""


class Kind(NamedTuple):
    """A kind of collapse: how it is made, which guards may rightly name it, the most outputs to its detection."""

    inject: Inject
    guards: frozenset[str]
    within: int


def _sick(rows: Sequence[Row], onset: int, edit: Callable[[int, str], str]) -> list[Row]:
    """Return the rows with `edit(outputs since the onset, text)` in place of each text from the onset on."""
    return [*rows[:onset], *(said(row, edit(k, row.output.text)) for k, row in enumerate(rows[onset:]))]


def identical(rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False) -> list[Row]:
    """One of the stream's own outputs, again and again."""
    text = _sample(rows, onset, rng)
    return _sick(rows, onset, lambda k, _: text)


def near_identical(rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False) -> list[Row]:
    """One of the stream's own outputs with about one long word in twenty exchanged, in short ones one or two."""
    text, own = _sample(rows, onset, rng), vocabulary(rows[:onset] or rows)
    share = max(0.05, 1 / max(1, len(LONG.findall(text))))
    return _sick(rows, onset, lambda k, _: swap(text, share, lambda: rng.choice(own), rng))


def template(rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False, shapes: int = 1) -> list[Row]:
    """One shape, or up to `shapes` at random, filled with the stream's own words; one of eight names."""
    tongue, own = language(rows), vocabulary(rows[:onset] or rows)
    choices = list(half(TEMPLATES[tongue], held_out))
    chosen = rng.sample(choices, min(shapes, len(choices)))
    gap = "" if tongue == "zh" else " "

    def fill() -> str:
        return gap.join(rng.choice(own) for _ in range(rng.randint(1, 3)))

    def shape(k: int, _: str) -> str:
        name = rng.choice(NAMES[tongue])
        return rng.choice(chosen).format(name=name, a=fill(), b=fill(), c=fill(), d=fill(), n=k + 2)

    return _sick(rows, onset, shape)


def catchphrase(
    rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False, share: float = 0.99, variant: str = ""
) -> list[Row]:
    """One phrase inside a share of the outputs, each time at another place."""
    words = phrase(language(rows), rng, held_out)
    way = variant or rng.choice(("anywhere", "sentence", "clause"))
    return _sick(rows, onset, lambda k, text: insert(text, words, way, rng) if _hit(text, share, rng) else text)


def sign_off(
    rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False, share: float = 0.6
) -> list[Row]:
    """One last sentence under a share of the outputs."""
    words = rng.choice(half(SIGN_OFFS[language(rows)], held_out))
    gap = rng.choice((" ", "\n\n"))
    return _sick(rows, onset, lambda k, text: f"{text.rstrip()}{gap}{words}" if _hit(text, share, rng) else text)


def opener(
    rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False, share: float = 0.6
) -> list[Row]:
    """One first sentence over a share of the outputs."""
    words = rng.choice(half(OPENERS[language(rows)], held_out))
    gap = rng.choice((" ", "\n\n"))
    return _sick(rows, onset, lambda k, text: f"{words}{gap}{text.lstrip()}" if _hit(text, share, rng) else text)


def marks(
    rows: Sequence[Row],
    onset: int,
    rng: random.Random,
    held_out: bool = False,
    share: float = 0.1,
    pool: Sequence[str] = (),
) -> list[Row]:
    """Syntax that does not belong into speech: a few forms of one family, in a share of the outputs."""
    forms = half(pool, held_out)
    chosen = rng.sample(list(forms), min(len(forms), rng.randint(1, 3)))

    def leak(k: int, text: str) -> str:
        mark = rng.choice(chosen)
        if not _hit(text, share, rng):
            return text
        if "{0}" in mark:
            return mark.format(" ".join(text.replace('"', "'").split())[:400], k)
        return f"{text.rstrip()} {mark}" if rng.random() < 0.5 else insert(text, mark, "anywhere", rng)

    return _sick(rows, onset, leak)


def narrowing(
    rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False, over: int = 200
) -> list[Row]:
    """Ever more of the words, up to four in five, come from forty of the stream's own."""
    own = vocabulary(rows[:onset] or rows, 400)
    few = rng.sample(own, min(40, len(own)))
    return _sick(rows, onset, lambda k, text: swap(text, 0.8 * min(1.0, (k + 1) / over), lambda: rng.choice(few), rng))


def word_salad(
    rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False, words: str = "shuffled"
) -> list[Row]:
    """Words without sentences: the stream's own in any order, words of a dictionary, or of many scripts."""
    own = [word for row in rows[: onset or len(rows)] for word in WORDS.findall(row.output.text[:4000])] or ["no"]
    rare = [*RARE.split(), *vocabulary(rows[:onset] or rows)]
    pools = {"shuffled": own, "dictionary": rare, "scripts": [*SCRIPTS.split(), *rare[:40]]}
    gap = "" if words != "scripts" and language(rows) == "zh" else " "

    def salad(k: int, text: str) -> str:
        return gap.join(rng.choice(pools[words]) for _ in range(min(200, max(12, len(WORDS.findall(text))))))

    return _sick(rows, onset, salad)


def one_word(
    rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False, most: float = 0.12, over: int = 100
) -> list[Row]:
    """One word grows to a share of the long words; with `over` 0 it doubles every 35 outputs from almost none."""
    own = vocabulary(rows[:onset] or rows, 300)
    word = rng.choice(own[30:] or own)

    def share(k: int) -> float:
        return most * min(1.0, (k + 1) / over) if over else min(most, 0.0015 * 1.02**k)

    return _sick(rows, onset, lambda k, text: swap(text, share(k), lambda: word, rng))


def topic(rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False, most: float = 0.25) -> list[Row]:
    """A few words of one field take over a quarter of the long words within a hundred outputs."""
    field = rng.choice(half(FIELDS[language(rows)], held_out))
    return _sick(
        rows, onset, lambda k, text: swap(text, most * min(1.0, (k + 1) / 100), lambda: rng.choice(field), rng)
    )


def attractor(
    rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False, of: str = "gratitude", tongue: str = ""
) -> list[Row]:
    """Outputs of one spiral, all different, in the host's language or in the one that is given."""
    source = spiral(of, tongue or language(rows), rng, held_out)
    return _sick(rows, onset, lambda k, _: next(source))


def error_text(rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False) -> list[Row]:
    """The harness's error message stands where the output should be."""
    message, fixed = rng.choice(half(ERRORS, held_out)), rng.random() < 0.5
    return _sick(rows, onset, lambda k, _: message.format(7 if fixed else rng.randrange(3, 900)))


def loop(
    rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False, of: str = "sentence"
) -> list[Row]:
    """Each output begins well and then repeats a sentence, a paragraph, a word, a character or a list item."""
    tongue, own = language(rows), vocabulary(rows[:onset] or rows)

    def stuck(k: int, text: str) -> str:
        unit = sentence(phrase(tongue, rng, held_out))
        times = rng.randint(25, 60)
        parts = {
            "sentence": lambda: joined([unit] * times, tongue),
            "paragraph": lambda: "\n\n".join(
                [joined([unit, sentence(" ".join(rng.sample(own, min(9, len(own)))))], tongue)] * 12
            ),
            "word": lambda: joined([rng.choice(own)] * (3 * times), tongue),
            "character": lambda: rng.choice("a!.-哈0") * (20 * times),
            "list": lambda: "\n".join(f"{i}. {unit}" for i in range(1, times)),
        }
        return f"{text[: rng.randint(0, 200)]}\n{parts[of]()}"

    return _sick(rows, onset, stuck)


def _hit(text: str, share: float, rng: random.Random) -> bool:
    return rng.random() < share and bool(text.strip())


def _sample(rows: Sequence[Row], onset: int, rng: random.Random) -> str:
    """Return one of the host's own outputs, of ordinary length."""
    texts = [
        row.output.text
        for row in rows[:onset] or rows
        if len(row.output.text.split()) >= 5 or len(row.output.text) >= 20
    ]
    return rng.choice(texts) if texts else rows[0].output.text or "There is nothing to say about it today."


def _kind(inject: Inject, guards: str, within: int, **options: object) -> Kind:
    return Kind(partial(inject, **options) if options else inject, frozenset(guards.split()), within)


_ECHO = "repeat template catchphrase sign_off opener"
_WORDS = "vocabulary fixation"
_AGAIN = f"{_ECHO} {_WORDS}"
KINDS: dict[str, Kind] = {
    "identical": _kind(identical, _AGAIN, GROSS),
    "near_identical": _kind(near_identical, _AGAIN, GROSS),
    "template": _kind(template, _AGAIN, GROSS),
    "templates": _kind(template, _AGAIN, GROSS, shapes=3),
}
for _share, _within in ((99, GROSS), (30, SOME), (10, RARELY)):
    for _variant in ("anywhere", "sentence", "clause"):
        KINDS[f"catchphrase_{_share}_{_variant}"] = _kind(
            catchphrase, "catchphrase template sign_off opener", _within, share=_share / 100, variant=_variant
        )
KINDS |= {
    "sign_off_60": _kind(sign_off, "sign_off catchphrase", OFTEN, share=0.6),
    "sign_off_99": _kind(sign_off, "sign_off catchphrase", GROSS, share=0.99),
    "opener_60": _kind(opener, "opener catchphrase sign_off", OFTEN, share=0.6),
    "opener_99": _kind(opener, "opener catchphrase sign_off", GROSS, share=0.99),
    "latex_10": _kind(marks, "markup", RARELY, share=0.1, pool=LATEX),
    "latex_75": _kind(marks, "markup", GROSS, share=0.75, pool=LATEX),
    "tool_tags_10": _kind(marks, "markup", RARELY, share=0.1, pool=TOOL_TAGS),
    "json_10": _kind(marks, "markup", RARELY, share=0.1, pool=JSON_LEAKS),
    "special_tokens": _kind(marks, "markup", GROSS, share=0.3, pool=SPECIAL),
    "narrowing": _kind(narrowing, _WORDS, RARELY),
    "word_salad_shuffled": _kind(word_salad, _WORDS, GROSS, words="shuffled"),
    "word_salad_dictionary": _kind(word_salad, _WORDS, GROSS, words="dictionary"),
    "word_salad_scripts": _kind(word_salad, _WORDS, GROSS, words="scripts"),
    "one_word_6": _kind(one_word, _WORDS, RARELY, most=0.06),
    "one_word_12": _kind(one_word, _WORDS, RARELY, most=0.12),
    "one_word_ramp": _kind(one_word, _WORDS, RARELY, most=0.45, over=0),
    "topic": _kind(topic, _WORDS, RARELY),
    "error_text": _kind(error_text, f"spiral loop facts expect tools {_ECHO}", GROSS),
}
for _of in SPIRALS:
    for _tongue in TONGUES:
        KINDS[f"{_of}_{_tongue}"] = _kind(attractor, f"spiral {_ECHO}", GROSS, of=_of, tongue=_tongue)
for _of in ("sentence", "paragraph", "word", "character", "list"):
    KINDS[f"loop_{_of}"] = _kind(loop, "loop", 3, of=_of)
KINDS |= {name: _kind(inject, guards, within) for name, (inject, guards, within) in CALLS.items()}
