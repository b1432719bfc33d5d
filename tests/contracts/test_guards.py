"""What every guard of the registry promises, whatever it detects."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from guards import GUARDS, Call, CallResult, Guard, Level, Output, Panel, Spend, Verdict
from guards.panel import guard_class

Row = tuple[Output, tuple[CallResult, ...]]

PHRASES = (
    "The lamp at the end of the pier is lit and nothing moves on the water tonight.",
    "All quiet.",
    "Error: the line is busy",
    "I will check the rope now. " * 12,
    "港口的灯亮着,今晚水面上什么动静也没有。" * 3,
    "!" * 30,
    " " * 900,
    "\x00\ud800 \udfff" * 40,
)
TEXTS = st.one_of(st.sampled_from(PHRASES), st.text(st.characters(), max_size=200))
ARGS = st.dictionaries(
    st.text(max_size=4), st.one_of(st.integers(), st.text(max_size=8), st.none(), st.lists(st.integers())), max_size=3
)
CALLS = st.builds(Call, st.sampled_from(("read", "poll", "write", "\ud800")), st.one_of(st.just({}), ARGS))
OUTPUTS = st.builds(
    Output,
    text=TEXTS,
    calls=st.lists(CALLS, max_size=3).map(tuple),
    turn=st.sampled_from((None, "a", "b")),
    ts=st.one_of(st.none(), st.floats()),
    spend=st.builds(Spend, st.integers(0, 10**6), st.floats(0, 1e3), st.floats(0, 1e4)),
    offered=st.sampled_from((None, frozenset(), frozenset({"read", "write"}))),
)
RESULTS = st.lists(st.builds(CallResult, st.booleans(), st.one_of(st.just("unknown tool x"), TEXTS)), max_size=3).map(
    tuple
)
STREAMS = st.lists(st.tuples(OUTPUTS, RESULTS), min_size=1, max_size=30)
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.fixture(params=sorted(GUARDS))
def kind(request: pytest.FixtureRequest) -> type[Any]:
    """Each guard class in turn."""
    return guard_class(request.param)


def verdicts(guard: Guard, rows: Sequence[Row]) -> list[tuple[Verdict, Verdict]]:
    return [(guard.update(output), guard.observe(results)) for output, results in rows]


def spiced(i: int, text: str) -> str:
    """The text with what markup, claims and fixation look for: LaTeX after a start without, the rest ever more."""
    late = i > 120
    if i > 60 and i % 20 == 3:
        text += r" It rises by \boxed{4} metres."
    if i % (3 if late else 9) == 2:
        text = f"I have saved note {i}. {text}"
    if late and i % 2:
        text = f"{text} {text[-40:-20]} lantern {text[-60:-45]}"
    return text


def long_stream(count: int) -> Iterator[Row]:
    """A stream with something for every guard in it, each output a little different.

    Three in ten outputs name no turn; from the 150th on, most of those that call tools have no words.
    """
    for i in range(count):
        text = (
            PHRASES[i % len(PHRASES)]
            if i % 7 == 0
            else f"Note {i}: the {i * 7919 % 1009} boats of pier {i % 13} lie still."
        )
        text = "" if i > 150 and i % 3 and i % 10 else spiced(i, text)
        call = Call(f"tool{i % 5}", {"n": i % 11, "text": "x" * (i % 50)})
        result = CallResult(i % 3 > 0, f"result {i % 17}")
        yield (
            Output(
                text,
                (call,) * (i % 3),
                turn=None if i % 10 > 6 else f"run-{i // 2}",
                ts=1e9 + 900 * i,
                spend=Spend(100, 0.01, 1.0),
                offered=frozenset({"tool1", "tool2"}) if i % 40 == 7 else None,
            ),
            (result,) * (i % 3),
        )


def test_registry_names_are_the_guards_own_names(kind: type[Any]) -> None:
    """A guard is registered under the name that its verdicts carry."""
    assert guard_class(kind.name) is kind
    assert {v.guard for v in verdicts(kind(), [(Output("a word"), ())])[0]} == {kind.name}


def test_page_has_an_example_that_holds(kind: type[Any]) -> None:
    """The docstring is the guard's page, with every part of one and a doctest that passes."""
    page = inspect.cleandoc(kind.__doc__ or "")
    for part in ("Statistic:", "Source:", "False alarms:", "Silent on purpose:", "Options", ">>> "):
        assert part in page
    module = importlib.import_module(kind.__module__)
    tests = [t for t in doctest.DocTestFinder().find(kind, module=module) if t.examples]
    assert tests
    assert all(doctest.DocTestRunner(verbose=False).run(t).failed == 0 for t in tests)


def test_every_option_is_on_the_page(kind: type[Any]) -> None:
    """No option is hidden from the page."""
    for name in kind.Options.__dataclass_fields__:
        assert f"`{name}`" in (kind.__doc__ or "")


@pytest.mark.parametrize("bad", [{"no_such_option": 1}, {"warm_up": "many"}, {"copies": 0.0}])
def test_bad_options_raise_one_clear_sentence(kind: type[Any], bad: dict[str, object]) -> None:
    """An unknown option or a bad value raises ValueError with one line that names the guard."""
    with pytest.raises(ValueError, match=f"guard '{kind.name}'") as caught:
        kind(**bad)
    assert "\n" not in str(caught.value)


