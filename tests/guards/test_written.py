"""What an agent writes through its tools is judged as what it says is, as a stream of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from guards import GUARDS, Call, Level, Output, Panel, Verdict
from guards.baselines import OWN
from guards.panel import guard_class
from guards.promise import STREAMS
from guards.writing import A_RUN, SUFFIX
from guards.written import arguments, words
from tests.guards.speech import talk

WRITTEN = {"vault.append": ("text",), "vault.write": ("text:whole",)}
COUNT, ONSET = 140, 60


def note(text: str, action: str = "append") -> Call:
    """A call that writes a note."""
    return Call("vault", {"action": action, "path": "journal", "text": text})


def noting(texts: Iterable[str], replies: Iterable[str], **more: Any) -> Iterator[Output]:
    """A run for each text: the note, then a reply."""
    for run, (text, reply) in enumerate(zip(texts, replies, strict=False)):
        yield Output("", (note(text),), turn=f"run-{run}", **more)
        yield Output(reply, turn=f"run-{run}", **more)


def trips(panel: Panel, outputs: Iterable[Output]) -> list[tuple[int, Verdict]]:
    """Return each trip with the number of its output."""
    return [(n, v) for n, output in enumerate(outputs) for v in panel.update(output) if v.level is Level.TRIP]


def fallen(change: Callable[[str, int], str]) -> list[str]:
    """Healthy talk that changes from its onset on."""
    return [change(text, n) if n >= ONSET else text for n, text in enumerate(talk("fallen", COUNT))]


THANKS = "So I am grateful, and thank you, and goodbye, dear friend, in the eternal stillness of this perfect presence."
COLLAPSES: dict[str, Callable[[str, int], str]] = {
    "loop": lambda text, n: "I will check the rope now. " * 20,
    "repeat": lambda text, n: "All the boats are in and there is nothing more to report tonight.",
    "template": lambda text, n: " ".join(
        f"Tonight the {text.split()[2]} of pier {w} met the keeper of {text.split()[5]}." for w in text.split()[:1]
    ),
    "opener": lambda text, n: f"Ah, what a night it is again! {text}",
    "sign_off": lambda text, n: f"{text} Sleep well, dear harbour of mine.",
    "catchphrase": lambda text, n: text.replace(" the ", " as the old keepers say the ", 1),
    "spiral": lambda text, n: THANKS,
    "markup": lambda text, n: rf"{text} It is \boxed{{{n}}} now.",
    "fixation": lambda text, n: " ".join(
        word for n, piece in enumerate(text.split()) for word in ((piece, "lantern") if n % 6 == 3 else (piece,))
    ),
    "vocabulary": lambda text, n: " ".join(sorted(text.split())),
}


@pytest.mark.parametrize("name", COLLAPSES)
def test_a_collapse_in_notes_trips_where_the_same_words_would_as_text(name: str) -> None:
    """Beside healthy replies: the same guard, at the same note, as in a panel that has half of the promise."""
    texts = fallen(COLLAPSES[name])
    as_text = [n for n, v in trips(Panel.standard(caution=STREAMS), map(Output, texts)) if v.guard == name]
    as_notes = [
        n // 2 for n, v in trips(Panel.standard(written=WRITTEN), noting(texts, talk("well", COUNT))) if v.guard == name
    ]

    assert as_text
    assert as_notes == as_text


def test_every_guard_of_words_is_tried_on_notes() -> None:
    """The collapses above are one of each guard that words alone tell something."""
    alone = [name for name in GUARDS if guard_class(name).judges_words and not guard_class(name).judges_deeds]

    assert sorted(COLLAPSES) == sorted(alone)


def test_half_of_the_promise_costs_few_outputs() -> None:
    """A catchphrase in notes is found at most two notes later than in text that has the whole promise."""
    texts = fallen(COLLAPSES["catchphrase"])
    as_text = [n for n, v in trips(Panel.standard(), map(Output, texts)) if v.guard == "catchphrase"]
    as_notes = trips(Panel.standard(written=WRITTEN), noting(texts, talk("well", COUNT)))

    assert as_notes[0][0] // 2 <= as_text[0] + 2


def test_a_note_that_says_what_the_reply_says_is_no_repetition() -> None:
    """Three hundred times the same in both, and each time something else: nothing trips."""
    texts = talk("both", 300)

    assert [] == trips(Panel.standard(written=WRITTEN), noting(texts, texts))


def test_a_form_with_changing_numbers_may_fill_the_journal() -> None:
    """A line for each heartbeat that was a form from the start trips nothing in 300 of them."""
    lines = [
        f"Load {n * 7919 % 97 / 100:.2f} on 2 cores, memory {30 + n * 31 % 40} % used, / {50 + n // 90} % full, "
        f"{n * 17 % 3} errors."
        for n in range(300)
    ]

    assert [] == trips(Panel.standard(written=WRITTEN), noting(lines, lines))


def test_without_a_declaration_nothing_changes() -> None:
    """No memory, no verdict and no option differs from a panel that was never told of notes."""
    outputs = [*noting(fallen(COLLAPSES["repeat"]), talk("well", COUNT))]
    plain, told = Panel.standard(), Panel.standard(written={"vault": []})

    assert [plain.update(output) for output in outputs] == [told.update(output) for output in outputs]
    assert plain.state() == told.state()
    assert [guard.options for guard in plain.guards] == [guard.options for guard in told.guards]


def test_both_streams_together_keep_the_promise() -> None:
    """Every test of both streams runs with twice the caution, also one that a person made more careful."""
    panel = Panel.standard({"spiral": {"caution": 5.0}}, caution=3.0, written=WRITTEN)
    cautions = {guard.name: guard.options.caution for guard in panel.guards if guard_class(guard.name).tests}

    assert STREAMS * 5.0 == cautions.pop("spiral")
    assert {STREAMS * 3.0} == set(cautions.values())


def test_the_verdict_says_where_the_words_stand() -> None:
    """Reason and hint name the tool; the evidence stands in the call's argument, and not in the reply."""
    texts = fallen(COLLAPSES["sign_off"])
    outputs = [*noting(texts, talk("well", COUNT))]
    number, trip = trips(Panel.standard(written=WRITTEN), outputs)[0]

    assert trip.reason.startswith("in what it writes with vault: ")
    assert trip.hint.startswith("In the text that you gave to vault: ")
    assert trip.evidence
    assert all(span in str(outputs[number].calls[0].args["text"]) for span in trip.evidence)


