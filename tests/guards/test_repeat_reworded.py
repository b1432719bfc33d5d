"""One short note with other words or numbers in it each time, beside calls, or from a host's pages."""

from __future__ import annotations

import random

import pytest

from guards import Call, Level, Output
from guards.onset import Onset
from guards.repeat import Repeat

LEXICON = [
    a + b + c for a in "bdfgklmnprst" for b in ("ara", "elo", "inu", "oma", "uti") for c in ("", "na", "ro", "s")
]


def fresh(count: int) -> list[str]:
    """Texts that share nothing but their language."""
    seeded = random.Random(1)
    return [" ".join(seeded.choice(LEXICON) for _ in range(30)) for _ in range(count)]


def trips(texts: list[str]) -> list[int]:
    """Return the rows that trip."""
    guard = Repeat()
    return [row for row, text in enumerate(texts) if guard.update(Output(text)).level is Level.TRIP]


def reworded(count: int, seed: int = 3) -> list[str]:
    """A short note of nine words, one of which is another one each time."""
    seeded = random.Random(seed)
    texts = []
    for _ in range(count):
        words = ["rename", "a", "variable", "in", "the", "loader", "to", "something", "better"]
        words[seeded.randrange(len(words))] = seeded.choice(LEXICON)
        texts.append(" ".join(words))
    return texts


def test_a_short_note_with_other_words_in_it_is_one_note() -> None:
    """Sixteen of the last twenty that differ in a third of their words at most trip, where the start had none."""
    found = trips(fresh(30) + reworded(40))
    assert found
    assert found[0] - 30 == 15


def test_short_notes_that_were_alike_from_the_start_are_the_streams_own() -> None:
    """What the first twenty outputs said twice already is no collapse, nor is a chore of four words."""
    assert trips(reworded(60)) == []
    assert trips(fresh(30) + [f"translated chapter {word} today" for word in LEXICON[:60]]) == []


def test_two_wordings_of_one_acknowledgement_are_no_new_words() -> None:
    """A note that has a few wordings is an acknowledgement; five and more are the same note written again."""
    said = ["no new mail in the box", "no new note in the box"]
    assert trips(fresh(30) + [said[i % 2] for i in range(40)]) == []


def test_short_words_beside_other_calls_trip_when_nothing_else_is_said() -> None:
    """An error text stands in place of the words of each step: twenty in a row are enough, whatever is called."""
    guard = Repeat()
    levels = [guard.update(Output("The upstream gave no answer.", (Call("read", {"n": n}),))).level for n in range(20)]
    assert levels.index(Level.TRIP) == 19


def test_a_numbered_error_trips_although_the_start_said_little() -> None:
    """Steps without a word belong to the start too, so that an error after them is no part of it."""
    guard = Repeat()
    levels = [guard.update(Output("", (Call("read", {"n": n}),))).level for n in range(24)]
    errors = [f"Error: prompt is too long: {n} tokens" for n in range(600, 618)]
    levels += [guard.update(Output(text, (Call("read", {"t": text}),))).level for text in errors]
    assert levels.index(Level.TRIP) == 24 + 15


def test_reworded_notes_count_the_same_after_a_save() -> None:
    """Saved in mid-stream, the next verdicts are the same; a note that is no list of numbers is refused."""
    texts = fresh(22) + reworded(14)
    straight, saved = Repeat(), Repeat()
    for text in texts:
        straight.update(Output(text))
        saved.update(Output(text))
    again = Repeat()
    again.load(saved.state())
    for text in reworded(10, seed=5):
        assert again.update(Output(text)) == straight.update(Output(text))
    state = saved.state()
    with pytest.raises(ValueError, match="last"):
        Repeat().load({**state, "reworded": {"start": [], "last": [3]}})


def test_what_was_nearly_so_at_the_start_is_normal() -> None:
    """A likeness is an estimate: a start just under the line makes what is just over it normal."""
    knew, fresh_start = Onset(0.2, 40, 13.9), Onset(0.2, 40, 13.9)
    for _ in range(20):
        knew.update(False, True)
        fresh_start.update(False)
    assert [fresh_start.update(True) for _ in range(20)][-1] > 1
    assert max(knew.update(True) for _ in range(20)) == 0


def test_what_a_host_writes_for_an_edit_on_its_pages_is_patient() -> None:
    """A person who edits one page six times in its host's editor leaves six equal messages; twenty are a habit."""
    message = "Update harbour-lights.md\n\nCo-authored-by: Ann Keeper <ann@harbour.example>"
    levels = [guard.update(Output(message)).level for guard in [Repeat()] for _ in range(20)]
    assert Level.TRIP not in levels[:6]
    assert levels[-1] is Level.TRIP
    body = "The lamp was out, and nobody had told the keeper of the gate about it until noon."
    levels = [
        guard.update(Output(f"Update harbour-lights.md\n\n{body}")).level for guard in [Repeat()] for _ in range(6)
    ]
    assert Level.TRIP in levels, "what stands below is the agent's own"
