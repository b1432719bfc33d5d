"""Whose stream it is: a start for each model and prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import ClassVar, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guards import Guard, Json, Level, Output, Panel, Verdict
from guards.baselines import KEPT, MORE, OWN, SHADOWED, STALE
from tests.guards import speech

WORDS = ["harbour", "tide", "crane", "ferry", "gull", "rope", "lamp", "pier", "fog", "bell", "north", "wind", "swell"]
STUCK = "All the boats are in and there is nothing more to report tonight."


def talk(seed: int, count: int, model: str, prompt: str = "") -> list[Output]:
    """Healthy outputs of one model."""
    return [Output(text, model=model, prompt=prompt) for text in speech.talk(seed, count)]


def levels(panel: Panel, outputs: list[Output]) -> list[Level]:
    """The worst level of each output."""
    return [max(verdict.level for verdict in panel.update(output)) for output in outputs]


class Habit(Guard):
    """Trips on every text that is not the first one of its stream."""

    name: ClassVar[str] = "habit"
    kind: ClassVar[Literal["gate", "sequential"]] = "sequential"

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._first = ""

    def update(self, output: Output) -> Verdict:
        self._first = self._first or output.text
        trips = output.text != self._first
        return Verdict(self.name, Level.TRIP, 2.0, "another text", "Say the first.") if trips else Verdict(self.name)

    def state(self) -> dict[str, Json]:
        return {"first": self._first}

    def load(self, state: Mapping[str, Json]) -> None:
        self._first = str(state["first"])


def test_a_change_of_model_trips_nothing() -> None:
    """Another model that speaks otherwise starts fresh."""
    panel = Panel.standard()
    calm = levels(panel, talk(1, 80, "a"))
    assert set(calm) == {Level.PASS}
    assert Level.TRIP not in levels(panel, talk(2, 80, "b"))


@pytest.mark.parametrize(("model", "prompt"), [("b", "rules"), ("a", "other rules")])
def test_a_gross_collapse_is_found_right_after_a_change(model: str, prompt: str) -> None:
    """What every start forbids trips at once: a change launders nothing gross."""
    panel = Panel.standard()
    levels(panel, talk(1, 60, "a", "rules"))
    assert Level.TRIP in levels(panel, [Output(STUCK, model=model, prompt=prompt)] * 8)


def test_the_start_of_the_model_before_is_compared_in_shadow() -> None:
    """What would have tripped by the old start is a warning that says so, and never a trip."""
    panel = Panel([Habit()])
    assert panel.update(Output("one", model="old"))[0].level is Level.PASS
    shadow = panel.update(Output("two", model="new"))[0]
    assert (shadow.level, shadow.score) == (Level.WARN, 0.99)
    assert "'old'" in shadow.reason
    assert panel.update(Output("three", model="new"))[0].level is Level.TRIP
    assert panel.update(Output("one", model="old"))[0].level is Level.PASS


def test_an_output_without_a_model_belongs_to_the_one_before() -> None:
    """A transcript that names its model now and then is still one stream."""
    panel = Panel.standard()
    levels(panel, talk(1, 5, "a"))
    before = panel.state()[OWN]
    levels(panel, talk(2, 5, ""))
    assert panel.state()[OWN] == {**before, "outputs": 10, "used": [10]}


def test_a_route_of_two_models_finds_each_start_again() -> None:
    """A model that comes back goes on where it was."""
    panel = Panel.standard({"repeat": {"in_a_row": 4}})
    assert Level.TRIP not in levels(panel, [Output(STUCK, model="a")] * 3)
    assert Level.TRIP not in levels(panel, talk(1, 3, "b"))
    assert levels(panel, [Output(STUCK, model="a")])[0] is Level.TRIP


def test_many_models_in_turn_share_a_set_and_hide_nothing() -> None:
    """Memory has a bound however many models speak, and a collapse spread over ten of them trips still."""
    panel = Panel.standard()
    sizes = []
    for i in range(30):
        levels(panel, talk(i, 2, f"model {i}"))
        sizes.append(len(panel.state()))
    assert max(sizes) == sizes[KEPT + 1]
    said = levels(panel, [Output(STUCK, model=f"model {i % 10}") for i in range(60)])
    assert Level.TRIP in said


def test_a_model_that_is_long_gone_makes_room() -> None:
    """Whoever edits the instructions now and then gets a new start each time."""
    panel = Panel.standard()
    for i in range(KEPT + 2):
        levels(panel, talk(i, STALE + 1, "a", f"prompt {i}"))
        assert panel.state()[OWN]["key"] != MORE


def test_the_shadow_ends() -> None:
    """After a while the new model has a start of its own, and the old one is compared no more."""
    panel = Panel.standard()
    levels(panel, talk(1, 4, "a"))
    levels(panel, talk(2, 1, "b"))
    assert any(name.endswith("/shadow") for name in panel.state())
    levels(panel, talk(3, SHADOWED, "b"))
    assert not any(name.endswith("/shadow") for name in panel.state())


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from(["", "a", "b", "c", "d", "e"]), min_size=1, max_size=40))
def test_saving_and_loading_changes_nothing(models: list[str]) -> None:
    """Whoever speaks in whatever order, a panel that is saved and loaded after each output goes on the same."""
    straight, states = Panel.standard(), Panel.standard().state()
    for i, model in enumerate(models):
        output = Output(
            STUCK if i % 3 else f"The {WORDS[i % 13]} is gone, and so are we, said the old man.", model=model
        )
        panel = Panel.standard()
        panel.load(json.loads(json.dumps(states)))
        assert panel.update(output) == straight.update(output)
        states = panel.state()
        assert states == straight.state()


@pytest.mark.parametrize(
    "damage", [{}, {"version": 99}, {"version": 2, "key": 3}, {"version": 2, "key": "a" * 99, "others": []}, None]
)
def test_a_damaged_memory_of_models_starts_fresh_and_says_so(damage: object) -> None:
    """Nothing raises; the guards in force keep what they know."""
    panel = Panel.standard()
    levels(panel, talk(1, 4, "a"))
    levels(panel, talk(2, 4, "b"))
    fresh = Panel.standard()
    fresh.load({**panel.state(), OWN: damage})  # type: ignore[dict-item]
    first = fresh.update(Output("The lamp is lit."))
    assert "could not be read" in first[0].reason
    assert all(verdict.level is Level.PASS for verdict in fresh.update(Output("The fog is thick tonight.")))


def test_a_declared_acknowledgement_is_no_repetition() -> None:
    """An answer that is the same by design is not judged by its words; undeclared, it is."""
    for acknowledged, tripped in (([STUCK], set()), ([], {"repeat"})):
        panel = Panel.standard(acknowledged=acknowledged)
        said = [panel.update(Output(f"  {STUCK}\n", turn="a")) for _ in range(6)]
        assert {v.guard for verdicts in said for v in verdicts if v.level is Level.TRIP} == tripped
