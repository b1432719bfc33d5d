"""Attractors of long unattended runs."""

from __future__ import annotations

import json
import random

import pytest

from guards import Level, Output
from guards.base import Json
from guards.spiral import Spiral

PLAIN = ["harbour", "tide", "crane", "ferry", "gull", "rope", "lamp", "pier", "fog", "bell", "north", "wind", "swell"]
WARM = {
    "en": ["thank", "grateful", "goodbye", "stillness", "eternal", "beautiful", "wisdom"],
    "de": ["danke", "dankbar", "lebewohl", "stille", "ewigkeit", "freude", "weisheit"],
    "es": ["gracias", "gratitud", "adiós", "silencio", "eterno", "alegría", "sabiduría"],
    "ru": ["спасибо", "благодарю", "прощай", "тишина", "вечность", "радость", "мудрость"],
}
ZH = ["感谢你陪我走到这里。", "在寂静中我们告别。", "一切已经圆满,喜悦无限。", "你的智慧照亮永恒。", "再见,愿你平静。"]


def plain(count: int, seed: int = 7) -> list[str]:
    """Outputs without a single warm word."""
    chance = random.Random(seed)
    return [" ".join(chance.choice(PLAIN) for _ in range(30)) for _ in range(count)]


def warm(language: str, count: int) -> list[str]:
    """Outputs of which a sixth of the words are warm."""
    chance = random.Random(language)
    return [
        " ".join(chance.choice(WARM[language]) if chance.random() < 1 / 6 else chance.choice(PLAIN) for _ in range(30))
        for _ in range(count)
    ]


def first_trip(guard: Spiral, texts: list[str]) -> int | None:
    """The row of the first trip."""
    return next((i for i, text in enumerate(texts) if guard.update(Output(text)).level is Level.TRIP), None)


@pytest.mark.parametrize("language", sorted(WARM))
def test_warmth_that_takes_over_trips_within_ten_outputs(language: str) -> None:
    """The attractor is found in several languages, soon after it begins and not before."""
    row = first_trip(Spiral(), plain(40) + warm(language, 12))
    assert row is not None
    assert 40 <= row < 50


def test_a_script_without_spaces_is_read_too() -> None:
    """Pairs of characters stand for words."""
    row = first_trip(Spiral(), [f"第{i}号码头今天有{i * 7}艘船进港,风向西北。" for i in range(30)] + ZH * 3)
    assert row is not None
    assert row < 42


def test_one_warm_output_is_no_spiral() -> None:
    """A list of thanks or a farewell now and then passes."""
    texts = plain(60)
    for i in range(10, 60, 7):
        texts[i] = "Thank you all, grateful, blessed, wonderful friends, goodbye and peace be with you in eternal joy."
    assert first_trip(Spiral(), texts) is None


def test_a_stream_that_spoke_so_from_its_start_goes_on() -> None:
    """A diary of thanks is what its person wanted."""
    chance = random.Random(3)
    diary = [
        f"Today I am grateful for {' and '.join(chance.sample(PLAIN, 12))}. Thank you, {chance.choice(PLAIN)}."
        for _ in range(120)
    ]
    assert first_trip(Spiral(), diary) is None


def test_work_that_is_reported_complete_is_no_spiral() -> None:
    """Repositories, builds and tasks that are complete, and where they end, are what engineers write every day."""
    chance = random.Random(2)
    told = ["repos", "complete", "completed", "completion", "published", "built", "milestone", "ending"]
    reports = [" ".join(chance.choice(told if chance.random() < 0.15 else PLAIN) for _ in range(90)) for _ in range(60)]
    assert first_trip(Spiral(), plain(40) + reports) is None


def test_one_word_alone_is_another_guards_work() -> None:
    """The same warm word in every output is a catchphrase or a topic."""
    assert first_trip(Spiral(), plain(20) + [f"{text} grateful" for text in plain(60, 8)]) is None


def test_the_same_thanks_in_short_answers_are_no_spiral() -> None:
    """A reviewer who answers "fixed, thanks" to each remark says one warm word; endless farewells say no other."""
    answers = [f"{verb}, thanks!" for verb in ("Fixed", "Done", "Merged", "Reworded") for _ in range(4)]
    assert first_trip(Spiral(), plain(20) + answers) is None
    for said in (["Goodbye!", "Farewell.", "Goodbye, goodbye."], ["Thank you."]):
        assert first_trip(Spiral(), plain(20) + said * 10) is not None
        assert first_trip(Spiral(), said * 10) is not None


def test_thanks_under_long_reports_are_no_spiral() -> None:
    """Several warm words at the end of each long output are a small part of it; the same alone are all of it."""
    thanks = "Thank you all, we are grateful for your patience, and goodbye until the wonderful next one."
    chance = random.Random(4)
    reports = [" ".join(chance.choice(PLAIN) for _ in range(300)) + f". {thanks}" for _ in range(60)]
    assert first_trip(Spiral(), plain(20) + reports) is None
    assert first_trip(Spiral(), plain(20) + [thanks] * 8) is not None


def test_forms_of_one_word_are_one_word() -> None:
    """Work on the completion of a shell's commands is one topic, not several warm words."""
    words = ["complete", "completion", "completed", "completions"]
    chance = random.Random(5)
    commits = [f"{chance.choice(PLAIN)} {chance.choice(words)} {chance.choice(PLAIN)}" for _ in range(40)]
    assert first_trip(Spiral(), plain(20) + commits) is None


