"""All guards together."""

from __future__ import annotations

import json

import pytest

from guards import GUARDS, Call, CallResult, Level, Output, Panel, Verdict, worst

LOOP = "I will check the rope now. " * 20


def test_one_verdict_of_each_guard() -> None:
    """A panel says as many verdicts as it has guards, in the registry's order, each time."""
    panel = Panel.standard()
    assert [v.guard for v in panel.update(Output("The lamp is lit."))] == list(GUARDS)
    assert [v.guard for v in panel.observe([])] == list(GUARDS)


def test_options_reach_their_guard() -> None:
    """Options are given by guard name."""
    panel = Panel.standard({"budget": {"steps": 1}})
    verdict = worst(panel.update(Output("", (Call("look"),), turn="a")))
    assert verdict is not None
    assert (verdict.guard, verdict.level, verdict.outcome) == ("budget", Level.TRIP, "over_budget")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"no_such_guard": {}}, "no guard 'no_such_guard'.*loop, repeat"),
        ({"repeat": {"in_a_row": 0}}, "guard 'repeat': option 'in_a_row' should be a whole number of at least 2"),
        ({"silence": {"warm": 3}}, "guard 'silence' has no option 'warm'; it knows warm_up, caution, empty"),
    ],
)
def test_bad_options_are_one_sentence(options: dict[str, dict[str, int]], says: str) -> None:
    """An unknown guard, an unknown option and a bad value each raise ValueError with what was expected."""
    with pytest.raises(ValueError, match=says):
        Panel.standard(options)


def test_worst_is_the_most_serious_then_the_highest() -> None:
    """A trip beats a warning with a higher score; nothing has no worst."""
    warn, low, high = Verdict("a", Level.WARN, 9.0), Verdict("b", Level.TRIP, 1.0), Verdict("c", Level.TRIP, 2.0)
    assert worst([warn, low, high]) is high
    assert worst([]) is None


def test_memory_survives_a_restart() -> None:
    """States saved after each output, through JSON, give the verdicts of a panel that never stopped."""
    straight, states = Panel.standard(), Panel.standard().state()
    for i in range(60):
        output = Output(
            LOOP if i % 9 == 0 else f"note {i // 6} of the harbour on this fine evening", (Call("a", {"i": i % 2}),)
        )
        panel = Panel.standard()
        panel.load(json.loads(json.dumps(states)))
        assert panel.update(output) == straight.update(output)
        assert panel.observe([CallResult(True, "x")]) == straight.observe([CallResult(True, "x")])
        states = panel.state()


def test_a_missing_entry_starts_fresh_in_silence() -> None:
    """A guard that is new in this version has no memory yet, and nobody needs to hear of it."""
    panel = Panel.standard()
    panel.load({"loop": {"version": 1}})
    assert all(v.level is Level.PASS for v in panel.update(Output("The lamp is lit.")))


@pytest.mark.parametrize("damage", [{"version": 99}, {}, {"version": 1, "run": "three"}, None, [1]])
def test_an_unreadable_entry_starts_fresh_and_says_so_once(damage: object) -> None:
    """A damaged memory becomes one warning at the next output; the other guards keep theirs."""
    panel = Panel.standard()
    for _ in range(4):
        panel.update(Output("All the boats are in and there is nothing more to report."))
    states = {**panel.state(), "silence": damage}
    fresh = Panel.standard()
    fresh.load(states)  # type: ignore[arg-type]
    first = fresh.update(Output("All the boats are in and there is nothing more to report."))
    assert [(v.guard, v.level) for v in first if v.level > Level.PASS] == [
        ("silence", Level.WARN),
        ("repeat", Level.TRIP),
    ]
    assert "could not be read" in first[0].reason
    assert len(fresh.update(Output("Something else."))) == len(GUARDS)


def test_the_watch_stops_a_loop_while_it_is_written() -> None:
    """The panel's eye trips on a loop long before it would end, and not on what is fine."""
    watch = Panel.standard().watch()
    assert all(watch.feed(c) is None for c in "The lamp is lit and the boats are in. ")
    text = LOOP * 100
    stopped = next(i for i in range(0, len(text), 10) if watch.feed(text[i : i + 10]) is not None)
    assert stopped < 400


def test_a_panel_without_eyes_watches_nothing() -> None:
    """A panel of guards that cannot watch never stops a stream."""
    assert Panel([]).watch().feed(LOOP * 10) is None


def test_caution_reaches_every_guard_that_has_it_and_an_option_of_its_own_wins() -> None:
    """More years for one false trip make the sequential guards slower; what is set for one guard stays."""
    both = Panel.standard({"spiral": {"caution": 5.0}}, caution=50.0)
    options = {guard.name: getattr(guard, "options", None) for guard in both.guards}
    set_to = {name: getattr(given, "caution", None) for name, given in options.items() if hasattr(given, "caution")}
    assert set_to.pop("spiral") == 5.0
    assert all(value == 50.0 for value in set_to.values())


def test_a_guard_can_be_left_out() -> None:
    """A person may switch one off; an unknown name is refused."""
    assert "repeat" not in [guard.name for guard in Panel.standard(without=["repeat"]).guards]
    with pytest.raises(ValueError, match="no guard 'nothing'"):
        Panel.standard(without=["nothing"])
