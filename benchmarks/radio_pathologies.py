"""What goes wrong at the simulated radio stations, and when: the reported pathologies at the reported rates."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from collapse_edits import insert, said, swap
from collapse_markup import LATEX
from collapse_phrases import SIGN_OFFS, TEMPLATES, half, phrase
from radio_talk import A_DAY, TOOLS, WORD, Host

from guards.base import Call, CallResult
from guards.replay import Row

SHOWS = "Salt Hour|Velvet Kettle|Night Ferry|Rust and Roses|Attic Mail|Long Wave|Crow Street|Two Bells"
WEEK = 7 * A_DAY
"""Outputs from the onset on after which a pathology counts as missed, where nothing else is said."""
Sick: TypeAlias = Callable[[int, Row], Row]
"""From outputs since the onset and the healthy row to the row as it comes out."""


@dataclass(frozen=True, slots=True)
class Pathology:
    """What goes wrong at a station, from the first output of a day on; healthy ones should not trip."""

    name: str
    station: str
    day: int
    make: Callable[[random.Random], Sick]
    healthy: bool = False
    outputs: int = WEEK


def _phrase(rng: random.Random) -> Sick:
    """A phrase on its way from none to 229 of 240 outputs within a fortnight."""
    words = phrase("en", rng, held_out=True)

    def sick(k: int, row: Row) -> Row:
        share = 229 / 240 * min(1.0, (k + 1) / (14 * A_DAY))
        return said(row, insert(row.output.text, words, "clause", rng)) if rng.random() < share else row

    return sick


def _template(rng: random.Random) -> Sick:
    """One template in 99 % of the outputs, with one of eight show names."""
    shape = rng.choice(half(TEMPLATES["en"], held_out=True))

    def sick(k: int, row: Row) -> Row:
        if rng.random() > 0.99:
            return row
        words = [word for word in WORD.findall(row.output.text) if len(word) > 4] or ["rain"]
        fill = {slot: f"the {rng.choice(words)}" for slot in "abcd"}
        return said(row, shape.format(name=rng.choice(SHOWS.split("|")), n=k + 2, **fill))

    return sick


def _latex(rng: random.Random) -> Sick:
    """LaTeX in 186 of 240 outputs."""

    def sick(k: int, row: Row) -> Row:
        return said(row, f"{row.output.text} {rng.choice(LATEX)}") if rng.random() < 186 / 240 else row

    return sick


def _sign_off(rng: random.Random) -> Sick:
    """A sign-off under 70 % of the outputs."""
    words = rng.choice(half(SIGN_OFFS["en"], held_out=True))

    def sick(k: int, row: Row) -> Row:
        return said(row, f"{row.output.text} {words}") if rng.random() < 0.7 else row

    return sick


def _silent(rng: random.Random) -> Sick:
    """97 % tool calls without words."""

    def sick(k: int, row: Row) -> Row:
        if rng.random() > 0.97:
            return row
        call = Call(rng.choice(TOOLS), {"about": rng.choice(SHOWS.split("|")), "id": k})
        output = replace(row.output, text="", calls=(call,))
        return Row(output, (CallResult(True, f"item {rng.randrange(10**6)} of the queue: {row.output.text[:60]}"),))

    return sick


def _one_word(rng: random.Random) -> Sick:
    """One word from 21 to 6,383 uses a day, growing evenly for sixty days: four in ten of all words at the end."""
    word = rng.choice(("lighthouse", "resonance", "tapestry", "horizon"))

    def sick(k: int, row: Row) -> Row:
        uses = 21 * (6383 / 21) ** min(1.0, k / (60 * A_DAY)) / A_DAY
        long = sum(len(found) >= 4 for found in WORD.findall(row.output.text))
        return said(row, swap(row.output.text, min(1.0, uses / max(1, long)), lambda: word, rng))

    return sick


def _swapped(rng: random.Random) -> Sick:
    """Another model, healthy, with a voice of its own."""
    host = Host("Copper Mile", rng.randrange(10**6), "voice-2")

    def sick(k: int, row: Row) -> Row:
        other = host.row(k)
        return replace(other, output=replace(other.output, ts=row.output.ts))

    return sick


def _swapped_sick(rng: random.Random) -> Sick:
    """Another model that says one template from its first output on."""
    sick = _template(rng)
    return lambda k, row: sick(k, replace(row, output=replace(row.output, model="voice-2")))


PATHOLOGIES = (
    Pathology("a phrase, up to 229 a day", "Harbour Loud", 61, _phrase, outputs=3 * WEEK),
    Pathology("a sign-off, 70 %", "Harbour Loud", 75, _sign_off),
    Pathology("one template, eight names", "Copper Mile", 33, _template),
    Pathology("LaTeX, 186 a day", "Copper Mile", 54, _latex),
    Pathology("97 % silent calls", "Night Post", 40, _silent),
    Pathology("one word, 21 to 6,383 a day", "Night Post", 45, _one_word, outputs=9 * WEEK),
    Pathology("a model swap, healthy", "Copper Mile", 92, _swapped, healthy=True, outputs=2 * WEEK),
    Pathology("a model swap, then one template", "Copper Mile", 92, _swapped_sick),
)