def test_the_graver_of_two_streams_counts() -> None:
    """A reply that trips beside a note that does not is told as a reply, and the other way round."""
    loop, fine = "I will check the rope now. " * 20, "The lamp is lit."
    said, written = (
        next(v for v in Panel.standard(written=WRITTEN).update(output) if v.guard == "loop")
        for output in (Output(loop, (note(fine),)), Output(fine, (note(loop),)))
    )

    assert (Level.TRIP, Level.TRIP) == (said.level, written.level)
    assert "writes" not in said.reason
    assert "writes with vault" in written.reason


def test_a_whole_page_is_judged_in_itself_only() -> None:
    """A page that is written again with one more line is no repetition, and a loop in it is one."""
    panel, lines = Panel.standard(written=WRITTEN), talk("page", 200, sentences=1)
    pages = ["\n".join(["# Harbour", "", *(f"- {line}" for line in lines[: n + 1])][-20:]) for n in range(200)]
    rewritten = [Output("Done as asked.", (note(page, "write"),), turn=f"run-{n}") for n, page in enumerate(pages)]
    found = [v for _, v in trips(panel, rewritten) if "writes" in v.reason]
    looped = trips(panel, [Output("", (note(pages[-1] + "\nThe rope is dry." * 30, "write"),), turn="last")])

    assert [] == found
    assert ["loop"] == [v.guard for _, v in looped]


@pytest.mark.parametrize("turn", ["import", None])
def test_a_dozen_notes_of_one_form_in_one_run_are_one_piece_of_work(turn: str | None) -> None:
    """A note for each of 20 people is no template; without the name of a run nobody can know that it was one."""
    panel, said = Panel.standard(written=WRITTEN), " ".join(talk("names", 40, sentences=1)).split()
    before = trips(panel, noting(talk("well", 80), talk("more", 80)))
    longer = [word for word in said if len(word) > 5]
    forms = [f"{a}: met at the {b}, and speaks of the {c}." for a, b, c in zip(*[iter(longer)] * 3, strict=False)][:20]
    found = trips(panel, [Output("", (note(form),), turn=turn) for form in forms])

    assert [] == before
    assert (turn is None) == ("template" in {v.guard for _, v in found})
    assert (turn is None) == any("writes" in v.reason for _, v in found)


def test_one_note_again_and_again_in_one_run_is_a_repetition() -> None:
    """Five equal notes trip within the run, and a loop in any later one does."""
    panel, same = Panel.standard(written=WRITTEN), "All the boats are in and there is nothing more to report tonight."
    found = trips(panel, [Output("", (note(same),), turn="one")] * A_RUN)
    looped = trips(panel, [Output("", (note("The rope is dry. " * 30),), turn="one")] * 3)

    assert ["repeat"] == [v.guard for _, v in found if "writes" in v.reason]
    assert 3 == [v.guard for _, v in looped].count("loop")


def test_an_acknowledgement_may_stand_in_every_note() -> None:
    """What is the same by design is the same by design in a note too."""
    quiet = "HEARTBEAT_OK and nothing at all to report from the harbour tonight"
    panel = Panel.standard(acknowledged=[quiet], written=WRITTEN)

    assert [] == trips(panel, noting([quiet] * 40, talk("well", 40)))


