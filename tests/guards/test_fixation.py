"""Words that take a stream over, in company that keeps changing."""

from __future__ import annotations

import json
import random

import pytest

from guards import Level, Output, Verdict
from guards.fixation import Fixation

SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
LEXICON = [a + b + c for a in SYLLABLES[:20] for b in SYLLABLES[::5] for c in SYLLABLES[::9]]


def texts(count: int, seed: int = 1, size: int = 40) -> list[list[str]]:
    """Outputs of words with the few-often-many-rarely shape of language."""
    seeded = random.Random(seed)
    return [[LEXICON[int(1000 * seeded.random() ** 2)] for _ in range(size)] for _ in range(count)]


def swapped(outputs: list[list[str]], words: list[str], share: float, seed: int = 3) -> list[list[str]]:
    """The outputs with this share of their words replaced by one of `words`, anywhere."""
    seeded = random.Random(seed)
    return [[seeded.choice(words) if seeded.random() < share else word for word in said] for said in outputs]


def verdicts(outputs: list[list[str]], gap: str = " ") -> list[Verdict]:
    guard = Fixation()
    return [guard.update(Output(gap.join(said))) for said in outputs]


def trips(outputs: list[list[str]], gap: str = " ") -> list[int]:
    return [row for row, verdict in enumerate(verdicts(outputs, gap)) if verdict.level is Level.TRIP]


def test_a_steady_stream_is_silent_for_long() -> None:
    """A thousand outputs from one vocabulary never trip."""
    assert trips(texts(1000)) == []


@pytest.mark.parametrize(("share", "within"), [(0.045, 60), (0.022, 140)])
def test_one_word_that_turns_up_anywhere_is_found(share: float, within: int) -> None:
    """A word that takes 45 (22) of 1,000 words at once is found within 60 (140) outputs and named."""
    outputs = texts(100) + swapped(texts(150, seed=2), ["lantern"], share)
    found = verdicts(outputs)
    first = next(row for row, verdict in enumerate(found) if verdict.level is Level.TRIP)
    assert 100 < first < 100 + within
    assert '"lantern"' in found[first].reason
    assert '"lantern"' in found[first].hint
    assert found[first].evidence == ("lantern",)


def test_short_outputs_are_added_up() -> None:
    """In outputs of eight words the word is in every third one only, and found all the same."""
    assert trips(texts(160, size=8) + swapped(texts(150, seed=2, size=8), ["lantern"], 0.045))


def test_a_few_words_together_are_found_sooner_than_one_of_them_alone() -> None:
    """Six words that share the rise each pay for themselves and add up."""
    words = ["lantern", "harbour", "golden", "marrow", "cinder", "thistle"]
    start, rest = texts(100), texts(200, seed=2)
    together = trips(start + swapped(rest, words, 0.12))
    alone = trips(start + swapped(rest, words[:1], 0.02))
    assert 100 < together[0] < alone[0]


def test_a_topic_with_phrases_of_its_own_is_no_fixation() -> None:
    """A new word that keeps one of its neighbours is a name or a phrase, however often it comes."""
    seeded = random.Random(5)
    topic = []
    for said in texts(300, seed=2):
        at = seeded.randrange(len(said))
        topic.append([*said[:at], "harbour", "lantern", *said[at:]])
    assert trips(texts(100) + topic) == []


def test_a_new_line_of_the_form_is_no_fixation() -> None:
    """A template that gains a field has new words in every output, always in the same place."""
    edited = [["checked", "by", "keeper", *said, "status", "green"] for said in texts(300, seed=2)]
    assert trips(texts(100) + edited) == []


def test_a_word_of_the_start_stays_this_streams_own() -> None:
    """What was said often from the start may go on."""
    assert trips(swapped(texts(600), ["lantern"], 0.045)) == []


def test_a_collapse_within_the_start_is_still_found() -> None:
    """What began after the 16th output does not become normal when the start is complete."""
    assert trips(texts(20) + swapped(texts(80, seed=2), ["lantern"], 0.1))


def test_one_word_that_is_the_whole_output_trips_at_once() -> None:
    """The last stage needs no start and no test: three outputs of it, or one long one."""
    assert trips([["lantern"] * 12] * 3) == [2]
    assert trips([["lantern"] * 80]) == [0]
    assert trips([["lantern", "is", "lit"] * 20] * 3) == []