def test_options_refuse_values_outside_their_bounds(kind: type[Any]) -> None:
    """Negative numbers, infinities, truth values and texts are no option of any guard."""
    for name in kind.Options.__dataclass_fields__:
        for value in (-1, float("inf"), float("nan"), True, "3", [3]):
            with pytest.raises(ValueError, match=name):
                kind(**{name: value})


@FEW
@given(rows=STREAMS)
def test_equal_streams_give_equal_verdicts(rows: list[Row]) -> None:
    """A guard is deterministic, and after reset it is as new; nothing in a stream raises."""
    for name in GUARDS:
        guard = guard_class(name)()
        first = verdicts(guard, rows)
        guard.reset()
        assert guard.state() == guard_class(name)().state()
        assert verdicts(guard, rows) == first


@FEW
@given(before=STREAMS, after=STREAMS)
def test_saving_and_loading_changes_no_later_verdict(before: list[Row], after: list[Row]) -> None:
    """State is JSON; a guard that loads it in mid-stream goes on exactly as the one that never stopped."""
    for name in GUARDS:
        guard, twin = guard_class(name)(), guard_class(name)()
        verdicts(guard, before)
        twin.load(json.loads(json.dumps(guard.state())))
        assert twin.state() == guard.state()
        assert verdicts(twin, after) == verdicts(guard, after)
        assert twin.state() == guard.state()


def test_saving_after_every_output_changes_nothing_on_a_long_stream(kind: type[Any]) -> None:
    """The same holds past the warm-up, where the sequential tests are armed."""
    rows = list(long_stream(250))
    straight, saved = kind(), kind()
    for output, results in rows:
        fresh = kind()
        fresh.load(json.loads(json.dumps(saved.state())))
        saved = fresh
        assert saved.update(output) == straight.update(output)
        between = kind()
        between.load(json.loads(json.dumps(saved.state())))
        saved = between
        assert saved.observe(results) == straight.observe(results)


def test_memory_does_not_grow_with_the_stream(kind: type[Any]) -> None:
    """The state after 10,000 outputs is no larger than after 500, and small."""
    guard = kind()
    sizes = {}
    for i, (output, results) in enumerate(long_stream(10_000), 1):
        guard.update(output)
        guard.observe(results)
        if i in (500, 10_000):
            sizes[i] = len(json.dumps(guard.state()))
    assert sizes[10_000] <= 1.1 * sizes[500] + 64
    assert sizes[10_000] < 128_000


@pytest.mark.parametrize(
    "text",
    [
        " " * 20_000_000,
        "a" * 10_000_000,
        "\x00" * 1_000_000,
        "\ud800" * 300_000,
        "a\n" * 500_000,
        "1 2 3 4 5 " * 100_000,
        "|" * 500_000,
    ],
    ids=["space", "word", "nul", "surrogate", "lines", "digits", "pipes"],
)
def test_no_text_is_too_long(text: str) -> None:
    """A huge text of any kind is judged by every guard, watched, and leaves a small state."""
    panel = Panel.standard()
    panel.update(Output(text))
    watch = panel.watch()
    for start in range(0, 40_000, 400):
        watch.feed(text[start : start + 400])
    watch.feed(text)
    assert len(json.dumps(panel.state())) < 400_000


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"version": 99},
        {"version": True},
        {"version": 1},
        {"version": 1, "said": "x", "steps": -1, "seen": [1.5], "words": [None]},
    ],
)
def test_a_damaged_state_is_refused(kind: type[Any], bad: dict[str, Any]) -> None:
    """What a guard did not write itself raises ValueError at load, never later; only a guard without memory shrugs."""
    if kind.name == "loop":
        kind().load(bad)
        return
    with pytest.raises(ValueError, match=r"."):
        kind().load(bad)


@FEW
@given(data=st.data())
def test_a_state_with_one_wrong_value_is_refused_or_harmless(data: st.DataObject) -> None:
    """Whatever stands in one place of a state: load refuses it, or the guard goes on without raising."""
    wrong = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-5, 2**70),
        st.floats(),
        st.text(max_size=3),
        st.lists(st.integers(-2, 9), max_size=4),
    )
    for name in GUARDS:
        guard = guard_class(name)()
        verdicts(guard, list(long_stream(60)))
        state: dict[str, Any] = guard.state()
        state[data.draw(st.sampled_from(sorted(state)))] = data.draw(wrong)
        fresh = guard_class(name)()
        try:
            fresh.load(state)
        except ValueError:
            continue
        verdicts(fresh, list(long_stream(20)))
        json.dumps(fresh.state())


def test_a_verdict_says_why_in_one_line(kind: type[Any]) -> None:
    """Warnings and trips carry a reason and a hint in one printable line each; scores are finite and not negative."""
    guard = kind(**({"steps": 2} if kind.name == "budget" else {}))
    said = [v for pair in verdicts(guard, list(long_stream(400))) for v in pair]
    said += [guard.update(Output(text, turn="t", calls=(Call("x"),) * 2)) for text in PHRASES * 8]
    assert all(0 <= v.score < float("inf") for v in said)
    for v in said:
        assert v.reason.isprintable()
        assert v.hint.isprintable()
        assert bool(v.reason) == bool(v.hint) == (v.level > Level.PASS)