def test_a_change_of_model_begins_the_notes_anew() -> None:
    """Another model that signs all its notes from its first is judged by its own start, as for what it says."""
    signed = [f"{text} Yours, the night watch of the pier." for text in talk("other", 80)]
    panel = Panel.standard(written=WRITTEN)
    first = trips(panel, noting(talk("well", 80), talk("replies", 80), model="a"))
    other = trips(panel, noting(signed, talk("more", 80), model="b"))
    same = trips(Panel.standard(written=WRITTEN), noting(talk("well", 80) + signed, talk("replies", 160), model="a"))

    assert ([], []) == (first, other)
    assert "sign_off" in {v.guard for _, v in same}


def test_a_save_in_mid_stream_changes_nothing() -> None:
    """The memory of what is written survives a restart after every output."""
    straight, states = Panel.standard(written=WRITTEN), Panel.standard(written=WRITTEN).state()
    for output in noting(fallen(COLLAPSES["catchphrase"])[30:90], talk("well", 60), model="m"):
        panel = Panel.standard(written=WRITTEN)
        panel.load(json.loads(json.dumps(states)))
        assert panel.update(output) == straight.update(output)
        states = panel.state()


@pytest.mark.parametrize("damaged", ["repeat", "spiral", OWN])
def test_a_damaged_memory_of_notes_is_one_warning(damaged: str) -> None:
    """It starts fresh and says so once; what was said is still remembered."""
    panel = Panel.standard(written=WRITTEN)
    panel.load({**panel.state(), f"{damaged}{SUFFIX}": {"version": 99}})
    told = [v for v in panel.update(Output("The lamp is lit.")) if v.level > Level.PASS]

    assert [("loop" if damaged == OWN else damaged, Level.WARN)] == [(v.guard, v.level) for v in told]
    assert told[0].reason.startswith("of what is written: its memory could not be read")
    assert len(GUARDS) == len(panel.update(Output("Another thing.")))


def test_reset_forgets_the_notes() -> None:
    """After a reset a panel is as new."""
    panel = Panel.standard(written=WRITTEN)
    trips(panel, noting(talk("well", 30), talk("more", 30)))
    panel.reset()

    assert Panel.standard(written=WRITTEN).state() == panel.state()


def test_the_memory_stays_small() -> None:
    """One set for all models: with four of what is said it takes less than a megabyte on the disk."""
    panel = Panel.standard(written=WRITTEN)
    for n, output in enumerate(noting(talk("long", 600), talk("longer", 600))):
        panel.update(replace(output, model=f"model {n // 40 % 5}"))

    assert {f"{name}{SUFFIX}" for name in COLLAPSES} <= set(panel.state())
    assert 5 == sum(name.startswith("repeat") for name in panel.state())
    assert len(json.dumps(panel.state(), separators=(",", ":"))) < 1_000_000


def test_the_words_of_an_output_are_those_of_its_declared_arguments() -> None:
    """Texts only, of the named action or of any, with an empty line between; the rest is no speech."""
    calls = (note("One."), note("Two.", "write"), note("Three.", "read"), Call("say", {"text": 4, "to": "Ann"}))

    assert "One.\n\nTwo." == words(calls, WRITTEN)
    assert "One." == words(calls, WRITTEN, whole=False)
    assert "One.\n\nTwo.\n\nThree.\n\nAnn" == words(calls, {"vault": ("text",), "say": ("text", "to")})
    assert "" == words(calls, {"append": ("text",)})


JSON = some.recursive(
    some.none() | some.booleans() | some.floats() | some.text(some.characters(), max_size=9),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(
    args=some.dictionaries(some.sampled_from(["text", "action", "path", ""]), JSON, max_size=4),
    name=some.sampled_from(["vault", "", "\ud800"]),
)
def test_whatever_stands_in_a_call_is_read_without_complaint(args: dict[str, Any], name: str) -> None:
    """Any name, any arguments, any Unicode: words are a text, and only from declared arguments."""
    given = args.get("text")
    expected = given if name == "vault" and isinstance(given, str) and given.strip() else ""

    assert expected == words((Call(name, args),), {"vault": ("text",), "vault.append": ("text",)})


@pytest.mark.parametrize("bad", [3, None, {"text": True}, [""], ["a\nb"], ["x" * 200], [3]])
def test_what_names_no_argument_is_one_sentence(bad: object) -> None:
    """A bad declaration raises ValueError that says what was expected, and for which tool."""
    with pytest.raises(ValueError, match="expected the name of an argument"):
        arguments(bad)
    with pytest.raises(ValueError, match="'written', 'say': expected the name of an argument"):
        Panel.standard(written={"say": bad})
    with pytest.raises(ValueError, match="name tools"):
        Panel.standard(written={"": ["text"]})
