"""What every guard of the registry promises of the words that stand in calls."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guards import GUARDS, Call, Output, Panel
from guards.panel import guard_class
from guards.promise import STREAMS
from tests.contracts.test_guards import FEW, OUTPUTS, RESULTS, TEXTS, Row, long_stream

NOTES = st.builds(
    lambda name, text, action: Call(name, {"text": text, "action": action}),
    st.sampled_from(("read", "write")),
    st.one_of(TEXTS, st.none(), st.integers()),
    st.sampled_from(("x", None)),
)
NOTING = st.lists(
    st.tuples(st.builds(replace, OUTPUTS, calls=st.lists(NOTES, max_size=3).map(tuple)), RESULTS), max_size=20
)


@pytest.mark.parametrize("kind", [guard_class(name) for name in GUARDS], ids=list(GUARDS))
def test_words_in_a_call_are_judged_as_words(kind: type[Any]) -> None:
    """Where a call's text is declared, a guard of words says of it what it says of a reply, and all else as before."""
    rows = [output for output, _ in long_stream(250)]
    noting = Panel([kind()], written={"say": ["text"]})
    alone = kind.judges_words and not kind.judges_deeds
    same = kind(**({"caution": STREAMS} if kind.tests else {}))
    for output in filter(lambda output: output.text.strip(), rows):
        spoken = Output(output.text, turn=output.turn, ts=output.ts)
        called = replace(spoken, text="", calls=(Call("say", {"text": output.text}),))
        (found,), said = noting.update(called), same.update(spoken if alone else called)
        assert (found.level, found.score, found.evidence) == (said.level, said.score, said.evidence)
        assert said.reason in found.reason
        assert said.hint in found.hint
        assert found == said or (alone and "what it writes with say" in found.reason)


@FEW
@given(before=NOTING, after=NOTING)
def test_a_panel_that_reads_calls_keeps_the_contract(before: list[Row], after: list[Row]) -> None:
    """Saved in mid-stream it goes on as it was, and no argument of a call raises."""
    declared = {"read": ["text"], "write.x": ["text", "text"], "write": ["text:whole"]}
    panel, twin = Panel.standard(written=declared), Panel.standard(written=declared)
    for output, results in before:
        panel.update(output)
        panel.observe(results)
    twin.load(json.loads(json.dumps(panel.state())))
    for output, results in after:
        assert twin.update(output) == panel.update(output)
        assert twin.observe(results) == panel.observe(results)
    assert twin.state() == panel.state()