def test_a_word_of_three_letters_may_come_as_often_as_small_words_do() -> None:
    """A speaker's new particle is no fixation at one word in sixty; one in twelve of the words is."""
    outputs, rest = texts(100), texts(250, seed=2)
    assert trips(outputs + swapped(rest, ["pra"], 0.016)) == []
    assert trips(outputs + swapped(rest, ["pran"], 0.016))
    assert trips(outputs + swapped(rest, ["pra"], 0.08))


def test_an_output_without_the_word_passes() -> None:
    """A retry that leaves the word alone is not blamed for the outputs before it; the next lapse is."""
    guard = Fixation()
    for said in texts(100) + swapped(texts(100, seed=2), ["lantern"], 0.06):
        guard.update(Output(" ".join(said)))
    clean, lapse = texts(1, seed=8)[0], swapped(texts(1, seed=9), ["lantern"], 0.2)[0]
    assert "lantern" in lapse
    assert guard.update(Output(" ".join(clean))).level is Level.PASS
    assert guard.update(Output(" ".join(lapse))).level is Level.TRIP


def test_a_stream_that_recovers_is_forgiven() -> None:
    """Twenty outputs after a long fixation, one use of the word is no relapse."""
    collapse = texts(100) + swapped(texts(150, seed=2), ["lantern"], 0.06)
    after = [*texts(20, seed=4), ["lantern", *texts(1, seed=5)[0]]]
    assert trips(collapse)
    assert verdicts(collapse + after)[-1].level is Level.PASS


def test_a_language_without_spaces_is_read_by_pairs() -> None:
    """A word of two characters that turns up all over Chinese text is found."""
    seeded = random.Random(6)
    words = [chr(0x4E00 + seeded.randrange(1500)) + chr(0x4E00 + seeded.randrange(1500)) for _ in range(800)]
    rich = [[words[int(800 * seeded.random() ** 2)] for _ in range(25)] for _ in range(260)]
    found = trips(rich[:100] + swapped(rich[100:], ["灯塔"], 0.1), gap="")
    assert found
    assert 100 < found[0] < 220


def test_a_dense_script_with_spaces_is_read_by_words() -> None:
    """A Korean word of two syllables that turns up anywhere is found."""
    seeded = random.Random(6)
    words = [chr(0xAC00 + seeded.randrange(9000)) + chr(0xAC00 + seeded.randrange(9000)) for _ in range(800)]
    rich = [[words[int(800 * seeded.random() ** 2)] for _ in range(30)] for _ in range(240)]
    found = trips(rich[:100] + swapped(rich[100:], ["등대"], 0.05))
    assert found
    assert 100 < found[0] < 180


def test_memory_keeps_within_its_bound_on_a_stream_of_new_words() -> None:
    """However many words come by, the state is under 60 kB."""
    seeded = random.Random(2)
    guard = Fixation()
    for _ in range(400):
        guard.update(Output(" ".join("".join(seeded.choices("abcdefghij", k=7)) for _ in range(120))))
    assert len(json.dumps(guard.state())) < 60_000


@pytest.mark.parametrize(
    "row",
    [[1], [1, 0, 0.0, 0.0, "zz1", ""], [1, 0, 0.0, 0.0, "ab", ""], [1, 9, 0.0, 0.0, "", ""], "x"],
)
def test_a_torn_row_is_refused(row: object) -> None:
    """A row of the table that the guard would not have written raises at load."""
    state = Fixation().state()
    takeover = state["takeover"]
    assert isinstance(takeover, dict)
    takeover["words"] = [row]  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"."):
        Fixation().load(state)


def test_a_word_that_is_half_of_an_output_is_a_gate_and_one_that_rises_is_not() -> None:
    """A sentence of half one word is none in any stream; a rising share is statistics."""
    assert Fixation().update(Output("lantern " * 80)).gate
    assert not Fixation().update(Output("lantern " * 12)).gate  # the first of three: no warning yet
    trips = [v for v in verdicts(texts(100) + swapped(texts(150, seed=2), ["lantern"], 0.045)) if v.level is Level.TRIP]
    assert trips
    assert not any(v.gate for v in trips)