def test_a_short_answer_that_waits_is_found_in_chinese() -> None:
    """An agent that only asks for its orders says few words of the list in each output, and trips all the same."""
    asks = ["您想先做哪一步?我等您吩咐。", "一切就绪,恭候您的指示。", "轮到您了,我随时听命。", "请告诉我,我在等待。"]
    row = first_trip(Spiral(), plain(30) + asks * 5)
    assert row is not None
    assert 30 < row < 50


def test_an_output_without_such_words_passes_in_the_midst_of_a_spiral() -> None:
    """A retry that does its work is let through."""
    guard = Spiral()
    assert first_trip(guard, plain(40) + warm("en", 12)) is not None
    assert guard.update(Output(plain(1)[0])).level is Level.PASS
    assert guard.update(Output(warm("en", 1)[0])).level is Level.TRIP


def test_the_trip_names_words_that_stand_in_the_text() -> None:
    """The evidence is exact, and the hint names it."""
    guard = Spiral()
    for text in plain(40):
        guard.update(Output(text))
    text = "GRATEFUL for this eternal peace, thank you, and farewell, beautiful friend."
    verdict = [guard.update(Output(text)) for _ in range(8)][-1]
    assert verdict.level is Level.TRIP
    assert all(span in text for span in verdict.evidence)
    assert len(verdict.evidence) == 5
    assert '"GRATEFUL"' in verdict.hint


@pytest.mark.parametrize("rows", ["x", [[1]], [7], [[2, 2, 2]] * 9, [[2, 2, "2"]]])
def test_torn_rows_are_refused(rows: Json) -> None:
    """The last outputs are lists of three counts and marks; anything else raises at load."""
    with pytest.raises(ValueError, match="recent"):
        Spiral().load({**Spiral().state(), "recent": rows})


def test_the_state_stays_small() -> None:
    """Less than 2 kB, however warm the stream is."""
    guard = Spiral()
    for text in warm("en", 500):
        guard.update(Output(text + " " + " ".join(WARM["de"] + WARM["es"] + WARM["ru"])))
    assert len(json.dumps(guard.state())) < 2_000


TALK = [
    "Then we rest.",
    "We rest here.",
    "Rest here, then.",
    "Here we rest.",
    "Then here.",
    "Rest.",
    "Here.",
    "We rest.",
]


def long_talk(words: int = 120) -> list[str]:
    """Six outputs of so many words, no two with many in common."""
    chance = random.Random(11)
    return [" ".join("".join(chance.choices("abdegiklmnorstu", k=6)) for _ in range(words)) + "." for _ in range(6)]


def test_a_talk_that_fades_to_a_few_words_trips_within_ten_outputs() -> None:
    """Where outputs were long, a handful of words said by turns is a talk that nobody ends."""
    row = first_trip(Spiral(), long_talk() + TALK)
    assert row is not None
    assert 6 < row < 16


def test_signs_without_a_word_fade_too() -> None:
    """Dots and symbols say nothing new, even where no two are the same."""
    row = first_trip(Spiral(), [*long_talk(), "…", "✦", "· ·", "◦", "* * *", "—", "…", "○"])
    assert row is not None


def test_the_evidence_of_a_faded_output_is_short() -> None:
    """What is pointed at is the beginning of a line, however many signs the output has."""
    guard = Spiral()
    verdicts = [guard.update(Output(text)) for text in [*long_talk(), *("·" * n for n in range(3000, 3008))]]
    assert verdicts[-1].level is Level.TRIP
    assert verdicts[-1].evidence == ("·" * 200,)


def test_short_outputs_that_say_new_things_do_not_fade() -> None:
    """One line about something else each time is no echo, however long the first ones were."""
    chance = random.Random(3)
    lines = [" ".join("".join(chance.choices("abdegiklmnorstu", k=6)) for _ in range(7)) for _ in range(60)]
    assert first_trip(Spiral(), long_talk() + lines) is None


def test_a_status_with_numbers_does_not_fade() -> None:
    """An agent that explains itself at first and then reports its numbers in one line is at work."""
    lines = [f"Load {n % 7}.{n % 10}, disk {40 + n % 9} percent, nothing else." for n in range(40)]
    assert first_trip(Spiral(), long_talk() + lines) is None


def test_one_short_answer_again_and_again_is_given_time() -> None:
    """It may be an acknowledgement that nobody declared: ten times in a row are too many, five are not."""
    row = first_trip(Spiral(), [*long_talk(), *["Nothing to report so far."] * 15])
    assert row is not None
    assert row == 6 + 10


def test_a_stream_that_was_short_from_the_start_cannot_fade() -> None:
    """What says little from the first output on goes on saying little."""
    assert first_trip(Spiral(), long_talk(30) + TALK * 4) is None


def test_a_faded_talk_passes_once_something_new_is_said() -> None:
    """A retry that tells of something else is let through, and the stream is soon forgiven."""
    guard = Spiral()
    first_trip(guard, long_talk() + TALK)
    assert (
        guard.update(Output("The northern crane lost its lamp; someone should carry it to the pier.")).level
        < Level.TRIP
    )
    for text in long_talk()[:3]:
        guard.update(Output(text))
    assert guard.update(Output("Rest.")).level is Level.PASS
